package dataset

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/need"
)

// shape writes a set as some program would.
type shape struct {
	separator, end string
	header, comma  bool // names in the first line; decimal commas
	index          bool // a first column counts the rows
	corner         bool // and has a name, an empty one
	quoted         bool // names and row numbers
	label          func(y float64) string
	before, after  string                       // of the file
	line           func(i int, s string) string // what becomes of a line of the file, the header being 0
}

func (f shape) write(s *Set) []byte {
	quote := func(s string) string {
		if f.quoted {
			return `"` + s + `"`
		}
		return s
	}
	var lines [][]string
	if f.header {
		var names []string
		if f.corner {
			names = append(names, quote(""))
		}
		for _, h := range append(slices.Clone(s.Features), s.Target) {
			names = append(names, quote(h))
		}
		lines = append(lines, names)
	}
	for i, y := range s.Y {
		var cells []string
		if f.index {
			cells = append(cells, quote(strconv.Itoa(i+1)))
		}
		for _, v := range append(slices.Clone(s.X.Row(i)), y) {
			cell := formatNumber(v)
			if f.comma {
				cell = strings.Replace(cell, ".", ",", 1)
			}
			cells = append(cells, cell)
		}
		if f.label != nil {
			cells[len(cells)-1] = f.label(y)
		}
		lines = append(lines, cells)
	}
	end := f.end
	if end == "" {
		end = "\n"
	}
	b := bytes.NewBufferString(f.before)
	for i, cells := range lines {
		line := strings.Join(cells, f.separator)
		if f.line != nil {
			line = f.line(i, line)
		}
		b.WriteString(line + end)
	}
	b.WriteString(f.after)
	return b.Bytes()
}

func gzipped(b []byte) []byte {
	var to bytes.Buffer
	w := gzip.NewWriter(&to)
	w.Write(b)
	w.Close()
	return to.Bytes()
}

