package dataset

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bootbench/internal/need"
)

func TestReadTableRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"empty":           {"", []string{"empty"}},
		"only breaks":     {"\n\n\n", []string{"empty"}},
		"header only":     {"a,b\n", []string{"no examples"}},
		"one row":         {"a,b\n1,2\n", []string{"only one example"}},
		"one column":      {"a\n1\n2\n", []string{"line 1", "only one column", `"a"`}},
		"nameless column": {"a,,y\n1,2,3\n", []string{"line 1", "column 2 has no name"}},
		"same names":      {"a,b,a\n1,2,3\n", []string{"line 1", "columns 1 and 3", `"a"`}},
		"short row":       {"a,b,y\n1,2,3\n1,2\n", []string{"line 3", "2 cells", "3 columns"}},
		"text": {"a,b,y\n1,2,3\n1,NA,3\n", []string{"line 3", `column "b"`,
			"missing value, the first of 1"}},
		"text in target": {"a,y\n1,2\n1,good\n", []string{"line 3", `column "y"`, `"good"`}},
		"NaN":            {"a,y\n1,2\nNaN,3\n", []string{"line 3", `column "a"`, "missing", "--missing drop"}},
		"Inf":            {"a,y\n1,2\n1,-Inf\n", []string{"line 3", `column "y"`, "-Inf", "finite"}},
		"overflow":       {"a,y\n1,2\n1e999,2\n", []string{"line 3", `column "a"`, "range"}},
		"empty cell":     {"a,b,y\n1,2,3\n1,,3\n", []string{"line 3", `column "b"`, "missing value"}},
		"blank cell":     {"a,y\n1,2\n1,  \n", []string{"line 3", `column "y"`, "missing value"}},
		"stray quote":    {"a,y\n1,2\n1\",2\n", []string{"line 3", "\""}},
		"open quote":     {"a,y\n1,\"2\n", []string{"line", "\""}},
		"long cell": {"a,y\n1,2\n" + strings.Repeat("x", 1e5) + ",2\n",
			[]string{"line 3", "...", "not a number"}},
		"break in a name": {"\"a\nb\",y\n1,2\nx,2\n", []string{"line 1", `"a\nb"`, "control"}},
		"break in a cell": {"a,y\n1,2\n\"x\n\",2\n", []string{"line 3", `column "a"`}},
		"decimal commas":  {"a,y\n1,5,2\n", []string{"line 2", "3 cells"}},
		"hidden control":  {"a,y\n1\x00,2\n", []string{"line 2", "NUL", "binary"}},
		"not text":        {"\x93NUMPY\x01\x00", []string{"NumPy", ".npy"}},
	} {
		_, err := readTable(strings.NewReader(c.text), "f.csv", Options{})
		t.Run(name, func(t *testing.T) { wantError(t, err, append(c.says, "f.csv: ")...) })
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: the message has %d bytes", name, len(err.Error()))
		}
	}
}

// broken fails after some text, as a disk or a pipe may.
type broken struct{ text io.Reader }

var errBroken = errors.New("the wire broke")

func (b broken) Read(p []byte) (int, error) {
	n, err := b.text.Read(p)
	if err == io.EOF {
		err = errBroken
	}
	return n, err
}

func TestReadersReportAFailingStream(t *testing.T) {
	_, err := readTable(broken{strings.NewReader("a,y\n1,2\n3,")}, "f", Options{})
	wantError(t, err, "f: ", "wire")
	_, err = readLIBSVM(broken{strings.NewReader("1 1:2\n-1 1:")}, "f", Options{})
	wantError(t, err, "f: ")
	_, err = readNPY(broken{bytes.NewReader(npyFile(1, "<f8", "False", "(2, 2)", make([]byte, 8)))}, "f",
		Options{})
	wantError(t, err, "f: ", "wire")
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
		s := &Set{
			Features: rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z,"' é]{0,5}[a-z]`), d+1, d+1,
				func(h string) string { return strings.TrimSpace(h) }).Draw(t, "names"),
			X: Matrix{Rows: n, Cols: d, Stride: d, Data: rapid.SliceOfN(number, n*d, n*d).Draw(t, "x")},
			Y: rapid.SliceOfN(number, n, n).Draw(t, "y"),
		}
		for j, h := range s.Features {
			s.Features[j] = "_" + strings.TrimSpace(h) // never a number such as "inf"
		}
		s.Target, s.Features = s.Features[d], s.Features[:d]
		requireRoundTrip(t, s)
	})
}

