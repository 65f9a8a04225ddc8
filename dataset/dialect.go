package dataset

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// dialect says how a table is written.
type dialect struct {
	separator byte // blank: runs of blanks and tabs
	header    headerLine
	names     []string // those of commentLine
	rowNames  bool     // lines have one cell more than the header: the first names the row
}

// headerLine says which line names the columns.
type headerLine int

const (
	firstLine headerLine = iota
	noLine
	commentLine // the last comment before the first example
)

// sampleLines is how many lines of a sample are compared.
const sampleLines = 200

// separators in the order in which they are tried. A blank comes last: texts hold
// blanks, and so do cells after the other separators.
var separators = []byte{'\t', ';', ',', ' '}

// detect finds the dialect from the first bytes of a table; whole says that these
// are all. The separator is the first one that cuts every line into equally many
// cells, at least two; where none does, the one that cuts the first line most
// often, so that the reader finds the line that differs.
func detect(sample []byte, whole bool) dialect {
	best, records := dialect{}, [][]string(nil)
	for _, separator := range separators {
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
	if len(records) == 0 {
		best.separator = ','
		return best
	}
	if best.names = commentNames(sample, best.separator, records[0]); best.names != nil {
		best.header = commentLine
	} else if !best.rowNames && headless(records) {
		best.header = noLine
	}
	return best
}

// cutSample cuts the lines of a sample; complete is false where a line cannot be cut.
func cutSample(sample []byte, whole bool, separator byte) (records [][]string, complete bool) {
	if last := bytes.LastIndexByte(sample, '\n'); !whole && last >= 0 {
		sample = sample[:last+1]
	}
	r := newRecordReader(newLineReader(bytes.NewReader(sample), longestLine, Options{}), separator)
	for len(records) < sampleLines {
		rec, err := r.next()
		if err != nil {
			return records, err == io.EOF || !whole && errors.Is(err, errQuote)
		}
		records = append(records, slices.Clone(rec.cells))
	}
	return records, true
}

// regular reports whether all records have equally many cells, at least two;
// shifted says that the first has one less, as R writes tables with row names.
func regular(records [][]string, separator byte) (shifted, ok bool) {
	if len(records) == 0 {
		return false, false
	}
	width := len(records[len(records)-1])
	for i, rec := range records {
		if len(rec) == width {
			continue
		}
		// Where commas separate, that is a decimal comma rather.
		if i > 0 || len(rec) != width-1 || width < 3 || separator == ',' || slices.ContainsFunc(rec, isNumeric) {
			return false, false
		}
		shifted = true
	}
	return shifted, width >= 2
}

// headless reports whether the first record is an example: it holds numbers only,
// though not 0, 1, 2, ..., which are names; or else texts that stand above other
// texts, half of which occur in their columns again.
func headless(records [][]string) bool {
	first := records[0]
	numbers, texts, recurring := 0, 0, 0
	for j, cell := range first {
		if isNumeric(cell) || isMissing(cell) {
			numbers++
			continue
		}
		texts++
		again, all := false, true
		for _, rec := range records[1:] {
			if j < len(rec) && !isMissing(rec[j]) {
				again = again || rec[j] == cell
				all = all && isNumeric(rec[j])
			}
		}
		if all {
			return false // a name above numbers
		}
		if again {
			recurring++
		}
	}
	if texts == 0 {
		return numbers > 0 && !counting(first)
	}
	return 2*recurring >= texts && recurring > 0
}

// counting reports whether cells are 0, 1, 2, ... or 1, 2, 3, ..., at least four.
func counting(cells []string) bool {
	from := slices.Index([]string{"0", "1"}, cells[0])
	for j, cell := range cells {
		if cell != strconv.Itoa(from+j) {
			return false
		}
	}
	return from >= 0 && len(cells) >= 4
}

// commentNames returns the cells of the comment right before the first example if
// they can be its names, as NumPy writes them, else nil.
func commentNames(sample []byte, separator byte, first []string) []string {
	comment := ""
	for line := range strings.Lines(string(sample)) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			break
		}
		if line != "" {
			comment = strings.TrimLeft(line, "# ")
		}
	}
	names, _ := cutSample([]byte(comment), true, separator)
	if len(names) != 1 || len(names[0]) != len(first) || len(first) < 2 ||
		slices.ContainsFunc(names[0], isNumeric) || !slices.ContainsFunc(first, isNumeric) {
		return nil
	}
	return names[0]
}