func zstandard(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// npz writes an archive as numpy.savez_compressed does.
func npz(arrays map[string][]byte) []byte {
	var to bytes.Buffer
	w := zip.NewWriter(&to)
	for name, b := range arrays {
		f, _ := w.Create(name + ".npy")
		f.Write(b)
	}
	w.Close()
	return to.Bytes()
}

// spread takes n rows of a set from everywhere, so that no column is constant.
func spread(t *testing.T, name string, n int) *Set {
	t.Helper()
	s := need.One(Open(name))(t)
	rows := make([]int, n)
	for k := range rows {
		rows[k] = k * 37 % s.N()
	}
	return s.Subset(rows)
}

// TestShapesOfTables: the same numbers come out of each way in which programs write them, bit for bit.
func TestShapesOfTables(t *testing.T) {
	boston, pima := spread(t, "boston", 40), spread(t, "pima", 40)
	csv := shape{separator: ",", header: true}
	prefix := func(header, row string) func(int, string) string { // another first column
		return func(i int, s string) string { return []string{header, row}[min(i, 1)] + s }
	}
	three := func(i int, s string) string { // labels 1, 2 and 3
		if strings.HasSuffix(s, ",1") || i == 0 {
			return s
		}
		return strings.TrimSuffix(s, "-1") + []string{"2", "3"}[i%2]
	}
	yes := func(y float64) string { return map[float64]string{-1: "no", 1: "yes"}[y] }
	zero := func(y float64) string { return []string{"1", "0"}[int(y+1)/2] }
	separators := strings.Repeat(",", 13) + "\n"
	for name, c := range map[string]struct {
		file string
		shape
		opt  Options
		note string
	}{
		"plain":      {"d.csv", csv, Options{}, ""},
		"tabs":       {"d.tsv", shape{separator: "\t", header: true}, Options{}, "tabs"},
		"semicolons": {"d.csv", shape{separator: ";", header: true}, Options{}, "semicolons"},
		"semicolon, comma": {"d.csv", shape{separator: ";", header: true, comma: true}, Options{},
			"decimal commas"},
		"bare":   {"d.data", shape{separator: ";", comma: true}, Options{}, "no header"},
		"blanks": {"d.txt", shape{separator: " ", header: true}, Options{}, "blanks"},
		"aligned": {"housing.data", shape{separator: "   ",
			line: func(_ int, s string) string { return "  " + s + " " }}, Options{}, "no header"},
		"comma blank":      {"d.csv", shape{separator: ", ", header: true}, Options{}, ""},
		"no header":        {"d.data", shape{separator: ","}, Options{}, "no header"},
		"no header, texts": {"d.data", shape{separator: ",", label: yes}, Options{}, "no header"},
		"CRLF":             {"d.csv", shape{separator: ",", header: true, end: "\r\n"}, Options{}, ""},
		"byte order mark":  {"d.csv", shape{separator: ",", header: true, before: "\ufeff"}, Options{}, ""},
		"comments": {"d.csv", shape{separator: ",", header: true,
			before: "# source, date\n# made by hand\n\n", after: "# end\n"}, Options{}, "1 lines"},
		"pandas.to_csv": {"d.csv", shape{separator: ",", header: true, index: true, corner: true}, Options{},
			"names the rows"},
		"R write.csv2": {"d.csv", shape{separator: ";", header: true, index: true, corner: true, quoted: true,
			comma: true}, Options{}, "names the rows"},
		"R write.table": {"d.txt", shape{separator: " ", header: true, index: true, quoted: true}, Options{},
			"names the rows"},
		"gzip": {"d.csv.gz", csv, Options{}, ""},
		"zstd": {"d.tsv.zst", shape{separator: "\t", header: true}, Options{}, "tabs"},
		"trailing separators": {"d.csv", shape{separator: ",", header: true,
			line: func(_ int, s string) string { return s + "," }}, Options{}, ""},
		"rows of separators": {"d.csv", shape{separator: ",", header: true, after: separators + separators},
			Options{}, "2 empty rows"},
		"target by name": {"d.csv", shape{separator: ",", header: true, line: lastFirst}, Options{Target: "medv"},
			""},
		"drop": {"d.csv", shape{separator: ",", header: true, line: prefix("note,", "any thing;,")},
			Options{Drop: []string{"note"}}, ""},
		"constant text": {"d.csv", shape{separator: ",", header: true, line: prefix("unit,", "cm,")}, Options{},
			`"unit" is "cm" in every row`},
		"empty column": {"d.csv", shape{separator: ",", header: true, line: prefix("unit,", "NA,")}, Options{},
			"has no value"},
		"names of rows": {"d.csv", shape{separator: ",", header: true,
			line: func(i int, s string) string { return fmt.Sprintf("town %d,%s", i, s) }}, Options{},
			"names the rows"},
		"labels of text": {"d.csv", shape{separator: ",", header: true, label: yes}, Options{}, "yes is +1"},
		"one label of three": {"d.csv", shape{separator: ",", header: true, line: three, label: formatNumber},
			Options{Positive: "1"}, "1 is +1, not 1 is -1"},
		"labels 1 and 0": {"d.csv", shape{separator: ",", header: true, label: zero}, Options{Positive: "0"},
			"0 is +1"},
		"stdin": {"-", shape{separator: "\t", header: true}, Options{}, "tabs"},
	} {
		t.Run(name, func(t *testing.T) {
			want := boston
			if c.label != nil {
				want = pima
			}
			requireSame(t, c.file, c.write(want), c.opt, want, c.header, c.note)
		})
	}
	numbers := append([]byte("0,1,2,3\n"), shape{separator: ","}.write(thin(boston, 3))...)
	requireSame(t, "d.csv", numbers, Options{}, thin(boston, 3), false, "")
}

// TestShapesOfArrays: as do arrays and sparse lines.
func TestShapesOfArrays(t *testing.T) {
	boston, pima := spread(t, "boston", 40), spread(t, "pima", 40)
	var sparse, zero bytes.Buffer
	if err := writeLIBSVM(&sparse, boston); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(sparse.String()) {
		fields := strings.Fields(line)
		for k, f := range fields[1:] {
			index, value, _ := strings.Cut(f, ":")
			j, _ := strconv.Atoi(index)
			fields[k+1] = fmt.Sprintf("%d:%s", j-1, value)
		}
		zero.WriteString(strings.Join(fields, " ") + "\n")
	}
	columns := mat.DenseCopyOf(mat.NewDense(40, 13, boston.X.Data).T()).RawMatrix().Data
	var labels []byte
	for _, y := range pima.Y {
		labels = append(labels, byte((y+1)/2))
	}
	requireSame(t, "d.txt", sparse.Bytes(), Options{}, boston, false, "")
	requireSame(t, "-", sparse.Bytes(), Options{}, boston, false, "")
	requireSame(t, "d.svm", zero.Bytes(), Options{ZeroBased: true}, boston, false, "")
	requireSame(t, "d.npz", npz(map[string][]byte{
		"x": npyFile(1, "<f8", "True", "(40, 13)", bytesOf("<f8", columns...)),
		"y": npyFile(1, "<f8", "False", "(40, 1)", bytesOf("<f8", boston.Y...))}), Options{}, boston, false, "")
	requireSame(t, "d.npz", npz(map[string][]byte{
		"X": npyFile(1, "<f8", "False", "(40, 7)", bytesOf("<f8", pima.X.Data...)),
		"y": npyFile(1, "|b1", "False", "(40,)", labels)}), Options{Positive: "1"}, pima, false, "1 is +1")
}

// requireSame reads a file and compares the set, and the names of its columns, with another.
func requireSame(t *testing.T, file string, content []byte, opt Options, want *Set, names bool, note string) {
	t.Helper()
	switch {
	case file == "-":
		opt.Stdin = bytes.NewReader(content)
	case strings.HasSuffix(file, ".gz"):
		file = write(t, file, gzipped(content))
	case strings.HasSuffix(file, ".zst"):
		file = write(t, file, zstandard(content))
	default:
		file = write(t, file, content)
	}
	s := need.One(Load(file, opt))(t)
	if s.N() != want.N() || s.D() != want.D() || !sameBits(s.X.Data, want.X.Data) || !sameBits(s.Y, want.Y) ||
		s.Task != want.Task {
		t.Fatalf("read %d x %d, %v, %v", s.N(), s.D(), s.Task, s.Notes)
	}
	if names && (!slices.Equal(s.Features, want.Features) || s.Target != want.Target) {
		t.Errorf("columns %v, target %s", s.Features, s.Target)
	}
	if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, note) || note == "" && notes != "" {
		t.Errorf("notes %q, want %q", notes, note)
	}
	if strings.Contains(note, "names the rows") != (s.RowNames != nil) || s.RowNames != nil &&
		(len(s.RowNames) != s.N() || !strings.HasSuffix(s.RowNames[6], "7")) {
		t.Errorf("names of rows %v", s.RowNames)
	}
}

