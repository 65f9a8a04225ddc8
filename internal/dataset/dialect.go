package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type dialect struct {
	separator byte // blank: runs of blanks and tabs
	headless  bool // the first line is an example
	rowNames  bool // lines have one cell more than the header: the first names the row
	commas    bool // numbers have decimal commas
}

// detect finds the dialect from the first bytes of a table; whole: these are all. The separator is the first
// of tab, semicolon, comma and blanks that splits every line into equally many cells, at least two (blanks
// come last: cells may contain them); if none does, the one that splits the first line into most cells, so
// that the reader finds the line that differs.
func detect(sample []byte, whole bool) dialect {
	best, records := dialect{separator: ','}, [][]string(nil)
	for _, separator := range []byte("\t;, ") {
		cut, complete := cutSample(sample, whole, separator)
		shifted, ok := regular(cut, separator)
		if ok && complete {
			best, records = dialect{separator: separator, rowNames: shifted}, cut
			break
		}
		if len(cut) > 0 && (records == nil || len(cut[0]) > len(records[0])) {
			best.separator, records = separator, cut
		}
	}
	best.headless = !best.rowNames && headless(records)
	best.commas = best.separator != ',' && decimalCommas(records)
	return best
}

// decimalCommas reports whether numbers are written with decimal commas, and none with a point.
func decimalCommas(records [][]string) (commas bool) {
	for _, cell := range slices.Concat(records...) {
		if _, err := strconv.ParseFloat(cell, 64); err == nil && strings.Contains(cell, ".") {
			return false
		}
		commas = commas || strings.Contains(cell, ",") && isNumeric(cell)
	}
	return commas
}

// cutSample splits the first lines of a sample into cells; complete is false if one cannot be split.
func cutSample(sample []byte, whole bool, separator byte) (cut [][]string, complete bool) {
	const most = 200
	if last := bytes.LastIndexByte(sample, '\n'); !whole && last >= 0 {
		sample = sample[:last+1]
	}
	r := newRecords(bytes.NewReader(sample), separator, Options{})
	for len(cut) < most {
		cells, _, err := r.next()
		if err != nil {
			return cut, err == io.EOF || !whole && errors.Is(err, errQuote)
		}
		cut = append(cut, cloneTexts(cells))
	}
	return cut, true
}

// regular reports whether all records have equally many cells, at least two; shifted: the first lacks one
// (R).
func regular(records [][]string, separator byte) (shifted, ok bool) {
	if len(records) == 0 {
		return false, false
	}
	width := len(records[len(records)-1])
	for i, rec := range records {
		if len(rec) == width {
			continue
		}
		// With commas as separators it is more likely a decimal comma.
		if i > 0 || len(rec) != width-1 || width < 3 || separator == ',' ||
			slices.ContainsFunc(rec, isNumeric) {
			return false, false
		}
		shifted = true
	}
	return shifted, width >= 2
}

// headless reports whether the first record is an example: it holds only numbers, but does not count,
// as names may; or its texts are above other texts and half of them recur in their columns.
func headless(records [][]string) bool {
	if len(records) == 0 {
		return false
	}
	texts, recurring := 0, 0
	for j, cell := range records[0] {
		if isNumeric(cell) || isMissing(cell) {
			continue
		}
		var below []string
		for _, rec := range records[1:] {
			if j < len(rec) && !isMissing(rec[j]) {
				below = append(below, rec[j])
			}
		}
		if !slices.ContainsFunc(below, func(text string) bool { return !isNumeric(text) }) {
			return false // a name above numbers
		}
		texts++
		if slices.Contains(below, cell) {
			recurring++
		}
	}
	if texts == 0 {
		return !counting(records[0], records[1:])
	}
	return 2*recurring >= texts
}

// counting reports whether cells are whole numbers with equal steps that name columns: at least four from 0
// or 1 on, as pandas writes them, or three that are unlike the numbers below, as years are: those have
// decimals, or do not reach them.
func counting(cells []string, below [][]string) bool {
	var names []int
	for _, cell := range cells {
		k, err := strconv.Atoi(cell)
		if err != nil {
			return false
		}
		names = append(names, k)
	}
	if len(names) < 3 || names[1] == names[0] ||
		!ascend(len(names), func(j int) float64 { return float64(names[j]) }, float64(names[1]-names[0])) {
		return false
	}
	if len(names) >= 4 && names[1]-names[0] == 1 && (names[0] == 0 || names[0] == 1) {
		return true
	}
	for j, name := range names {
		low, high, whole := math.Inf(1), math.Inf(-1), true
		for _, rec := range below {
			if j < len(rec) && isNumeric(rec[j]) {
				v, _ := strconv.ParseFloat(strings.Replace(rec[j], ",", ".", 1), 64)
				low, high, whole = min(low, v), max(high, v), whole && v == math.Trunc(v)
			}
		}
		if whole && low <= float64(name) && float64(name) <= high || low > high {
			return false
		}
	}
	return true
}