// notes say what is unusual about a dialect.
func (d dialect) notes() (notes []string) {
	switch d.separator {
	case ';':
		notes = append(notes, "columns are separated by semicolons")
	case '\t':
		notes = append(notes, "columns are separated by tabs")
	case ' ':
		notes = append(notes, "columns are separated by blanks")
	}
	switch d.header {
	case noLine:
		notes = append(notes, "no header line: columns are called x1, x2, ..., the target y")
	case commentLine:
		notes = append(notes, "the comment before the first example names the columns")
	}
	return notes
}

// foreign lists how files begin that hold a table in another form, and what to do.
var foreign = []struct{ lead, cure string }{
	{"\x93NUMPY", "a NumPy array: its name must end in .npy"},
	{"PK\x03\x04", "an Excel workbook or another archive: save the sheet as CSV (a NumPy archive: its name " +
		"must end in .npz)"},
	{"\xd0\xcf\x11\xe0", "an Excel workbook: save the sheet as CSV"},
	{"PAR1\x15", "a Parquet file: its name must end in .parquet, and it is not compressed as a whole"},
	{"ARROW1\x00", "an Arrow file: save it as CSV"},
	{"\x89HDF", "an HDF5 file: save its arrays as .npz"},
	{"MATLAB 5.0", "a MATLAB file: writematrix saves it as CSV"},
	{"RDX3\n", "an R workspace: write.csv saves a table"},
	{"X\n\x00\x00\x00", "an R object: write.csv saves a table"},
	{"SQLite format", "a database: export the table as CSV"},
	{"\xfd7zXZ", "compressed with xz: decompress it first"},
	{"BZh", "compressed with bzip2: decompress it first, or use gzip or zstd"},
	{"%PDF", "a PDF document: save the table as CSV"},
	{"\xff\xfe", "text in UTF-16: save it as UTF-8 (in Excel: CSV UTF-8)"},
	{"\xfe\xff", "text in UTF-16: save it as UTF-8 (in Excel: CSV UTF-8)"},
	{"<!doctype", "a web page: save its table as CSV"},
	{"<html", "a web page: save its table as CSV"},
	{"<?xml", "XML: save the table as CSV"},
	{"{\"", "JSON: save the table as CSV"},
	{"[{", "JSON: save the table as CSV"},
	{"[[", "JSON: save the table as CSV"},
	{"@relation", "an ARFF file: delete the lines that start with @ and name it .csv"},
}

// refuseForeign refuses what is no text or no table. Case and empty lines before
// are no matter where text begins so.
func refuseForeign(sample []byte) error {
	start := strings.ToLower(string(bytes.TrimLeft(sample[:min(len(sample), 64)], " \r\n")))
	for _, f := range foreign {
		if bytes.HasPrefix(sample, []byte(f.lead)) || strings.HasPrefix(start, f.lead) {
			return errors.New(f.cure)
		}
	}
	if at := bytes.IndexByte(sample, 0); at >= 0 {
		line := 1 + bytes.Count(sample[:at], []byte{'\n'})
		return &Error{Line: line, Err: errors.New("control characters (NUL): a binary file, not a table")}
	}
	return nil
}

// isSparse reports whether the first line with more than one field is one of
// LIBSVM: a label or none, then index:value.
func isSparse(sample []byte) bool {
	for line := range bytes.Lines(sample) {
		line, _, _ = bytes.Cut(line, []byte{'#'})
		for k, field := range strings.Fields(string(line)) {
			index, value, ok := strings.Cut(field, ":")
			if !ok && k == 0 {
				continue
			}
			_, err := strconv.Atoi(index)
			_, bad := parseNumber(value)
			return ok && (err == nil && bad == nil || index == "qid")
		}
	}
	return false
}
