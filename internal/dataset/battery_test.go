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

// every n-th row has its k-th cell (from 0) replaced.
func replace(separator string, k, n int, by func(i int) string) func(int, string) string {
	return func(i int, line string) string {
		cells := strings.Split(line, separator)
		if i > 0 && i%n == 0 {
			cells[k] = by(i)
		}
		return strings.Join(cells, separator)
	}
}

func always(s string) func(int) string { return func(int) string { return s } }

// TestShapesOfTables: the same numbers come out of each way in which programs
// write them, bit for bit.
func TestShapesOfTables(t *testing.T) {
	boston, pima := spread(t, "boston", 40), spread(t, "pima", 40)
	csv := shape{separator: ",", header: true}
	sex := func(y float64) string { return map[float64]string{-1: "no", 1: "yes"}[y] }
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
	x := npyFile(1, "<f8", "False", "(40, 13)", bytesOf("<f8", boston.X.Data...))
	xColumns := make([]float64, 0, len(boston.X.Data))
	for j := range 13 {
		for i := range 40 {
			xColumns = append(xColumns, boston.X.At(i, j))
		}
	}
	var labels []byte
	for _, y := range pima.Y {
		labels = append(labels, byte((y+1)/2))
	}
	for name, c := range map[string]struct {
		file    string
		content []byte
		opt     Options
		want    *Set
		names   bool // of columns survive
		note    string
	}{
		"plain": {"d.csv", csv.write(boston), Options{}, boston, true, ""},
		"tabs": {"d.tsv", shape{separator: "\t", header: true}.write(boston), Options{}, boston,
			true, "tabs"},
		"semicolons": {"d.csv", shape{separator: ";", header: true}.write(boston), Options{}, boston,
			true, "semicolons"},
		"semicolon, comma": {"d.csv", shape{separator: ";", header: true, comma: true}.write(boston),
			Options{}, boston, true, "decimal commas"},
		"semicolon, comma, bare": {"d.data", shape{separator: ";", comma: true}.write(boston), Options{}, boston,
			false, "no header"},
		"blanks": {"d.txt", shape{separator: " ", header: true}.write(boston), Options{}, boston,
			true, "blanks"},
		"aligned, no header": {"housing.data",
			shape{separator: "   ", line: func(_ int, s string) string { return "  " + s + " " }}.write(boston),
			Options{}, boston, false, "no header"},
		"comma blank": {"d.csv", shape{separator: ", ", header: true}.write(boston), Options{}, boston,
			true, ""},
		"no header": {"d.data", shape{separator: ","}.write(boston), Options{}, boston, false,
			"no header"},
		"no header, texts": {"d.data", shape{separator: ",", label: sex}.write(pima), Options{}, pima, false,
			"no header"},
		"CRLF": {"d.csv", shape{separator: ",", header: true, end: "\r\n"}.write(boston),
			Options{}, boston, true, ""},
		"byte order mark": {"d.csv", shape{separator: ";", header: true, before: "\ufeff"}.write(boston),
			Options{}, boston, true, "semicolons"},
		"comments": {"d.csv", shape{separator: ",", header: true,
			before: "# source, date\n# made by hand\n\n", after: "# end\n"}.write(boston), Options{}, boston, true,
			"1 lines"},
		"pandas.to_csv": {"d.csv", shape{separator: ",", header: true, index: true,
			corner: true}.write(boston), Options{}, boston, true, "names the rows"},
		"R write.csv": {"d.csv", shape{separator: ",", header: true, index: true, corner: true,
			quoted: true}.write(boston), Options{}, boston, true, "names the rows"},
		"R write.csv2": {"d.csv", shape{separator: ";", header: true, index: true, corner: true,
			quoted: true, comma: true}.write(boston), Options{}, boston, true, "names the rows"},
		"R write.table": {"d.txt", shape{separator: " ", header: true, index: true,
			quoted: true}.write(boston), Options{}, boston, true, "names the rows"},
		"gzip": {"d.csv.gz", gzipped(csv.write(boston)), Options{}, boston, true, ""},
		"zstd": {"d.tsv.zst", zstandard(shape{separator: "\t", header: true}.write(boston)),
			Options{}, boston, true, "tabs"},
		"sparse .txt":   {"d.txt", sparse.Bytes(), Options{}, boston, false, ""},
		"sparse from 0": {"d.svm", zero.Bytes(), Options{ZeroBased: true}, boston, false, ""},
		"trailing separators": {"d.csv", shape{separator: ",", header: true,
			line: func(_ int, s string) string { return s + "," }}.write(boston), Options{}, boston, true, ""},
		"rows of separators": {"d.csv", shape{separator: ",", header: true, after: strings.Repeat(",", 13) +
			"\n" + strings.Repeat(",", 13) + "\n"}.write(boston), Options{}, boston, true, "2 empty rows"},
		"target by name": {"d.csv", moved(csv.write(boston), 13, 0), Options{Target: "medv"}, boston, true,
			""},
		"drop": {"d.csv", shape{separator: ",", header: true,
			line: func(i int, s string) string {
				return []string{"note,", "any thing;,"}[min(i, 1)] +
					s
			}}.write(boston), Options{Drop: []string{"note"}}, boston, true, ""},
		"constant text": {"d.csv", shape{separator: ",", header: true,
			line: func(i int, s string) string { return []string{"unit,", "cm,"}[min(i, 1)] + s }}.write(boston),
			Options{}, boston, true, `"unit" is "cm" in every row`},
		"empty column": {"d.csv", shape{separator: ",", header: true,
			line: func(i int, s string) string { return []string{"unit,", "NA,"}[min(i, 1)] + s }}.write(boston),
			Options{}, boston, true, "has no value"},
		"names of rows": {"d.csv", shape{separator: ",", header: true,
			line: func(i int, s string) string { return fmt.Sprintf("town %d,%s", i, s) }}.write(boston), Options{},
			boston, true, "names the rows"},
		"names as numbers": {"d.csv",
			[]byte("0,1,2,3\n" + string(shape{separator: ","}.write(thin(boston, 3)))), Options{}, thin(boston, 3),
			false, ""},
		"labels of text": {"d.csv", shape{separator: ",", header: true, label: sex}.write(pima), Options{},
			pima, true, "yes is +1"},
		"one label of three": {"d.csv", shape{separator: ",", header: true, line: func(i int, s string) string {
			if strings.HasSuffix(s, ",1") || i == 0 {
				return s
			}
			return strings.TrimSuffix(s, "-1") + []string{"2", "3"}[i%2]
		}}.write(pima), Options{Positive: "1"}, pima, true, "1 is +1, not 1 is -1"},
		"labels 1 and 0": {"d.csv", shape{separator: ",", header: true,
			label: func(y float64) string { return []string{"1", "0"}[int(y+1)/2] }}.write(pima),
			Options{Positive: "0"}, pima, true, "0 is +1"},
		"npz": {"d.npz",
			npz(map[string][]byte{"X": x, "y": npyFile(1, "<f8", "False", "(40,)", bytesOf("<f8", boston.Y...))}),
			Options{}, boston, false, ""},
		"npz by columns": {"d.npz",
			npz(map[string][]byte{"x": npyFile(1, "<f8", "True", "(40, 13)", bytesOf("<f8", xColumns...)),
				"y": npyFile(1, "<f8", "False", "(40, 1)", bytesOf("<f8", boston.Y...))}), Options{}, boston, false,
			""},
		"npz, truth values": {"d.npz",
			npz(map[string][]byte{"X": npyFile(1, "<f8", "False", "(40, 7)", bytesOf("<f8", pima.X.Data...)),
				"y": npyFile(1, "|b1", "False", "(40,)", labels)}), Options{Positive: "1"}, pima, false, "1 is +1"},
		"stdin, tabs": {"-", shape{separator: "\t", header: true}.write(boston), Options{}, boston, true,
			"tabs"},
		"stdin, sparse": {"-", sparse.Bytes(), Options{}, boston, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.file
			if path == "-" {
				c.opt.Stdin = bytes.NewReader(c.content)
			} else {
				path = write(t, c.file, c.content)
			}
			s := need.One(Load(path, c.opt))(t)
			if s.N() != c.want.N() || s.D() != c.want.D() || !sameBits(s.X.Data, c.want.X.Data) ||
				!sameBits(s.Y, c.want.Y) || s.Task != c.want.Task {
				t.Fatalf("read %d x %d, %v, %v", s.N(), s.D(), s.Task, s.Notes)
			}
			if c.names && (!slices.Equal(s.Features, c.want.Features) || s.Target != c.want.Target) {
				t.Errorf("columns %v, target %s", s.Features, s.Target)
			}
			if notes := strings.Join(s.Notes, "; "); !strings.Contains(notes, c.note) || c.note == "" &&
				len(s.Notes) > 0 {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
			if strings.Contains(c.note, "names the rows") != (s.RowNames != nil) || s.RowNames != nil &&
				(len(s.RowNames) != s.N() || !strings.HasSuffix(s.RowNames[6], "7")) {
				t.Errorf("names of rows %v", s.RowNames)
			}
		})
	}
}