// lastFirst moves the last cell of a line to its front.
func lastFirst(_ int, line string) string {
	last := strings.LastIndex(line, ",")
	return line[last+1:] + "," + line[:last]
}

// thin keeps the first d features.
func thin(s *Set, d int) *Set {
	x := NewMatrix(s.N(), d)
	for i := range x.Rows {
		copy(x.Row(i), s.X.Row(i))
	}
	return &Set{Task: s.Task, Features: s.Features[:d], Target: s.Target, X: x, Y: s.Y}
}

// TestEncodedTables: texts and missing values become the features they should.
func TestEncodedTables(t *testing.T) {
	for name, c := range map[string]struct {
		text     string
		opt      Options
		features string
		x        []float64
		y        []float64
		note     string
	}{
		"two texts": {"sex,a,y\nm,1,2\nf,2,3\nm,3,4\n", Options{}, "sex=m a", []float64{1, 1, 0, 2, 1, 3},
			[]float64{2, 3, 4}, `0 is "f", 1 is "m"`},
		"three texts": {"a,sp,y\n1,v,2\n2,u,3\n3,w,4\n", Options{}, "a sp=u sp=v sp=w",
			[]float64{1, 0, 1, 0, 2, 1, 0, 0, 3, 0, 0, 1}, []float64{2, 3, 4}, "an indicator for each of 3"},
		"quoted texts": {"a,t,y\n1,\"x, \"\"y\"\"\nz\",2\n2,w,3\n", Options{}, `a t=x, \"y\"\nz`,
			[]float64{1, 1, 2, 0}, []float64{2, 3}, ""},
		"drop rows": {"a,b,y\n1,2,3\n,2,3\n4,NA,3\n7,8,9\n1,1,?\n", Options{Missing: MissingDrop}, "a b",
			[]float64{1, 2, 7, 8}, []float64{3, 9}, "3 of 5 rows"},
		"mean": {"a,b,y\n1,2,3\nnan,2,3\n4,null,3\n7,8,9\n1,1,?\n", Options{Missing: MissingMean}, "a b",
			[]float64{1, 2, 4, 2, 4, 4, 7, 8}, []float64{3, 3, 3, 9}, "mean of their column"},
		"indicator": {"a,b,y\n1,2,3\nN/A,2,3\n4,2.5,5\n", Options{Missing: MissingIndicator}, "a|a missing|b",
			[]float64{1, 0, 2, 2.5, 1, 2, 4, 0, 2.5}, []float64{3, 3, 5}, "mean"},
		"missing texts": {"s,y\nu,1\nv,2\n,3\nv,4\n", Options{Missing: MissingMean}, "s=v",
			[]float64{0, 1, 2. / 3, 1}, []float64{1, 2, 3, 4}, "mean"},
		"and flags": {"s,y\nu,1\nv,2\nw,3\n?,5\n", Options{Missing: MissingIndicator}, "s=u s=v s=w|s missing",
			[]float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1. / 3, 1. / 3, 1. / 3, 1}, []float64{1, 2, 3, 5}, "mean"},
		"quotes and blanks": {"\ufeff a , \"b\",y\n\n 1e0, 25E-1 ,+1\n-3,-0e3, \"-1.0\"", Options{}, "a b",
			[]float64{1, 2.5, -3, 0}, []float64{1, -1}, ""},
		"lines of tabs": {"a y\n1 2\n \t\n3\t 4\n\t\n", Options{}, "a", []float64{1, 3}, []float64{2, 4}, "blanks"},
		"Latin-1":       {"gr\xf6sse,y\n1,2\n3,4\n", Options{}, "grösse", []float64{1, 3}, []float64{2, 4}, ""},
		"counting": {"id,y\n" + numberedRows(12), Options{}, "id", countTo(12), countTo(12),
			"counts the rows: --drop id"},
	} {
		s, err := readTable(strings.NewReader(c.text), "f.csv", c.opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range c.x { // means are rounded in another order: 1 unit in the last place
			if i >= len(s.X.Data) || !(math.Abs(s.X.Data[i]-v) <= 2e-16*math.Abs(v)) {
				t.Errorf("%s: inputs %v, want %v", name, s.X.Data, c.x)
				break
			}
		}
		features := strings.Join(s.Features, "|")
		if strings.ReplaceAll(features, " ", "|") != strings.ReplaceAll(c.features, " ", "|") ||
			!slices.Equal(s.Y, c.y) {
			t.Errorf("%s: features %q, targets %v", name, features, s.Y)
		}
		if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", name, notes, c.note)
		}
	}
}