// foreign matches the start of text in a format that is not read.
var foreign = regexp.MustCompile(`^(?i)\s*(<!doctype|<html|<\?xml|{"|\[{|\[\[|@relation)`)

func refuseForeign(sample []byte) error {
	if at := bytes.IndexByte(sample, 0); at >= 0 {
		return place{unit: "line", number: 1 + bytes.Count(sample[:at], []byte{'\n'})}.error("", errors.New(
			"control characters (NUL): a binary file or text in UTF-16, not a table; save it as CSV in "+
				"UTF-8, or name it .npy, .npz or .parquet if it is one"))
	}
	if foreign.Match(sample) {
		return errors.New("a web page, XML, JSON or ARFF: save the table as CSV")
	}
	return nil
}

// sparseLine begins with a label or none, then has an index and a value, or LIBSVM's qid.
var sparseLine = regexp.MustCompile(`^\s*([^\s:]+\s+)?(qid:|\d+:[-+]?[\d.]+([eE][-+]?\d+)?(\s|$))`)

// isSparse reports whether the first line with more than a label is in LIBSVM's format.
func isSparse(sample []byte) bool {
	for line := range bytes.Lines(sample) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		if bytes.Contains(line, []byte{':'}) || len(bytes.Fields(line)) > 1 {
			return sparseLine.Match(line)
		}
	}
	return false
}

// openText detects the dialect of a text, with notes of what is unusual, or takes the dialect of the previous
// files, and reads the header.
func (t *table) openText(f *source) (*rows, error) {
	sample, err := f.text.Peek(sampleBytes)
	if err != nil && err != io.EOF && len(sample) == 0 {
		return nil, err
	}
	if err := refuseForeign(sample); err != nil {
		return nil, err
	}
	if t.dialect == nil {
		found := detect(sample, err == io.EOF)
		if t.opt.NoHeader {
			found.headless, found.rowNames = true, false
		}
		if t.dialect = &found; found.headless {
			t.note("no header line: columns are called x1, x2, ..., the target y")
		}
		if found.commas && t.train == nil {
			t.note("numbers have decimal commas")
		}
	}
	d, in := *t.dialect, newRecords(f.text, t.dialect.separator, t.opt)
	first, line, err := in.next()
	first = cloneTexts(first)
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	r := &rows{header: header{names: first, unit: "line", line: line, headless: d.headless}}
	if d.headless {
		r.names = numbered("x", len(first))
	}
	if _, err := strconv.Atoi(first[0]); err == nil && !d.headless && t.columns == nil {
		t.note("the first line (%s) names the columns: ReadOptions.NoHeader reads it as an example",
			listTexts(first))
	}
	if d.separator != ',' && len(first) > 1 && t.columns == nil && t.train == nil {
		names := map[byte]string{';': "semicolons", '\t': "tabs", ' ': "blanks"}
		t.note("columns are separated by %s", names[d.separator])
	}
	if d.rowNames {
		r.names = slices.Insert(slices.Clone(r.names), 0, "")
	}
	given := 0.0
	if f.size > 0 {
		r.left = func() float64 { return given * max(0, f.textBytes()/in.bytes-1) }
	}
	r.each = func(add func([]cell, int) error) error {
		texts, line, err := first, line, error(nil)
		if !d.headless {
			texts, line, err = in.next()
		}
		var cells []cell
		for ; err == nil; texts, line, err = in.next() {
			cells = cells[:0]
			given++
			for _, text := range texts {
				cells = append(cells, cell{text: text})
			}
			if err := add(cells, line); err != nil {
				return err
			}
		}
		if err != io.EOF {
			return err
		}
		if in.skipped > 0 {
			t.note("%d lines below the first that start with # are skipped", in.skipped)
		}
		return nil
	}
	return r, nil
}
