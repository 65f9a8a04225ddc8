package dataset

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// refusals are files or other sources, the contents of files d.* (as Go writes strings), words of the error,
// and options if they matter.
const refusals = `
d.csv |  | empty
d.csv | \n\n\n | empty
d.csv | a,b\n | no examples
d.csv | a,b\n1,2\n | only one example
d.csv | a\n1\n2\n | line 1; only one column; "a"
d.csv | a,,y\n1,2,3\n | line 1; column 2 has no name
d.csv | a,b,a\n1,2,3\n | line 1; columns 1 and 3; "a"
d.csv | a,b,y\n1,2,3\n1,2\n | line 3; 2 cells; 3 columns
d.csv | a,y\n1,5,2\n | line 2; 3 cells
d.csv | a,y,\n1,2,\n3,4,5\n | line 3; "5"; no name
d.csv | a,y\n1,2\n1,good\n | line 3; column "y"; "good"
d.csv | a,y\n1,2\n1o,3\n | line 3; column "a"; "1o" is not a number; ReadOptions.Drop
d.csv | a,y\n1,2\n\"x\n\",2\n | line 3; column "a"
d.csv | a,y\n1,2\nNaN,3\n | line 3; column "a"; missing; ReadOptions.Missing drop
d.csv | a,b,y\n1,2,3\n1,,NA\n1,?,2\n | line 3; column "b"; the first of 3 in 2 of the columns; or indicator
d.csv | a,y\n1,2\n1,  \n | line 3; column "y"; missing value
d.csv | a,y\n1,\n2,\n | target has no value | missing=mean
d.csv | a,b,y\n1,,1\n,2,2\n | no row has all values; mean | missing=drop
d.csv | a,y\n1,2\n1,-Inf\n | line 3; column "y"; -Inf; finite
d.csv | a,y\n1,2\ninf,3\n | line 3; column "a"; +Inf is not a finite; ReadOptions.NA inf with
d.csv | a,y\na,0\nb,1\nc,2\nd,3\ne,4\nf,5\ng,6\nh,7\ni,8\nj,9\nk,10\n | no column is left; column "a" names
d.csv | sales in 2024\n\na,b,y\n1,2,3\n | remove what stands above the names
d.csv | a,y\n1,2\n1e999,2\n | line 3; column "a"; range
d.csv | a;y\n1,5;2\n1.5;3\n | column "a"; "1,5"; commas beside points
d.csv | a;y\n1.234,5;2\n2.500,0;3\n | column "a"; "1.234,5"; thousands
d.csv | a,b,y\nn.a.,1,2\n3,2,3\n4,2,4\n | line 2; column "a"; "n.a." is not a; 2 of the 3; .NA n.a. with
d.csv | a,b,y\n1,1,2\n3,2,3\n-,2,4\n5,1,2\nk A,1,2\n | line 4; .NA "-,k A"; else ReadOptions.Categorical
d.csv | a,b,y\nno,1,2\n3,2,3\nno,2,4\nno,1,2\n4,1,2\n | line 2; "no" is not a number, as 2 of the 5; .NA no
d.csv | a,b,y\n1,1,none\n3,2,3\n2,2,4\n | line 2; column "y"; ReadOptions.NA none
d.csv | a,y\n1,2\n3,4\n | ReadOptions.NA: no cell holds "-9" | na=-9
d.svm | 1 1:1\n2 1:1\n | or ReadOptions.NA could | na=-9
d.csv | a;b;y\n950;1;2\n1.250;2;3\n12.500;2;1\n | column "a"; "1.250" beside "950"; may be 1250; as 950.000
d.csv | a\tb\ty\n-1,250\t1\t2\n7\t2\t3\n8\t2\t3\n | column "a"; "-1,250" beside "7"; may be -1250; as 7,000
d.csv | a;y\n1;950\n2;1.250\n3;12.500\n | column "y"; "1.250" beside "950"
d.csv | a;y\n1;1.234.567\n2;2.500.000\n3;950.000\n4;2\n | column "y"; "1.234.567"; thousands
d.csv | a,y\n1,u\n2,v\n3,w\n | column "y"; 3 classes in 3 rows; ReadOptions.Target
d.csv | a,y\n1,2 kg\n2,3 kg\n3,4 kg\n | column "y"; "2 kg"; in one unit
d.csv | a,b,y\n1,2,3\n2,3,4\n | no column is left as a feature | drop=a target=b groups=y
d.csv | a,y\n$5,2\n$7.50,3\n | column "a"; "$5"; currency
d.csv | a,b,y\n1.3 kg,1,2\n2.6 kg,2,3\n3 kg,4,5\n | column "a"; "1.3 kg"; unit; .Categorical or
d.csv | a,b,y\n1.3,1,2\n2 kg,2,3\n3 kg,4,5\n2 g,4,5\n4,4,5\n | column "a"; "2 kg"; in one unit
d.csv | a,y\n1,u\n2,u\n3,u\n | column "y"; 1 texts ("u"); two classes; .Target NAME takes another column
d.csv | a,y\n1,u\n2,v\n3,t\n | ReadOptions.Positive; "w"; "t", "u", "v" | positive=w
d.csv | a,y\n1,3\n2,3\n | column "y"; all 2 targets are 3; ReadOptions.Target NAME takes another column
d.svm | 3 1:1\n3 1:2\n | all 2 targets are 3: targets that differ are needed
d.csv | a,y\nu,1\nu,2\n | no column is left
d.csv | a,b,y\n1,2,3\n4,5,6\n | ReadOptions.Target; "price"; 3 columns; "a" | target=price
d.csv | a,b,y\n1,2,3\n4,5,6\n | ReadOptions.Drop; "4" | drop=4
d.csv | a,b,y\n1,2,3\n4,5,6\n | ReadOptions.Target; left out | drop=y target=y
d.csv | a,y\n1,2\n1\",2\n | line 3: a stray quote
d.csv | a,y\n1,2\n\"3,4\n5,6\n | line 3: a stray quote
d.csv | a,y\n1,2\n3,4\n5\",6\n | line 4: a stray quote
d.csv | a,y\n\"1\n\n2\",2\n3,4\"\n | line 5: a stray quote
d.csv | # it's a \"comment\na,y\n1,2\n3,\"4 | line 4: a stray quote
d.csv | a y\n1  2\n\"3 4\n5 6\n | line 3: a stray quote
d.csv | a,y\n1\x00,2\n | line 2; NUL; binary
d.csv | \x93NUMPY\x01\x00 | NUL; .npy
d.csv | PK\x03\x04\x00 | NUL; CSV
d.csv | \xff\xfea\x00,\x00 | UTF-16; UTF-8
d.csv | \n<!DOCTYPE html>\n<html> | web page
d.csv | [{\"a\":1}] | JSON
d.csv.gz | \x1f\x8b\x00 | decompressing
d.xlsx |  | d.xlsx; unknown extension; save a sheet
d.parquet | PAR1\x15\x00 | not a Parquet file, or damaged
d.npz | a,y\n1,2\n | not a NumPy archive
d.npy | a,y\n1,2\n | not a NumPy
d.svm | # a\n\n#b | no examples
d.svm | 1 1:2\n | only one example
d.svm | 1\n-1\n | no example has a feature
d.svm | # c\n1:2\n1:3\n | line 2; label is missing
d.svm | 1 1:2\n1:3\n | line 2; label
d.svm | 1 1:2\nyes 1:3\n | line 2; "label"; "yes"
d.svm | nan 1:2\n | line 1; NaN; finite
d.svm | 1 -3:2\n | line 1; index -3
d.svm | 1 1:2\n1 3:1 2:1\n | line 2; index 2 follows 3; ascend
d.svm | 1 3:1 3:1\n | line 1; index 3 follows 3
d.svm | 1 1:2 7\n | line 1; "7"; index:value
d.svm | 1 1.5:2\n | line 1; whole number
d.svm | 1 1:2\n1 2:b\n | line 2; column "x2"; "b"
d.svm | 1 1:\n | line 1; column "x1"; empty
d.svm | 1 1:inf\n | line 1; column "x1"; finite
d.svm | 1 1:2\n-1 4000000000:1\n | line 2; 4000000000; out of range
d.svm | 1 99999999999999999999:1\n | line 1; out of range
d.svm | 1 1:1\n2 1:1\n | ReadOptions.Target | target=y
- |  | standard input; not available
bostn |  | bostn: ; embedded set; boston, crabs
no/such/folder/d.csv |  | no such file
missing.npy |  | no such file
synthetic: |  | no generator; friedman1
synthetic:friedman9 |  | no generator; "friedman9"
synthetic:blobs,n= |  | synthetic:blobs,n=: n =
synthetic:blobs,n=1e3 |  | "1e3"
synthetic:blobs,n=0 |  | n = 0
synthetic:blobs,n=-5 |  | n = -5
synthetic:blobs,seed=-1 |  | seed
synthetic:blobs,size=5 |  | "size"; n, seed, d, noise
synthetic:blobs, |  | ""
synthetic:friedman1,d=4 |  | d = 4; at least 5
synthetic:blobs,noise=-1 |  | noise = -1
synthetic:blobs,noise=nan |  | noise = NaN
synthetic:checker,noise=0.6 |  | noise = 0.6
synthetic:blobs,tilt=1 |  | blobs has no tilt
synthetic:text,tilt=-1 |  | tilt = -1
synthetic:text,tilt=11 |  | tilt = 11; take 0 to 10
synthetic:text,tilt=x |  | "x"
synthetic:waves,noise=1e300 |  | noise = 1e+300
synthetic:waves,n=1000000000000 |  | too large; 1000000000000 rows`