// TestOddNumbers: digits in groups and whole numbers that a float64 does not hold are noted, once a column.
func TestOddNumbers(t *testing.T) {
	s, err := readTable(strings.NewReader("a,b,c,y\n1_000,12345678901234567890,1e20,1\n2_000,3,4,2\n"), "f.csv",
		Options{})
	if err != nil || len(s.Notes) != 2 || !strings.Contains(s.Notes[0], `"1_000" is read as 1000`) ||
		!strings.Contains(s.Notes[1], `column "b"`) {
		t.Errorf("%v, notes %q", err, s.Notes)
	}
}

func numberedRows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", i+1, i+1)
	}
	return b.String()
}

func countTo(n int) (v []float64) {
	for i := range n {
		v = append(v, float64(i+1))
	}
	return v
}

// TestManyTexts: of many texts the most frequent are features, and one is for all others, also those that
// only new inputs have; a column of nearly as many texts as rows is none.
func TestManyTexts(t *testing.T) {
	text := "t,u,y\n"
	for i := range 60 {
		text += fmt.Sprintf("code %d,word %d,%d\n", min(i%30, 25-i%2), i/2*(i%3), i)
	}
	s, err := readTable(strings.NewReader(text), "f", Options{MaxLevels: 4})
	want := []string{"t=code 24", "t=code 25", "t=code 0", "t=(others)"}
	slices.Sort(want[:3])
	if err != nil || !slices.Equal(s.Features, want) || !strings.Contains(s.Notes[0], "26 different texts") {
		t.Fatalf("%v: %q, %q", err, s.Features, s.Notes)
	}
	in, err := readTableInputs(strings.NewReader("u,t\n1,code 25\n2,never\n"), "g", s.Encoding(), Options{})
	if err != nil || !slices.Equal(in.X.Data, []float64{0, 0, 1, 0, 0, 0, 0, 1}) {
		t.Errorf("%v: %v", err, in)
	}
}