// moved takes the column from to another place.
func moved(csv []byte, from, to int) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(string(csv)) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		cell := cells[from]
		b.WriteString(strings.Join(slices.Insert(slices.Delete(cells, from, from+1), to, cell), ",") + "\n")
	}
	return b.Bytes()
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
		"Latin-1": {"gr\xf6sse,y\n1,2\n3,4\n", Options{}, "grösse", []float64{1, 3}, []float64{2, 4}, ""},
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

// TestTablesRefused: what is no table, or not one that can be taken as it is, is
// refused with its place and a cure.
func TestTablesRefused(t *testing.T) {
	boston := spread(t, "boston", 30)
	csv := shape{separator: ",", header: true}
	gap := csv
	gap.line = replace(",", 4, 10, always("NA"))
	many := csv
	many.line = replace(",", 0, 1, func(i int) string { return fmt.Sprintf("code %d", i/2) })
	for name, c := range map[string]struct {
		file    string
		content []byte
		opt     Options
		says    []string
	}{
		"missing": {"d.csv", gap.write(boston), Options{}, []string{"line 11", `column "nox"`,
			"the first of 3 in 1 of the columns", "--missing drop, mean or indicator"}},
		"three labels": {"d.csv", []byte("a,y\n1,u\n2,v\n3,w\n"), Options{}, []string{`column "y"`, "3 texts",
			`"u", "v", "w"`, "two classes"}},
		"one label": {"d.csv", []byte("a,y\n1,u\n2,u\n3,u\n"), Options{},
			[]string{`1 texts ("u")`, "two classes"}},
		"none of the texts": {"d.csv", []byte("a,y\n1,u\n2,v\n3,t\n"), Options{Positive: "w"},
			[]string{"--positive", `"w"`, `"t", "u", "v"`}},
		"no target": {"d.csv", csv.write(boston), Options{Target: "price"}, []string{"--target", `"price"`,
			"14 columns", `"crim"`}},
		"no such column": {"d.csv", csv.write(boston), Options{Drop: []string{"15"}},
			[]string{"--drop", `"15"`}},
		"target dropped": {"d.csv", csv.write(boston), Options{Drop: []string{"medv"}, Target: "medv"},
			[]string{"--target", "left out"}},
		"nothing left": {"d.csv", []byte("a,y\nu,1\nu,2\n"), Options{}, []string{"no column is left"}},
		"target missing": {"d.csv", []byte("a,y\n1,\n2,\n"), Options{Missing: MissingMean},
			[]string{"target has no value"}},
		"all rows dropped": {"d.csv", []byte("a,b,y\n1,,1\n,2,2\n"), Options{Missing: MissingDrop},
			[]string{"no row has all values", "mean"}},
		"typing error": {"d.csv", []byte("a,y\n1,2\n1o,3\n"), Options{}, []string{"line 3", `column "a"`,
			`"1o" is not a number`, "--drop"}},
		"mixed decimals": {"d.csv", []byte("a;y\n1,5;2\n1.5;3\n"), Options{},
			[]string{`column "a"`, `"1,5"`, "commas beside points"}},
		"thousands": {"d.csv", []byte("a;y\n1.234,5;2\n2.500,0;3\n"), Options{},
			[]string{`column "a"`, `"1.234,5"`, "thousands"}},
		"currency": {"d.csv", []byte("a,y\n$5,2\n$7.50,3\n"), Options{}, []string{`column "a"`, `"$5"`,
			"currency"}},
		"many texts": {"d.csv", manyTexts(), Options{}, []string{`column "t"`, "1100 different texts",
			"--drop t"}},
		"cell beyond names": {"d.csv", []byte("a,y,\n1,2,\n3,4,5\n"), Options{},
			[]string{"line 3", `"5"`, "no name"}},
		"Excel":         {"d.csv", append([]byte("PK\x03\x04"), 0, 0), Options{}, []string{"Excel", "CSV"}},
		"Excel by name": {"d.xlsx", nil, Options{}, []string{"unknown extension", "save a sheet"}},
		"Parquet": {"d.parquet", []byte("PAR1\x15\x00"), Options{},
			[]string{"not a Parquet file, or damaged"}},
		"UTF-16":            {"d.csv", []byte("\xff\xfea\x00,\x00"), Options{}, []string{"UTF-16", "UTF-8"}},
		"page":              {"d.csv", []byte("\n<!DOCTYPE html>\n<html>"), Options{}, []string{"web page"}},
		"binary":            {"d.data", make([]byte, 1<<20), Options{}, []string{"NUL", "binary"}},
		"no gzip":           {"d.csv.gz", []byte("\x1f\x8b\x00"), Options{}, []string{"decompressing"}},
		"no archive":        {"d.npz", []byte("a,y\n1,2\n"), Options{}, []string{"not a NumPy archive"}},
		"archive without X": {"d.npz", npz(map[string][]byte{"u": nil}), Options{}, []string{`"u"`, "np.savez"}},
		"archive without y": {"d.npz",
			npz(map[string][]byte{"X": npyFile(1, "<f8", "False", "(2, 1)", bytesOf("<f8", 1, 2))}), Options{},
			[]string{"no array y"}},
		"y of other length": {"d.npz",
			npz(map[string][]byte{"X": npyFile(1, "<f8", "False", "(2, 1)", bytesOf("<f8", 1, 2)),
				"y": npyFile(1, "<f8", "False", "(3,)", bytesOf("<f8", 1, 2, 3))}), Options{},
			[]string{"(3, 1)", "2 rows"}},
		"sparse from 0": {"d.svm", []byte("1 0:1\n2 1:1\n"), Options{}, []string{"line 1", "start at 1",
			"--zero-based"}},
		"sparse, target": {"d.svm", []byte("1 1:1\n2 1:1\n"), Options{Target: "y"}, []string{"--target"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(write(t, c.file, c.content), c.opt)
			wantError(t, err, c.says...)
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func manyTexts() []byte {
	var b bytes.Buffer
	b.WriteString("t,y\n")
	for i := range 2200 {
		fmt.Fprintf(&b, "code %d,%d\n", i%1100, i)
	}
	return b.Bytes()
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
