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

	"bootbench/internal/testutil"
	"bootbench/linalg"
)

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
	array := string(npyFile(1, "<f8", "False", "(2, 2)", make([]byte, 8)))
	for text, f := range map[string]format{"a,y\n1,2\n3,": tableFormat, "1 1:2\n-1 1:2": libsvmFormat,
		array: npyFormat} {
		_, err := reader(f)(broken{strings.NewReader(text)}, "f", Options{})
		wantError(t, err, "f: ", "wire")
	}
}

func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(2, 6).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "d")
		number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64)
		s := &Set{
			Features: rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z,"' é]{0,5}[a-z]`), d+1, d+1,
				func(h string) string { return strings.TrimSpace(h) }).Draw(t, "names"),
			X: linalg.Matrix{Rows: n, Cols: d, Stride: d,
				Data: rapid.SliceOfN(number, n*d, n*d).Draw(t, "x")},
			Columns: []Column{{Y: rapid.SliceOfN(number, n, n).Draw(t, "y")}},
		}
		for j, h := range s.Features {
			s.Features[j] = "_" + strings.TrimSpace(h) // never a number such as "inf"
		}
		s.Columns[0].Name, s.Features = s.Features[d], s.Features[:d]
		requireRoundTrip(t, s)
	})
}

// requireRoundTrip checks that a set survives writing and reading bit by bit. Classes of which one is
// named by a number must be said to be categories.
func requireRoundTrip(t interface{ Fatalf(string, ...any) }, s *Set) {
	var b bytes.Buffer
	if err := writeCSV(&b, s); err != nil {
		t.Fatalf("write: %v", err)
	}
	opt := Options{}
	if target := s.Columns[0]; target.Texts && slices.ContainsFunc(target.Levels, func(name string) bool {
		_, err := parseNumber(name)
		return err == nil
	}) {
		opt.Categorical = []string{target.Name}
	}
	again, err := readTable(&b, "again", opt)
	if err != nil {
		t.Fatalf("read again: %v", err)
	}
	if !slices.Equal(again.Features, s.Features) || again.TargetNames() != s.TargetNames() ||
		!sameBits(again.X.Data, s.X.Data) || !sameBits(again.Targets(0), s.Targets(0)) {
		t.Fatalf("wrote %+v, read %+v", s, again)
	}
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(u, v float64) bool {
		return math.Float64bits(u) == math.Float64bits(v)
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errBroken }

// The time to read a table is proportional to its cells, however many columns it has: eight times the columns
// take eight times as long, where a search by name for each column would take 64 times.
func TestWideTable(t *testing.T) {
	read := func(columns int) time.Duration {
		text, row := strings.Join(numbered("x", columns), ","), "\n"+strings.Repeat("1,", columns-1)
		text += row + "2" + row + "3"
		began := processorTime()
		if s, err := readTable(strings.NewReader(text), "wide.csv", Options{}); err != nil ||
			s.D() != columns-1 {
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

// Control characters are escaped in errors, notes and names: of files, rows and levels.
func TestEscapesArePrintable(t *testing.T) {
	const steer = "\x1b[2J"
	path := write(t, steer+".csv", []byte(",t,y\nr"+steer+",u"+steer+",a"+steer+"\ns,v,b\nt,w,b\n"))
	s := testutil.Must(Load(path, Options{}))(t)
	said := slices.Concat([]string{s.Name, s.Source, s.Columns[0].Level(-1)}, s.Notes, s.RowNames, s.Features)
	_, err := s.Encoding().LoadInputs(write(t, "new"+steer+".csv", []byte("t\nx"+steer+"\n")), Options{})
	for _, text := range append(said, err.Error()) {
		if strings.Contains(text, "\x1b") {
			t.Errorf("%q steers a terminal", text)
		}
	}
}

// TestParts: the columns of groups, strata and folds are no features; they number the parts of the rows that
// are used, of subsets too.
func TestParts(t *testing.T) {
	path := write(t, "d.csv", []byte("patient,a,age,fold,y\np7,1,old,2,1\np7,2,old,1,2\np1,,young,1,3\n"+
		"p3,4,young,2,4\np7,5,old,3,6\n"))
	opt := Options{Groups: "patient", Strata: "age", Folds: "4", Missing: MissingDrop}
	s := testutil.Must(Load(path, opt))(t)
	check := func(s *Set, groups, strata, folds []int) {
		t.Helper()
		if !slices.Equal(s.Groups, groups) || !slices.Equal(s.Strata, strata) || !slices.Equal(s.Folds,
			folds) || s.D() != 1 {
			t.Errorf("%d features, groups %v, strata %v, folds %v", s.D(), s.Groups, s.Strata, s.Folds)
		}
	}
	check(s, []int{0, 0, 1, 0}, []int{0, 0, 1, 0}, []int{0, 1, 0, 2})
	check(s.Subset([]int{2, 1, 2}), []int{0, 1, 0}, []int{0, 1, 0}, []int{0, 1, 0})
	for _, o := range []Options{{Groups: "b"}, {Groups: "a", Strata: "a"}, {Groups: "y", Target: "y"}} {
		if _, err := Load(path, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	const want = `column "patient" looks like an identifier`
	path = write(t, "e.csv", []byte("patient,a,y\np7,1,1\np7,2,2\np1,,3\np1,4,4\n"))
	if s = testutil.Must(Load(path, Options{Missing: MissingDrop}))(t); !strings.Contains(told(s), want) {
		t.Errorf("no note on patients: %q", s.Notes)
	}
}

// TestSeveralTargets: a comma separates targets, in the order in which they are asked for, unless it is part
// of a column's name; rows that lack any of them are left out; texts and constants are refused.
func TestSeveralTargets(t *testing.T) {
	const text = "a;x;b;\"c,d\";s;k\n1;7;2;5;u;1\n2;9;;6;v;1\n4;8;3;9;u;1\n5;1;7;9;w;1\n"
	load := func(target string) (*Set, error) {
		drop := []string{"k"}
		if strings.Contains(target, "k") {
			drop = nil
		}
		return Load("-", Options{Stdin: strings.NewReader(text), Target: target, Missing: MissingDrop,
			Drop: drop})
	}
	s := testutil.Must(load("b, a"))(t)
	if s.N() != 3 || s.TargetNames() != "b, a" || s.Columns[1].Y[1] != 4 || s.Columns[0].Y[2] != 7 ||
		strings.Contains(strings.Join(s.Features, " "), "a") {
		t.Errorf("%d rows, targets %v, features %v", s.N(), s.Columns, s.Features)
	}
	if last := s.Subset([]int{2, 0}); last.Columns[1].Y[0] != 5 || s.Columns[1].Y[0] != 1 {
		t.Errorf("a part of the rows has %v, all %v", last.Columns, s.Columns)
	}
	if s = testutil.Must(load("c,d"))(t); s.TargetNames() != "c,d" || len(s.Columns) != 1 {
		t.Errorf("a name with a comma: %+v", s)
	}
	for target, want := range map[string]string{"a,s": "holds texts", "a,k": "targets that differ",
		"a,a": "another role", "a,zz": "no column", "a,": "no column"} {
		_, err := load(target)
		wantError(t, err, want)
	}
}