// TestDates: dates become numbers, as they are written, and new ones must be written alike; without a
// value they have those of the mean date.
func TestDates(t *testing.T) {
	for layout, dates := range map[string][3]string{
		"year-month-day":   {"2023-12-31", "2024-02-29", "2024-1-7"},
		"day.month.year":   {"31.12.2023", "29.02.2024", "7.1.2024"},
		"month/day/year":   {"12/31/2023", "2/29/2024", "1/7/2024"},
		"day month year":   {"31 Dec 2023", "29 Feb 2024", "7 Jan 2024"},
		"day/month/year":   {"31/12/2023", "29/2/2024", "07/01/2024"},
		"month/day/year, ": {"1/2/2023", "2/3/2024", "3/4/2024"},
	} {
		text := "when,a,y\n" + dates[0] + ",1,2\n" + dates[1] + ",2,3\n" + dates[2] + ",3,5\n"
		s, err := readTable(strings.NewReader(text), "f", Options{})
		if err != nil || len(s.Features) != 5 || !strings.Contains(s.Notes[0], "read as "+layout) {
			t.Errorf("%s: %v %+v", layout, err, s)
			continue
		}
		if strings.HasSuffix(layout, " ") { // ambiguous
			continue
		}
		want := []float64{2023, 12, 7, 19722, 1, 2024, 2, 4, 19782, 2, 2024, 1, 7, 19729, 3}
		if !slices.Equal(s.X.Data, want) {
			t.Errorf("%s: %v, want %v", layout, s.X.Data, want)
		}
		in, err := readTableInputs(strings.NewReader("a,when\n1,"+dates[1]+"\n2,NA\n"), "g", s.Encoding(),
			Options{Missing: MissingMean})
		if err != nil || !slices.Equal(in.X.Row(0), []float64{2024, 2, 4, 19782, 1}) || in.X.At(1, 1) != 5 {
			t.Errorf("%s: new inputs: %v %v", layout, err, in)
		}
		_, err = readTableInputs(strings.NewReader("a,when\n1,soon\n"), "g", s.Encoding(), Options{})
		wantError(t, err, `"soon" is no date`)
	}
}

// TestRowNumbers: a column named as identifiers are that counts the rows is no feature; one of time is.
func TestRowNumbers(t *testing.T) {
	for name, features := range map[string]int{"id": 1, "PassengerId": 1, "row": 1, "week": 2} {
		text := name + ",a,y\n"
		for i := range 12 {
			text += fmt.Sprintf("%d,%d,%d\n", i+100, i*i, i%5)
		}
		s, err := readTable(strings.NewReader(text), "f", Options{})
		if err != nil || s.D() != features || !strings.Contains(strings.Join(s.Notes, ""), "counts the rows") {
			t.Errorf("%s: %v %+v", name, err, s)
		}
	}
}

// endless gives the same bytes again and again and counts them.
type endless struct {
	piece string
	given int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], e.piece[e.given%len(e.piece):])
		n, e.given = n+k, e.given+k
	}
	return n, nil
}

// TestEndlessFiles: a file without end is refused after a bounded part of it, by
// the bounds on lines, cells, columns and memory.
func TestEndlessFiles(t *testing.T) {
	for name, c := range map[string]struct {
		start, piece string
		most         int
		says         string
	}{
		"zeros":           {"", "\x00", 1 << 20, "NUL"},
		"one line":        {"", "x", 4 << 20, "a line of more than 1 MiB"},
		"one long cell":   {"a,y\n1,", "2", 4 << 20, "a line of more than 1 MiB"},
		"open quote":      {"a,y\n1,\"", "2\n", 4 << 20, "a line of more than 1 MiB"},
		"columns":         {"", "a,", 4 << 20, "a line of more than 1 MiB"},
		"rows":            {"a,b,y\n", "1,2,3\n", 8 << 20, "rows of 2 columns"},
		"names of rows":   {",a,y\n", "name,2,3\n", 8 << 20, "rows of 1 columns and their texts"},
		"different texts": {"t,a,y\n", "u,2,3\n", 8 << 20, "rows of 2 columns"},
	} {
		t.Run(name, func(t *testing.T) {
			tail := &endless{piece: c.piece}
			opt := Options{MaxBytes: 1 << 20}
			_, err := readTable(io.MultiReader(strings.NewReader(c.start), tail), "f", opt)
			wantError(t, err, c.says)
			if tail.given > c.most {
				t.Errorf("read %d bytes", tail.given)
			}
		})
	}
}