// cases are the fields of the lines of a table, empty if they lack; one is written as Go writes strings.
func cases(t *testing.T, table string, quoted int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(strings.TrimSpace(table)) {
			fields := make([]string, 8)
			for k, field := range strings.Split(strings.TrimSpace(line), " | ") {
				fields[k] = strings.TrimSpace(field)
			}
			fields[quoted] = testutil.Must(strconv.Unquote(`"` + fields[quoted] + `"`))(t)
			if !yield(fields) {
				return
			}
		}
	}
}

// optionsOf reads options such as "missing=drop target=y".
func optionsOf(t *testing.T, text string) (opt Options) {
	for _, setting := range strings.Fields(text) {
		name, value, _ := strings.Cut(setting, "=")
		switch name {
		case "missing":
			opt.Missing = Missing(value)
		case "target":
			opt.Target = value
		case "na":
			opt.NA = []string{value}
		case "groups":
			opt.Groups = value
		case "drop":
			opt.Drop = []string{value}
		case "positive":
			opt.Positive = value
		case "unseen":
			opt.UnseenZero = true
		case "noheader":
			opt.NoHeader = true
		}
	}
	return opt
}

// numbersOf reads numbers or fractions between blanks; nil if there are none.
func numbersOf(t *testing.T, text string) (v []float64) {
	for _, field := range strings.Fields(text) {
		over, under, _ := strings.Cut(field+"/1", "/")
		under = strings.TrimSuffix(under, "/1")
		v = append(v,
			testutil.Must(strconv.ParseFloat(over, 64))(t)/testutil.Must(strconv.ParseFloat(under, 64))(t))
	}
	return v
}