// requireRoundTrip checks that a set survives writeCSV and ReadTable bit by bit.
func requireRoundTrip(t interface{ Fatalf(string, ...any) }, s *Set) {
	var b bytes.Buffer
	if err := writeCSV(&b, s); err != nil {
		t.Fatalf("write: %v", err)
	}
	again, err := readTable(&b, "again", Options{})
	if err != nil {
		t.Fatalf("read again: %v", err)
	}
	if !slices.Equal(again.Features, s.Features) || again.Target != s.Target ||
		!sameBits(again.X.Data, s.X.Data) || !sameBits(again.Y, s.Y) {
		t.Fatalf("wrote %+v, read %+v", s, again)
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(u, v float64) bool { return math.Float64bits(u) == math.Float64bits(v) })
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errBroken }

// The time to read a table is proportional to its cells, however many columns it has: eight times the
// columns take eight times as long, where a search by name for each column would take 64 times.
func TestWideTable(t *testing.T) {
	read := func(columns int) time.Duration {
		text, row := strings.Join(numbered("x", columns), ","), "\n"+strings.Repeat("1,", columns-1)
		text += row + "2" + row + "3"
		began := processorTime()
		if s, err := readTable(strings.NewReader(text), "wide.csv", Options{}); err != nil || s.D() != columns-1 {
			t.Fatal(err)
		}
		return processorTime() - began
	}
	if narrow, wide := read(8000), read(64000); wide > 30*narrow+time.Second {
		t.Errorf("%v for 8000 columns, %v for 8 times as many", narrow, wide)
	}
}

// processorTime is what this process has used, which other processes do not change.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A quote that nothing closes is an error at the row where it opens, a stray one within a cell at its own.
func TestUnpairedQuotes(t *testing.T) {
	rows := strings.Repeat("5,6\n7,8\n", 20000)
	for text, line := range map[string]string{
		"a,y\n1,2\n\"3,4\n5,6\n":              "line 3",
		"a,y\n1,2\n3,\"4\n" + rows:            "line 3",
		"a,y\n1,2\n3,4\n5\",6\n":              "line 4",
		"a,y\n\"1\n\n2\",2\n3,4\"\n":          "line 5",
		"a,y\n1,2\n\"3\"x,4\n":                "line 3",
		"# it's a \"comment\na,y\n1,2\n3,\"4": "line 4",
		"a y\n1  2\n\"3 4\n5 6\n":             "line 3",
	} {
		_, err := readTable(strings.NewReader(text), "f.csv", Options{})
		wantError(t, err, "f.csv: "+line+": ", "stray quote")
	}
}

// Targets that are all the same are refused by every reader, with what to do.
func TestEqualTargets(t *testing.T) {
	for name, content := range map[string]string{
		"numbers.csv": "a,y\n1,3\n2,3\n", "labels.csv": "a,y\n1,1\n2,1\n", "texts.csv": "a,y\n1,u\n2,u\n",
		"array.npy": string(npyFile(1, "<f8", "False", "(2, 2)", bytesOf("<f8", 1, 3, 2, 3))),
	} {
		_, err := Load(write(t, name, []byte(content)), Options{})
		wantError(t, err, name+`: column "y": `, "--target NAME takes another column")
	}
	_, err := Load(write(t, "sparse.svm", []byte("3 1:1\n3 1:2\n")), Options{})
	wantError(t, err, "all 2 targets are 3: targets that differ are needed")
}

// What could steer a terminal is escaped in errors, notes and names: of files, rows and levels.
func TestEscapesArePrintable(t *testing.T) {
	const steer = "\x1b[2J"
	path := write(t, steer+".csv", []byte(",t,y\nr"+steer+",u"+steer+",a"+steer+"\ns,v,b\nt,w,b\n"))
	s := need.One(Load(path, Options{}))(t)
	said := append(append(append([]string{s.Name, s.Source, s.Labels.Name(-1)}, s.Notes...), s.RowNames...),
		s.Features...)
	_, err := s.Encoding().LoadInputs(write(t, "new"+steer+".csv", []byte("t\nx"+steer+"\n")), Options{})
	for _, text := range append(said, err.Error()) {
		if strings.Contains(text, "\x1b") {
			t.Errorf("%q steers a terminal", text)
		}
	}
}
