package dataset

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

// shape is a set in the format of some program, and what is read from it. The zero shape is plain CSV.
type shape struct {
	file, separator, end string
	bare, comma          bool // no names in the first line; decimal commas
	index, corner        bool // a first column counts the rows; it has a name, an empty one
	quoted               bool // names and row numbers
	label                func(y float64) string
	before, after        string // of the file
	// what becomes of a line of the file, the header being 0
	line func(i int, s string) string

	opt  Options
	note string
}

func (f shape) write(s *Set) []byte {
	quote := func(s string) string {
		if f.quoted {
			return `"` + s + `"`
		}
		return s
	}
	var lines [][]string
	if !f.bare {
		var names []string
		if f.corner {
			names = append(names, quote(""))
		}
		for _, h := range append(slices.Clone(s.Features), s.TargetNames()) {
			names = append(names, quote(h))
		}
		lines = append(lines, names)
	}
	for i, y := range s.Targets(0) {
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
	b := bytes.NewBufferString(f.before)
	for i, cells := range lines {
		line := strings.Join(cells, cmp.Or(f.separator, ","))
		if f.line != nil {
			line = f.line(i, line)
		}
		b.WriteString(line + cmp.Or(f.end, "\n"))
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

// spread takes n evenly spaced rows of a set, so that no column is constant.
func spread(t *testing.T, name string, n int) *Set {
	t.Helper()
	s := testutil.Must(Open(name))(t)
	rows := make([]int, n)
	for k := range rows {
		rows[k] = k * 37 % s.N()
	}
	return s.Subset(rows)
}

// TestShapesOfTables: every format of a table gives the same numbers, bit for bit.
func TestShapesOfTables(t *testing.T) {
	boston, pima := spread(t, "boston", 40), spread(t, "pima", 40)
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
	for name, c := range map[string]shape{
		"plain":            {},
		"tabs":             {file: "d.tsv", separator: "\t", note: "tabs"},
		"semicolons":       {separator: ";", note: "semicolons"},
		"semicolon, comma": {separator: ";", comma: true, note: "decimal commas"},
		"bare":             {file: "d.data", separator: ";", comma: true, bare: true, note: "no header"},
		"blanks":           {file: "d.txt", separator: " ", note: "blanks"},
		"aligned": {file: "housing.data", separator: "   ", bare: true, note: "no header",
			line: func(_ int, s string) string { return "  " + s + " " }},
		"comma blank":      {separator: ", "},
		"no header":        {file: "d.data", bare: true, note: "no header"},
		"no header, texts": {file: "d.data", bare: true, label: yes, note: "no header"},
		"CRLF":             {end: "\r\n"},
		"byte order mark":  {before: "\ufeff"},
		"comments":         {before: "# source, date\n# made by hand\n\n", after: "# end\n", note: "1 lines"},
		"pandas.to_csv":    {index: true, corner: true, note: "names the rows"},
		"R write.csv2": {separator: ";", index: true, corner: true, quoted: true, comma: true,
			note: "names the rows"},
		"R write.table": {file: "d.txt", separator: " ", index: true, quoted: true, note: "names the rows"},
		"gzip":          {file: "d.csv.gz"},
		"zstd":          {file: "d.tsv.zst", separator: "\t", note: "tabs"},
		"stdin":         {file: "-", separator: "\t", note: "tabs"},

		"trailing separators": {line: func(_ int, s string) string { return s + "," }},
		"rows of separators":  {after: separators + separators, note: "2 empty rows"},
		"target by name":      {line: lastFirst, opt: Options{Target: "medv"}},
		"drop":                {line: prefix("note,", "any thing;,"), opt: Options{Drop: []string{"note"}}},
		"constant text":       {line: prefix("unit,", "cm,"), note: `"unit" is "cm" in every row`},
		"empty column":        {line: prefix("unit,", "NA,"), note: "has no value"},
		"names of rows": {line: func(i int, s string) string { return fmt.Sprintf("town %d,%s", i, s) },
			note: "names the rows"},
		"labels of text": {label: yes, note: "yes is +1"},
		"one label of three": {line: three, label: formatNumber, opt: Options{Positive: "1"},
			note: "1 is +1, not 1 is -1"},
		"labels 1 and 0": {label: zero, opt: Options{Positive: "0"}, note: "0 is +1"},
	} {
		t.Run(name, func(t *testing.T) {
			want := boston
			if c.label != nil {
				want = pima
			}
			requireSame(t, cmp.Or(c.file, "d.csv"), c.write(want), c.opt, want, !c.bare, c.note)
		})
	}
	numbers := append([]byte("0,1,2,3\n"), shape{bare: true}.write(thin(boston, 3))...)
	requireSame(t, "d.csv", numbers, Options{}, thin(boston, 3), false, "names the columns")
}

// TestShapesOfArrays: so do arrays and sparse lines.
func TestShapesOfArrays(t *testing.T) {
	boston, pima := spread(t, "boston", 40), spread(t, "pima", 40)
	var sparse bytes.Buffer
	if err := writeLIBSVM(&sparse, boston); err != nil {
		t.Fatal(err)
	}
	zero := regexp.MustCompile(`\d+:`).ReplaceAllFunc(sparse.Bytes(), func(index []byte) []byte {
		j, _ := strconv.Atoi(strings.TrimSuffix(string(index), ":"))
		return fmt.Appendf(nil, "%d:", j-1)
	})
	columns := mat.DenseCopyOf(mat.NewDense(40, 13, boston.X.Data).T()).RawMatrix().Data
	var labels []byte
	for _, y := range pima.Targets(0) {
		labels = append(labels, byte((y+1)/2))
	}
	requireSame(t, "d.txt", sparse.Bytes(), Options{}, boston, false, "")
	requireSame(t, "-", sparse.Bytes(), Options{}, boston, false, "")
	requireSame(t, "d.svm", zero, Options{}, boston, false, "")
	requireSame(t, "d.npz", npz(map[string][]byte{
		"x": npyFile(1, "<f8", "True", "(40, 13)", bytesOf("<f8", columns...)),
		"y": npyFile(1, "<f8", "False", "(40, 1)", bytesOf("<f8", boston.Targets(0)...))}), Options{}, boston,
		false, "")
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
	s := testutil.Must(Load(file, opt))(t)
	if s.N() != want.N() || s.D() != want.D() || !sameBits(s.X.Data, want.X.Data) || !sameBits(s.Targets(0),
		want.Targets(0)) || s.AreNumbers() != want.AreNumbers() {
		t.Fatalf("read %d x %d, %v, %v", s.N(), s.D(), s.Task(), s.Notes)
	}
	if names && (!slices.Equal(s.Features, want.Features) || s.TargetNames() != want.TargetNames()) {
		t.Errorf("columns %v, target %s", s.Features, s.TargetNames())
	}
	if notes := told(s); !strings.Contains(notes, note) || note == "" && notes != "" {
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
	x := linalg.NewMatrix(s.N(), d)
	for i := range x.Rows {
		copy(x.Row(i), s.X.Row(i))
	}
	return &Set{Features: s.Features[:d], X: x, Columns: s.Columns}
}

// encoded are tables (as Go writes strings), options, features between slashes, inputs, targets and a note.
const encoded = `
sex,a,y\nm,1,2\nf,2,3\nm,3,4\n |  | sex=m/a | 1 1 0 2 1 3 | 2 3 4 | 0 is "f", 1 is "m"
k,a,y\n\"\xfc,\",1,2\nf,2,3\n\"\xfc,\",3,4\n |  | k=ü,/a | 1 1 0 2 1 3 | 2 3 4 | 1 is "ü,"
a,sp,y\n1,v,2\n2,u,3\n3,w,4\n |  | a/sp=u/sp=v/sp=w | 1 0 1 0 2 1 0 0 3 0 0 1 | 2 3 4 | an indicator for each
a,t,y\n1,\"x, \"\"y\"\"\nz\",2\n2,w,3\n |  | a/t=x, \"y\"\nz | 1 1 2 0 | 2 3
a,b,y\n1,2,3\n,2,3\n4,NA,3\n7,8,9\n1,1,?\n | missing=drop | a/b | 1 2 7 8 | 3 9 | 3 of 5 rows
a,b,y\n1,2,3\nnan,2,3\n4,null,3\n7,8,9\n1,1,?\n | missing=mean | a/b | 1 2 4 2 4 4 7 8 | 3 3 3 9 | mean
a,b,y\n1,2,3\nN/A,2,3\n4,2.5,5\n | missing=indicator | a/a missing/b | 1 0 2 2.5 1 2 4 0 2.5 | 3 3 5 | mean
s,y\nu,1\nv,2\n,3\nv,4\n | missing=mean | s=v | 0 1 2/3 1 | 1 2 3 4 | mean
s,y\nu,1\nv,2\n?,5\n | missing=indicator | s=v/s missing | 0 0 1 0 0.5 1 | 1 2 5 | mean
s,y\nu,1\nv,2\nw,3\n?,5\n | missing=mean | s=u/s=v/s=w | 1 0 0 0 1 0 0 0 1 1/3 1/3 1/3 | 1 2 3 5 | mean
\ufeff a , \"b\",y\n\n 1e0, 25E-1 ,+1\n-3,-0e3, \"-1.0\" |  | a/b | 1 2.5 -3 0 | 1 -1
a y\n1 2\n \t\n3\t 4\n\t\n |  | a | 1 3 | 2 4 | blanks
\"a\nb\",\"c\r\n d\",y\n1,2,3\n3,4,2\n |  | a b/c  d | 1 2 3 4 | 3 2
n,a,y\n#1,1,2\n# a comment\n#2,2,3\n#1,3,4\n#,also\n |  | n=#2/a | 0 1 1 2 0 3 | 2 3 4 | 2 lines
a;b;y\n950;0.125;2\n1.2500;2;3\n12.500;2;1\n |  | a/b | 950 0.125 1.25 2 12.5 2 | 2 3 1
a;y\n1.250;2\n950.000;3\n |  | a | 1.25 950 | 2 3
a,t,y\n1,x,2\n2,x,3\n3,7.0,4\n4,z,5\n |  | a/t=7/t=x/t=z | 1 0 1 0 2 0 1 0 3 1 0 0 4 0 0 1 | 2 3 4 5
a,t,y\n1,7,2\n2,x,3\n3,x,4\n4,z,5\n |  | a/t=7/t=x/t=z | 1 1 0 0 2 0 1 0 3 0 1 0 4 0 0 1 | 2 3 4 5
a,b,y\n-9,2,3\n3,-9.0,4\n5,6,-9\n7,8,1\n8,8,2\n | na=-9 missing=drop | a/b | 7 8 8 8 | 1 2
gr\xf6sse,y\n1,2\n3,4\n |  | grösse | 1 3 | 2 4
a,b,y\n1_000,1e20,1\n2_000,4,2\n |  | a/b | 1000 1e20 2000 4 | 1 2 | "1_000" is read as 1000
a,y\n12345678901234567890,1\n4,2\n |  | a | 12345678901234567890 4 | 1 2 | column "a"`

// TestEncodedTables: texts and missing values are encoded as listed.
func TestEncodedTables(t *testing.T) {
	for c := range cases(t, encoded, 0) {
		s, err := readTable(strings.NewReader(c[0]), "f.csv", optionsOf(t, c[1]))
		if err != nil {
			t.Errorf("%q: %v", c[0], err)
			continue
		}
		// Means are rounded in another order: 1 unit in the last place.
		same := func(a, b float64) bool { return math.Abs(a-b) <= 2e-16*math.Abs(b) }
		if strings.Join(s.Features, "/") != c[2] || !slices.EqualFunc(s.X.Data, numbersOf(t, c[3]), same) ||
			!slices.Equal(s.Targets(0), numbersOf(t, c[4])) || !strings.Contains(strings.Join(s.Notes, "; "),
			c[5]) {
			t.Errorf("%q: features %q, inputs %v, targets %v, notes %q", c[0], s.Features, s.X.Data,
				s.Targets(0), s.Notes)
		}
	}
}

// TestManyTexts: of many texts the most frequent are features, and one is for all others, also those that
// only new inputs have; a column of nearly as many texts as rows is none.
func TestManyTexts(t *testing.T) {
	text := "t,u,y\n"
	for i := range 60 {
		text += fmt.Sprintf("code %d,word %d,%d\n", min(i%30, 25-i%2), i/2*(i%3), i)
	}
	s, err := readTable(strings.NewReader(text), "f", Options{})
	var want []string
	for k := range 24 { // which stand in two rows each, the other two in more
		want = append(want, fmt.Sprintf("t=code %d", k))
	}
	slices.Sort(want)
	want = slices.Sorted(slices.Values(append(want[:17], "t=code 24", "t=code 25")))
	want = append(want, "t=(others)")
	if err != nil || !slices.Equal(s.Features, want) || !strings.Contains(s.Notes[0], "26 different texts") {
		t.Fatalf("%v: %q, %q", err, s.Features, s.Notes)
	}
	in, err := readInputs(strings.NewReader("u,t\n1,code 25\n2,never\n"), tableFormat, "g", s.Encoding(),
		Options{})
	for i, name := range []string{"t=code 25", "t=(others)"} {
		if err != nil || in.X.Row(i)[slices.Index(want, name)] != 1 || floats.Sum(in.X.Row(i)) != 1 {
			t.Errorf("%v: row %d of %v is not %s", err, i, in, name)
		}
	}
}

// TestDates: dates become numbers, as they are written, and new ones must be written alike; without a value
// they have the features of the mean date.
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
		in, err := readInputs(strings.NewReader("a,when\n1,"+dates[1]+"\n2,NA\n"), tableFormat, "g",
			s.Encoding(), Options{Missing: MissingMean})
		if err != nil || !slices.Equal(in.X.Row(0), []float64{2024, 2, 4, 19782, 1}) || in.X.At(1, 1) != 5 {
			t.Errorf("%s: new inputs: %v %v", layout, err, in)
		}
		_, err = readInputs(strings.NewReader("a,when\n1,soon\n"), tableFormat, "g", s.Encoding(), Options{})
		wantError(t, err, `"soon" is no date`, "files as year-month-day")
	}
}

// TestRowNumbers: a column that counts the rows and is named like an identifier is no feature; one of time
// is.
func TestRowNumbers(t *testing.T) {
	for name, features := range map[string]int{"id": 1, "PassengerId": 1, "row": 1, "week": 2} {
		text := name + ",a,y\n"
		for i := range 12 {
			text += fmt.Sprintf("%d,%d,%d\n", i+100, i*i, i%5)
		}
		s, err := readTable(strings.NewReader(text), "f", Options{})
		if err != nil || s.D() != features || !strings.Contains(told(s), "counts the rows") {
			t.Errorf("%s: %v %+v", name, err, s)
		}
	}
}

// TestSubjects: a column whose values are in several rows each is offered for ReadOptions.Groups, if it is
// named like a subject, if the rows of each follow each other, or if each has a number of its own.
func TestSubjects(t *testing.T) {
	for c, offered := range map[string]bool{"userID %d": true, "mouse %d": true, "patient m%d": true,
		"mouse m%d": true, "mouse %d.5": false, "size %d": false, "MRN %d": true, "own x%d": true} {
		name, value, _ := strings.Cut(c, " ")
		text := name + ",a,y\n"
		for i := range 60 {
			k := i / 3
			a := i * i % 11
			if name == "size" || name == "own" {
				k = i * 7 % 20
			}
			if name == "own" {
				a = k * k * k % 37
			}
			text += fmt.Sprintf(value+",%d,%d.5\n", 100+k, a, i*i*i%17)
		}
		s := testutil.Must(readTable(strings.NewReader(text), "f", Options{}))(t)
		if strings.Contains(told(s), "ReadOptions.Groups "+name+" if") != offered {
			t.Errorf("%s: %q", c, s.Notes)
		}
	}
}

// TestTimesOfSubjects: texts that stand once at each time are doubted, and not if they stand there twice.
func TestTimesOfSubjects(t *testing.T) {
	for states, offered := range map[int]bool{12: true, 11: false} {
		text := "state,year,a,y\n"
		for i := range 120 {
			text += fmt.Sprintf("s%d,%d,%d,%d.5\n", i%states, 2000+i/12, i*i%13, i*i*i%17)
		}
		s := testutil.Must(readTable(strings.NewReader(text), "f", Options{}))(t)
		if strings.Contains(told(s), `"state" looks like an identifier`) != offered {
			t.Errorf("%d states: %+v", states, s.Doubts)
		}
	}
}

// TestOuterSubjects: where patients are groups, the sites of several patients each are doubted, and patients
// are not where sites are.
func TestOuterSubjects(t *testing.T) {
	text := "site,patient,a,y\n"
	for i := range 60 {
		text += fmt.Sprintf("s%d,%d,%d,%d.5\n", i%4, i%20, i*i%11, i*i*i%17)
	}
	for groups, offered := range map[string]bool{"patient": true, "site": false} {
		s := testutil.Must(readTable(strings.NewReader(text), "f", Options{Groups: groups}))(t)
		if strings.Contains(told(s), `"site" looks like an identifier with several groups`) != offered {
			t.Errorf("%s: %+v", groups, s.Doubts)
		}
	}
}

// doubted are a column of 40 rows by formulas of the row, the name of a column and the doubt in it, if any.
var doubted = []struct {
	name string
	cell func(i int) string
	kind DoubtKind
	any  bool
}{
	{"zip", func(i int) string { return fmt.Sprintf("%05d", i%7*1009) }, LeadingZeros, true},
	{"zip", func(i int) string { return fmt.Sprintf("%05d", 10009+i%7*1009) }, LeadingZeros, false},
	{"month", func(i int) string { return fmt.Sprintf("%02d", 1+i*5%12) }, LeadingZeros, false},
	{"rate", func(i int) string { return fmt.Sprintf("0.%03d", i*i%97) }, LeadingZeros, false},
	{"city", func(i int) string { return []string{"New York", "new-york", "Rome"}[i%3] }, Spellings, true},
	{"flag", func(i int) string { return []string{"TRUE", "no", "1", "N"}[i%4] }, Spellings, true},
	{"grade", func(i int) string { return []string{"A", "A-", "A+", "y", "yes"}[i%5] }, Spellings, false},
	{"when", func(i int) string { return fmt.Sprintf("2021-%d-%d", 1+i/20, 1+i%20) }, TimeOrder, true},
	{"when", func(i int) string { return fmt.Sprintf("2021-%d-%d", 2-i/20, 20-i%20) }, TimeOrder, true},
	{"when", func(i int) string { return fmt.Sprintf("2021-1-%d", 1+i*i*7%29) }, TimeOrder, false},
	{"year", func(i int) string { return strconv.Itoa(2000 + i/3) }, TimeOrder, true},
	{"t", func(i int) string { return strconv.Itoa(i) }, TimeOrder, true},
	{"x", func(i int) string { return strconv.Itoa(i / 3) }, TimeOrder, false},
	{"school", func(i int) string { return strconv.Itoa(i * 3 % 8) }, RepeatingIDs, true},
	{"animal", func(i int) string { return []string{"cat", "dog", "cow"}[i%3] }, RepeatingIDs, false},
	{"user_id", func(i int) string { return strconv.Itoa(i * 3 % 26) }, RepeatingIDs, true},
	{"firm", func(i int) string { return strconv.Itoa(1 + i/5) }, RepeatingIDs, true},
	{"buyer", func(i int) string { return strconv.Itoa(i / 4 * (i / 4)) }, RepeatingIDs, true},
	{"speed", func(i int) string { return strconv.Itoa(i * i / 60) }, RepeatingIDs, false},
	{"year", func(i int) string { return strconv.Itoa(2000 + i/4) }, RepeatingIDs, false},
}

// TestDoubts: columns raise the doubts that they should, and only these.
func TestDoubts(t *testing.T) {
	for _, c := range doubted {
		text := c.name + ",a,y\n"
		for i := range 40 {
			text += fmt.Sprintf("%s,%d.5,%d\n", c.cell(i), i*i*i%17, (i-15)*(i-15))
		}
		s := testutil.Must(readTable(strings.NewReader(text), "f", Options{}))(t)
		has := slices.ContainsFunc(s.Doubts, func(d Doubt) bool { return d.Kind == c.kind })
		if has != c.any {
			t.Errorf("%s as %s: %+v", c.name, c.cell(1), s.Doubts)
		}
	}
}

// TestNamesThatCount: a first line of years or other steps names columns of other numbers, and is an example
// among alike ones.
func TestNamesThatCount(t *testing.T) {
	for text, rows := range map[string]int{"2019,2020,2021\n5,7,8\n12,3,4\n5,1,1\n": 3,
		"1,2,3\n1.5,0.3,700\n2.5,1.3,80\n": 2, "400;402;404\n0,5;0,7;1,2\n0,1;0,3;2,5\n": 2,
		"1,2,3\n4,1,2\n1,3,5\n": 3, "1,2,5\n1.5,0.3,700\n2.5,1.3,80\n": 3, "5,5,5\n1.5,2.5,3.5\n1,2,9\n": 3,
	} {
		s := testutil.Must(readTable(strings.NewReader(text), "f", Options{}))(t)
		named := rows < strings.Count(text, "\n")
		if s.N() != rows || strings.Contains(told(s), "names the columns") != named {
			t.Errorf("%q: %d rows, %q", text, s.N(), told(s))
		}
	}
}

// TestWholeTargets: few whole numbers are a question in a large table, unless an option or a loss answers it.
func TestWholeTargets(t *testing.T) {
	for n, refused := range map[int]bool{150: false, 300: true} {
		text := "a,b,y\n"
		for i := range n {
			text += fmt.Sprintf("%d.5,%d,%d\n", i*i%37, i*3%41, i*i*i%10)
		}
		for _, opt := range []Options{{}, {As: Numbers}, {As: Classes}, {TaskKnown: true}} {
			s, err := readTable(strings.NewReader(text), "f", opt)
			if refused && opt.As == Either && !opt.TaskKnown {
				wantError(t, err, "10 whole numbers", "ReadOptions.As classification",
					"ReadOptions.As regression")
			} else if err != nil || s.AreNumbers() == (opt.As == Classes) {
				t.Errorf("%d rows, %+v: %v", n, opt, err)
			}
		}
	}
}

// endless repeats the same bytes and counts them.
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

// TestEndlessFiles: a file without end is refused after a bounded part of it, by the bounds on lines, cells,
// columns and memory.
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

// encodedInputs are training sets, new files, their contents (as Go writes strings), options and either words
// of the error after a !, or inputs, targets, a note and the name of the first row.
const encodedInputs = `
texts | d.csv | a,color\n5,green\n |  | 0 1 0 5
texts | d.csv | when,a,color,y\nnow,5,green,no\n |  | 0 1 0 5 | -1 | "when"
texts | d.csv | ,a,color,y\nBerlin,5,blue,yes\n |  | 1 0 0 5 | 1 |  | Berlin
texts | d.csv | a,color\n5,pink\n | unseen=zero | 0 0 0 5 |  | 1 cells hold texts that train.csv lacks
texts | d.csv | a,color,y\n5,red,\n |  | 0 0 1 5
texts | d.csv | a,color,y\n5,red,\n6,red,yes\n |  | 0 0 1 5 0 0 1 6 |  | 1 of 2 rows lack the target
texts | d.csv | a,color\n5,pink\n |  | !line 2; column "color"; "pink"; ReadOptions.UnseenZero
texts | d.csv | a,color,y\n5,red,maybe\n | unseen=zero | !line 2; column "y"; "maybe"
texts | d.csv | color,y\nred,yes\n |  | !"a"; missing
texts | d.csv | a,color\nfive,red\n |  | !line 2; "five" is not a number
texts | d.csv | 5,red\n6,red\n | noheader=1 | !is not a number
texts | d.csv | a,color\n,red\n |  | !line 2; column "a"; missing
bare | d.csv | 5,6,9\n |  | 5 6 | 9
bare | d.csv | 5,6\n7,8\n |  | 5 6 7 8
bare | d.csv | 1,2,x\n | noheader=1 | !line 1; "x" is not a number
bare | d.csv | 1,2,3,5\n |  | !4 columns; 2 features
mixed | d.csv | a,t\n1,7.00\n2,x\n |  | 1 1 0 0 2 0 1 0
codes | d.csv | a,b\n-9,5\n |  | 5 5
gaps | d.csv | a,b\n,\n7,?\n,5\n | missing=mean | 7 0 14/3 2 1 5 |  | mean
gaps | d.csv | a,b\n7,?\n1,5\n | missing=drop | 1 0 5 |  | 1 of 2 rows | 2
small | d.csv | a,c,b\n1,text,2\n |  | 1 2
small | d.csv | t,b,a\n5,2,1\n |  | 1 2 | 5
small | - | b,a\n2,1\n |  | 1 2
small | d.svm | 1:1 2:2\n |  | 1 2
small | d.svm | 5 1:1 2:2\n |  | 1 2 | 5
small | d.csv | a,t\n1,2\n |  | !line 1: column "b" of small is missing
small | d.csv | 1,2\n3,4\n |  | !line 1: all cells are numbers: a header
small | d.csv | a,b\n |  | !no examples
small | d.csv | t,b,a\n1,2,z\n |  | !line 2: column "a": "z"
small | d.svm | 1 1:1\n1 3:1\n1 2:1\n |  | !line 2: feature index 3, but small has 2 features
small | none.csv |  |  | !none.csv: no such file
small | boston |  |  | !boston: its features are not those of small
small | synthetic:blobs,n=5 |  |  | !its features are not those of small`

// TestInputs: new inputs of every format, with columns by name or in order, with targets or without, are
// encoded as the training set.
func TestInputs(t *testing.T) {
	trains := map[string]*Set{"small": small()}
	for name, c := range map[string]struct {
		text string
		opt  Options
	}{
		"texts": {"id;color;a;y\nr1;red;1;yes\nr2;green;2;no\nr3;blue;3;yes\n",
			Options{Drop: []string{"id"}}},
		"mixed": {"a,t,y\n1,x,2\n2,x,3\n3,7.0,4\n4,z,5\n", Options{}},
		"codes": {"a,b,y\n4,2,3\n-9,1,4\n6,1,2\n", Options{NA: []string{"-9"}, Missing: MissingMean}},
		"bare":  {"1,2,7\n3,4,8\n", Options{}},
		"gaps":  {"a,b,y\n1,2,1\n,4,2\n3,8,3\n", Options{Missing: MissingIndicator}},
	} {
		trains[name] = testutil.Must(readTable(strings.NewReader(c.text), "train.csv", c.opt))(t)
	}
	if y := trains["texts"].Targets(0); !slices.Equal(y, []float64{1, -1, 1}) {
		t.Fatalf("trained on %v", y)
	}
	array := func(shape string, v ...float64) string {
		return strings.Trim(strconv.Quote(string(npyFile(1, "<f8", "False", shape, bytesOf("<f8", v...)))),
			`"`)
	}
	arrays := "\nsmall | d.npy | " + array("(1, 2)", 1, 2) + " |  | 1 2" +
		"\nsmall | d.npy | " + array("(1, 3)", 1, 2, 5) + " |  | 1 2 | 5" +
		"\nsmall | d.npy | " + array("(2, 1)", 1, 2) + " |  | !1 columns, but small has 2 features" +
		"\nsmall | d.npy | " + array("(1, 4)", 1, 2, 3, 4) + " |  | !4 columns, but small has 2 features"
	for c := range cases(t, encodedInputs+arrays, 2) {
		path, opt := c[1], optionsOf(t, c[3])
		if opt.Stdin = strings.NewReader(c[2]); strings.HasPrefix(path, "d.") {
			path = write(t, path, []byte(c[2]))
		}
		in, err := trains[c[0]].Encoding().LoadInputs(path, opt)
		if says, refused := strings.CutPrefix(c[4], "!"); refused {
			wantError(t, err, strings.Split(says, "; ")...)
			continue
		}
		if err != nil || !slices.Equal(in.X.Data, numbersOf(t, c[4])) || !slices.Equal(in.Targets(0),
			numbersOf(t, c[5])) ||
			!strings.Contains(strings.Join(in.Notes, ";"), c[6]) || c[7] != "" && in.RowNames[0] != c[7] {
			t.Errorf("%q: read %+v, %v", c, in, err)
		}
	}
}

// told are the notes and the doubts that a set has.
func told(s *Set) string {
	all := slices.Clone(s.Notes)
	for _, d := range s.Doubts {
		all = append(all, d.Text+": "+d.Cure)
	}
	return strings.Join(all, "; ")
}

// TestQuantities: numbers with units, of money or time, and codes that hold numbers, which are none.
func TestQuantities(t *testing.T) {
	for texts, want := range map[string]bool{
		"1.3 kg|2 kg|5 kg": true, "28.7mm|3mm|4mm": true, "28.7°C|-3°C|4°C": true, "2kg|350g|400g": true,
		"1.2 bar|350 mbar|1 bar": true, "9 kg|0 kg|4 kg": true, "3 m/s^2|4 m/s^2|5 m/s^2": true,
		"01:20|2:33|0:50": true, "1:20:33|0:59|1:00": true, "3:45 pm|4:00 am|5:15 PM": true,
		"1h 30m|2h 15m|0h 5m": true, "1h30m|2h15m|1h05m": true, "5'11\"|6'0\"|5'4\"": true,
		"5 ft 11 in|6 ft 0 in|5 ft 4 in": true, "USD 286|USD 25|USD 3.10": true, "USD286|USD25|USD3": true,
		"pH 7.4|pH 6|pH 5": true, "€1.5M|€300K|€0": true, "36 months|60 months|1 year": true,
		"R$ 5|R$ 6|R$ 7": true, "5 square feet|6 square feet|9 square feet": true, "5,3 kg|2,1 kg|3 kg": true,
		"9.5 kg|−3 kg|4 kg": true, "７.５ kg|３ kg|９ kg": true,
		"1 kg|2 kg": false, "k1|k2|k3": false, "s0|s1|s2": false, "1st|2nd|3rd": false, "3a|3b|4a": false,
		"2020Q1|2020Q2|2020Q3": false, "v1.2|v1.3|v2.0": false, "room 5|room 6|room 7": false,
		"10-19|20-29|30-39": false, "1/2|3/4|5/6": false, "SW1A 1AA|SW1A 2AB|EC1 3AA": false,
		"1234 AB|2345 CD|3456 XY": false, "SKU 12|SKU 13|SKU 14": false, "3:1|2:0|0:0": false,
		"2XL|3XL|L": false, "A12|B13|C14": false, "12a|13b|14c": false, "x|y|z": false,
	} {
		if got := quantities(strings.Split(texts, "|")); got != want {
			t.Errorf("%s: %v", texts, got)
		}
	}
	if !allMatch(number, []string{"９.５６", "−5.3", "₹5", "5 000"}) {
		t.Error("numbers of other scripts")
	}
}

// TestEncoding: an encoding goes through JSON as it is: texts, missing cells, left-out columns, row names and
// labels; arrays, sparse lines from 0 and 1, sparse sets.
func TestEncoding(t *testing.T) {
	for _, c := range []struct {
		name, train string
		opt         Options
	}{
		{"t.csv", ",size,kind,two,none,note,y\na,1,red,u,,x,no\nb,2,blue,v,,y,yes\nc,?,red,v,,z,no\n",
			Options{Missing: MissingIndicator, Drop: []string{"note"}, Target: "y"}},
		{"c.csv", "code,size,y\n1,1,red\n2,2,green\n1,4,blue\n03,5,red\n",
			Options{Categorical: []string{"code"}, Positive: "red"}},
		{"l.csv", "1,2,1\n3,4,2\n5,7,3.0\n", Options{NoHeader: true, Positive: "3"}},
		{"d.svm", "1 1:0.5 3:2\n2 2:1\n1 3:-1\n", Options{}},
		{"z.svm", "1 0:2 1:0.5\n2 1:1\n1 0:-1\n", Options{Positive: "1"}},
		{"s.svm", "1 1:0.5 3000:2\n2 2:1\n1 3:-1\n", Options{}},
	} {
		set := testutil.Must(Load(write(t, c.name, []byte(c.train)), c.opt))(t)
		var e Encoding
		err := json.Unmarshal(testutil.Must(json.Marshal(set.Encoding()))(t), &e)
		if err != nil || !reflect.DeepEqual(&e, set.Encoding()) || e.Check() != nil {
			t.Errorf("%s: %v\n%+v\n%+v", c.name, err, e, set.Encoding())
		}
	}
}

// TestEncodingCheck: encodings that do not fit together are refused.
func TestEncodingCheck(t *testing.T) {
	set := testutil.Must(readTable(strings.NewReader("a,t,y\n1,u,no\n2,v,yes\n3,w,no\n"), "t", Options{}))(t)
	if err := set.Encoding().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(e *Encoding){
		"no target":     func(e *Encoding) { e.Targets = nil },
		"two classes":   func(e *Encoding) { e.Targets = append(e.Targets, Column{Name: "z"}) },
		"no features":   func(e *Encoding) { e.Features = 0 },
		"too many":      func(e *Encoding) { e.Features = 9 },
		"means":         func(e *Encoding) { e.Means = e.Means[1:] },
		"order":         func(e *Encoding) { e.Columns[1].Levels = []string{"v", "u", "w"} },
		"twice":         func(e *Encoding) { e.Columns[1].Name = "a" },
		"the target":    func(e *Encoding) { e.Columns[1].Name = "y" },
		"one label":     func(e *Encoding) { e.Targets[0].Levels = []string{"no", "no"} },
		"text as label": func(e *Encoding) { e.Targets[0].Texts = false },
		"missing":       func(e *Encoding) { e.Missing = "guess" },
		"index":         func(e *Encoding) { e.FirstIndex = 2 },
	} {
		e := set.Encoding()
		e.Columns = append([]encodedColumn(nil), e.Columns...)
		spoil(e)
		t.Run(name, func(t *testing.T) { wantError(t, e.Check()) })
	}
}