// TestInputsOfTables: new inputs go the way of the training set.
func TestInputsOfTables(t *testing.T) {
	train := need.One(readTable(strings.NewReader("id;color;a;y\nr1;red;1;yes\nr2;green;2;no\nr3;blue;3;yes\n"),
		"train.csv", Options{Drop: []string{"id"}}))(t)
	if !slices.Equal(train.Y, []float64{1, -1, 1}) || train.Labels.Positive != "yes" {
		t.Fatalf("trained on %+v", train)
	}
	bare := need.One(readTable(strings.NewReader("1,2,7\n3,4,8\n"), "bare.csv", Options{}))(t)
	gaps := need.One(readTable(strings.NewReader("a,b,y\n1,2,1\n,4,2\n3,8,3\n"), "gaps.csv",
		Options{Missing: MissingIndicator}))(t)
	for name, c := range map[string]struct {
		train   *Set
		text    string
		opt     Options
		x, y    []float64
		note    string
		rowName string // the first
	}{
		"by name": {train, "a,color\n5,green\n", Options{}, []float64{0, 1, 0, 5}, nil, "", ""},
		"more columns": {train, "when,a,color,y\nnow,5,green,no\n", Options{}, []float64{0, 1, 0, 5},
			[]float64{-1}, `"when"`, ""},
		"names of rows": {train, ",a,color,y\nBerlin,5,blue,yes\n", Options{}, []float64{1, 0, 0, 5}, []float64{1},
			"", "Berlin"},
		"unseen as zero": {train, "a,color\n5,pink\n", Options{UnseenZero: true}, []float64{0, 0, 0, 5}, nil,
			"1 cells hold texts that train.csv lacks", ""},
		"targets absent": {train, "a,color,y\n5,red,\n", Options{}, []float64{0, 0, 1, 5}, nil, "", ""},
		"bare, all":      {bare, "5,6,9\n", Options{}, []float64{5, 6}, []float64{9}, "", ""},
		"bare, inputs":   {bare, "5,6\n7,8\n", Options{}, []float64{5, 6, 7, 8}, nil, "", ""},
		"mean of train": {gaps, "a,b\n,\n7,?\n,5\n", Options{Missing: MissingMean}, []float64{7, 0, 14. / 3, 2, 1,
			5}, nil, "mean", ""},
		"rows dropped": {gaps, "a,b\n7,?\n1,5\n", Options{Missing: MissingDrop}, []float64{1, 0, 5}, nil,
			"1 of 2 rows", "2"},
	} {
		in, err := readTableInputs(strings.NewReader(c.text), "new.csv", c.train.Encoding(), c.opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(in.X.Data, c.x) || !slices.Equal(in.Y, c.y) ||
			!strings.Contains(strings.Join(in.Notes, ";"), c.note) {
			t.Errorf("%s: read %+v", name, in)
		}
		if c.rowName != "" && (len(in.RowNames) == 0 || in.RowNames[0] != c.rowName) {
			t.Errorf("%s: names %v", name, in.RowNames)
		}
	}
	for name, c := range map[string]struct {
		train *Set
		text  string
		opt   Options
		says  []string
	}{
		"unseen": {train, "a,color\n5,pink\n", Options{}, []string{"line 2", `column "color"`, `"pink"`,
			"--unseen zero"}},
		"unseen label": {train, "a,color,y\n5,red,maybe\n", Options{UnseenZero: true},
			[]string{"line 2", `column "y"`, `"maybe"`}},
		"text for target": {bare, "1,2,x\n", Options{NoHeader: true}, []string{"line 1", `"x" is not a number`}},
		"lacks a column":  {train, "color,y\nred,yes\n", Options{}, []string{`"a"`, "missing"}},
		"text for number": {train, "a,color\nfive,red\n", Options{}, []string{"line 2", `"five" is not a number`}},
		"no names":        {train, "5,red\n6,red\n", Options{NoHeader: true}, nil},
		"bare, wide":      {bare, "1,2,3,5\n", Options{}, []string{"4 columns", "2 features"}},
		"missing":         {train, "a,color\n,red\n", Options{}, []string{"line 2", `column "a"`, "missing"}},
	} {
		_, err := readTableInputs(strings.NewReader(c.text), "new.csv", c.train.Encoding(), c.opt)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.says...) })
	}
}