// TestRefusals: bad input is refused with its place and a cure, in a short line.
func TestRefusals(t *testing.T) {
	for c := range cases(t, refusals, 1) {
		path := c[0]
		if strings.HasPrefix(path, "d.") {
			path = write(t, path, []byte(c[1]))
		}
		_, err := Load(path, optionsOf(t, c[3]))
		t.Run(c[0]+" "+c[1], func(t *testing.T) {
			wantError(t, err, append(strings.Split(c[2], "; "), strings.TrimPrefix(c[0], "-"))...)
		})
	}
	_, err := Load(t.TempDir(), Options{})
	wantError(t, err, "directory")
	if _, err = Load("", Options{}); err == nil {
		t.Error("no path is taken")
	}
	if _, err := Load("missing.csv", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

// write puts a file into a fresh directory and returns its path.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fuzzLimit keeps the dense matrices of the fuzz tests small.
const fuzzLimit = 1 << 22

// requireSound checks the invariants of training sets that readers return, or of new inputs for train.
func requireSound(t *testing.T, s *Set, err error, train *Set) {
	if err != nil {
		wantError(t, err)
		return
	}
	if s.Sparse != nil {
		return // as requireSoundSparse finds
	}
	d, least := s.D(), 2
	if train != nil {
		d, least = train.D(), 1
	}
	if s.N() < least || s.D() != d || d < 1 || len(s.X.Data) != s.N()*d || s.X.Stride != d ||
		len(s.Targets(0)) != s.N() && (train == nil || s.Columns != nil) || 8*len(s.X.Data) > fuzzLimit ||
		len(s.RowNames) > 0 && len(s.RowNames) != s.N() {
		t.Fatalf("unsound set: %d x %d, %d numbers, %d targets, %d names of rows", s.N(), s.D(),
			len(s.X.Data), len(s.Targets(0)), len(s.RowNames))
	}
	for _, v := range append(s.X.Data, s.Targets(0)...) {
		if checkFinite(v) != nil {
			t.Fatalf("%v in the set", v)
		}
	}
	if train != nil {
		return
	}
	if len(s.Features) != d {
		t.Fatalf("%d features have %d names", d, len(s.Features))
	}
	if !slices.ContainsFunc(append([]string{s.TargetNames()}, s.Features...),
		func(h string) bool { return !isNumeric(h) && !isMissing(h) }) {
		return // such names are read as numbers
	}
	if strings.HasPrefix(s.Features[0], "#") || refuseForeign([]byte(s.Features[0])) != nil {
		return // written first, such a name starts a comment or a file of another kind
	}
	requireRoundTrip(t, s)
}

// FuzzTable reads anything as a table, under all options, and then as new inputs for a set of numbers, for
// one of texts, and for what it was read as.
func FuzzTable(f *testing.F) {
	for _, seed := range []string{
		"a,b,y\n1,2,3\n4,5,6\n", "\ufeffa,y\r\n1,2\r\n-1e-3,4\r\n", "1,2\n3,4\n", "a,y\n1,\n", "a,a\n1,2\n",
		"\"a\"\"b\",y\n\"1\",2\n3,4", "a,y\n0x1p-2,1_0\n", "a,y\nnan,inf\n", "", ",\n,\n", "a,y\n1,2,3\n",
		"a;b;y\n1,5;u;no\n2;v;yes\n?;u;no\n", "a b y\n1 2 3 4\n5 6 7 8\n", "# a y\n 1  2\n 3  4 \n",
		"0,1,2,3\n5,6,7,8\n1,2,3,4\n",
		",t,y\nr,\"x\n\"\"\",1\ns,NA,2\n", "a\ty\t\n1\t2\t\n\t\t\n3\t4\t\n", "t,y\nu,1\nv,2\nw,3\n",
		"a,y\n1,no\n?,yes\n2,no\n",
	} {
		for option := range byte(16) {
			f.Add([]byte(seed), option)
		}
	}
	worded := testutil.Must(readTable(strings.NewReader("a,t,y\n1,u,no\n2,v,yes\n3,w,no\n"), "worded",
		Options{}))(f)
	f.Fuzz(func(t *testing.T, data []byte, option byte) {
		opt := Options{MaxBytes: fuzzLimit, NoHeader: option&4 != 0, UnseenZero: option&8 != 0,
			Missing: [...]Missing{"", MissingDrop, MissingMean, MissingIndicator}[option%4]}
		if option&16 != 0 {
			opt.Target = "1"
		}
		if option&32 != 0 {
			opt.Drop = []string{"2"}
		}
		if option&64 != 0 {
			opt.Categorical = []string{"1"}
		}
		s, err := readTable(bytes.NewReader(data), "fuzz", opt)
		requireSound(t, s, err, nil)
		trains := []*Set{small(), worded}
		if err == nil {
			trains = append(trains, s)
		}
		for _, train := range trains {
			in, err := readInputs(bytes.NewReader(data), tableFormat, "fuzz", train.Encoding(), opt)
			requireSound(t, in, err, train)
			if train == s && (err != nil || !sameBits(in.X.Data, s.X.Data) && opt.Missing != MissingMean &&
				opt.Missing != MissingIndicator || in.Columns != nil && !slices.Equal(in.Targets(0),
				s.Targets(0))) {
				t.Fatalf("read as new inputs, the set differs: %v", err)
			}
		}
	})
}

// FuzzFiles reads anything as a file of the other formats: a training set, and new inputs for small.
func FuzzFiles(f *testing.F) {
	four, names := bytesOf("<f8", 1, 2, 3, 4), []string{"f.svm", "f.npy", "f.npz", "f.parquet"}
	x, y := npyFile(1, "<f8", "False", "(2, 2)", four), npyFile(1, "<f4", "False", "(2,)", four[:8])
	for kind, seeds := range [][][]byte{{
		[]byte("+1 1:0.5 3:2\n-1 2:1\n"), []byte("1 qid:3 1:1 # c\n2\n"), []byte("1 0:1\n"),
		[]byte("1 2:1 1:1\n"), []byte("1:1\n2:2\n"), []byte("1 524288:1\n1 1:1\n"),
		[]byte("1 999999999999:1\n"), []byte("\n\n"), []byte("1 1:\n"), []byte("x 1:1\n"),
		[]byte("1 1:1:1\n"), []byte("\ufeff1 1:2\n2 1:3"),
	}, {
		x, npyFile(2, ">f4", "True", "(2, 4)", four), npyFile(3, "<f8", "False", "(4, 1)", four),
		npyFile(1, "<f8", "False", "(9999999999, 9999999999)", four), npyRaw(1, "", nil),
		npyRaw(1, "'descr''fortran_order''shape'", nil), npyRaw(2, "}{'shape':(", nil), nil,
	}, {
		npz(map[string][]byte{"X": x, "y": y}), npz(map[string][]byte{"x": x}), npz(nil), nil,
		npz(map[string][]byte{"X": npyFile(1, "<f8", "True", "(99999999, 2)", nil)}),
	}, {
		parquetFile(f, houses(3)), parquetFile(f, houses(50)), []byte("PAR1\x15\x00PAR1"),
		[]byte("PAR1\xf8\xffPAR1"), // a footer of 4 GiB
	}} {
		for _, seed := range seeds {
			f.Add(byte(kind), seed)
		}
	}
	folder, train := f.TempDir(), small()
	f.Fuzz(func(t *testing.T, kind byte, data []byte) {
		path, opt := filepath.Join(folder, names[kind%4]), Options{MaxBytes: fuzzLimit}
		testutil.Check(t, os.WriteFile(path, data, 0o644))
		s, err := Load(path, opt)
		requireSound(t, s, err, nil)
		in, err := train.Encoding().LoadInputs(path, opt)
		requireSound(t, in, err, train)
		if kind%4 == 0 {
			requireSoundSparse(t, data)
		}
	})
}

// requireSoundSparse keeps the lines of a sparse file sparse: the matrix must be one, within the limit.
func requireSoundSparse(t *testing.T, data []byte) {
	lines, err := readLines(bytes.NewReader(data), "fuzz", Options{MaxBytes: fuzzLimit})
	if err != nil {
		wantError(t, err)
		return
	}
	x := lines.x
	if x.Rows == 0 {
		return
	}
	err = linalg.Design{Sparse: &x}.Check()
	if err != nil || lines.labelled && len(lines.labels) != x.Rows {
		t.Fatalf("unsound sparse rows: %v", err)
	}
	if 16*(x.Rows+x.Cols)+12*len(x.Index) > fuzzLimit || slices.Contains(x.Value, 0) {
		t.Fatalf("%d x %d with %d entries exceed the limit, or some are zero", x.Rows, x.Cols, len(x.Index))
	}
}
