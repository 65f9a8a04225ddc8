package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
)

// loadOnRanks loads a set on ranks and puts the inputs together again. inParts says whether each has read its
// part only.
func loadOnRanks(t *testing.T, path string, opt Options, count int) (set *Set, inParts bool, err error) {
	t.Helper()
	sets, errs := make([]*Set, count), make([]error, count)
	disttest.OnRanks(1, count, func(g dist.Grid) {
		opt := opt
		opt.Ranks = dist.NewTeam(g)
		s, err := Load(path, opt)
		errs[g.Rank()] = err
		if err == nil {
			sets[g.Rank()] = s.Whole()
		}
		files, err := openAll(path, opt)
		if err == nil {
			defer closeAll(files)
		}
		if part := loadPart(files, path, opt); g.Rank() == 0 {
			inParts = part != nil
		}
	})
	for rank := range sets {
		if (errs[rank] == nil) != (errs[0] == nil) || !reflect.DeepEqual(sets[rank], sets[0]) {
			t.Fatalf("%s: rank %d has %+v, %v, rank 0 %+v, %v", path, rank, sets[rank], errs[rank], sets[0], errs[0])
		}
	}
	return sets[0], inParts, errs[0]
}

// compareSets compares what one process has read with what ranks have: all but inputs that are means of
// others to the last bit.
func compareSets(t *testing.T, about string, got, want *Set, err, wantErr error) {
	t.Helper()
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: %v, of one process %v", about, err, wantErr)
	}
	if want == nil {
		return
	}
	if got.X.Rows != want.X.Rows || got.X.Cols != want.X.Cols {
		t.Fatalf("%s: %d x %d, of one process %d x %d", about, got.X.Rows, got.X.Cols, want.X.Rows, want.X.Cols)
	}
	for k, v := range want.X.Data {
		if !(math.Abs(got.X.Data[k]-v) <= 1e-13*math.Abs(v)) {
			t.Fatalf("%s: element %d is %v, of one process %v", about, k, got.X.Data[k], v)
		}
	}
	a, b := *got, *want
	a.X, b.X, a.Ranks = Matrix{}, Matrix{}, nil
	if len(a.RowNames)+len(b.RowNames) == 0 {
		a.RowNames, b.RowNames = nil, nil
	}
	if !reflect.DeepEqual(a, b) {
		t.Fatalf("%s: %+v, of one process %+v", about, a, b)
	}
}

// Ranks that read parts of a text hold together the set that one process reads, or have its error, whatever
// the table has to trouble them: types and texts that only one of them sees, missing cells, quoted line ends,
// errors. Some are read in parts.
func TestRanksReadWhatOneProcessReads(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 5))
	inParts, refused := 0, 0
	for trial := range 100 {
		text, name := messyTable(rng), "a.csv"
		opt := Options{Missing: Missing(rng.IntN(4)), chunk: 1 + rng.IntN(2000)}
		if trial%4 == 0 {
			text, name = messyLines(rng), "a.svm"
			opt = Options{Storage: Storage(rng.IntN(3)), chunk: 1 + rng.IntN(2000)}
		}
		if trial%7 == 0 { // without a header
			_, text, _ = strings.Cut(text, "\n")
		}
		path := write(t, name, []byte(text))
		want, wantErr := Load(path, opt)
		ranks := 1 + rng.IntN(4)
		got, parts, err := loadOnRanks(t, path, opt, ranks)
		compareSets(t, fmt.Sprintf("trial %d, %d ranks\n%s", trial, ranks, text), got, want, err, wantErr)
		if parts {
			inParts++
		}
		if wantErr != nil {
			refused++
		}
	}
	if inParts < 15 || refused < 20 {
		t.Errorf("%d of 100 texts are read in parts, %d refused: one of these is hardly tried", inParts, refused)
	}
}

// The same of arrays, in one file or several, and of other formats, which every rank reads whole.
func TestRanksReadArrays(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 6))
	for trial := range 60 {
		folder, cols := t.TempDir(), 2+rng.IntN(3)
		for k := range 1 + rng.IntN(3) {
			rows := 1 + rng.IntN(30)
			values := make([]float64, rows*cols)
			for i := range values {
				values[i] = float64(float32(rng.NormFloat64()))
			}
			if rng.IntN(4) == 0 {
				values[rng.IntN(len(values))] = [...]float64{math.NaN(), math.Inf(1)}[rng.IntN(2)]
			}
			descr, order := [...]string{"<f8", ">f4"}[rng.IntN(2)], [...]string{"False", "True"}[rng.IntN(2)]
			file := npyFile(1, descr, order, fmt.Sprintf("(%d, %d)", rows, cols), elements(descr, values...))
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("a%d.npy", k)), file, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		path, opt := filepath.Join(folder, "a*.npy"), Options{Missing: Missing(rng.IntN(4))}
		want, wantErr := Load(path, opt)
		got, parts, err := loadOnRanks(t, path, opt, 1+rng.IntN(4))
		compareSets(t, fmt.Sprintf("trial %d", trial), got, want, err, wantErr)
		if parts != (err == nil) {
			t.Errorf("trial %d: read in parts: %v; %v", trial, parts, err)
		}
	}
	for _, path := range []string{"crabs", "synthetic:waves,n=50,d=2", "testdata/none.csv"} {
		want, wantErr := Load(path, Options{})
		got, parts, err := loadOnRanks(t, path, Options{}, 3)
		compareSets(t, path, got, want, err, wantErr)
		if parts {
			t.Errorf("%s is read in parts", path)
		}
	}
}

// Where a rank sees no file, or another one, all have an error: of a file of another size, and of one of the
// same size that differs where it is compared.
func TestRanksRefuseOtherFiles(t *testing.T) {
	rows := strings.Repeat("1,2\n3,4\n", 5)
	first := write(t, "a.csv", []byte("a,y\n"+rows))
	for name, other := range map[string]string{
		"none":      filepath.Join(t.TempDir(), "a.csv"),
		"longer":    write(t, "a.csv", []byte("a,y\n"+rows+"5,6\n")),
		"as long":   write(t, "a.csv", []byte("a,y\n"+rows[:len(rows)-2]+"5\n")),
		"an array":  write(t, "a.npy", npyFile(1, "<f8", "False", "(2, 2)", elements("<f8", 1, 2, 3, 4))),
		"generated": "synthetic:waves,n=10,d=1",
	} {
		disttest.OnRanks(1, 3, func(g dist.Grid) {
			path := first
			if g.Rank() == 2 {
				path = other
			}
			if s, err := Load(path, Options{Ranks: dist.NewTeam(g)}); err == nil {
				t.Errorf("%s: rank %d has %+v", name, g.Rank(), s)
			}
		})
	}
}

// Files whose names a pattern matches are the table of their rows, in one process and on ranks, with or
// without a header in each; an error names the file and its line there.
func TestFilesAreOneTable(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		whole string // the table that they are; "": an error
		says  string
	}{
		"headers": {[]string{"a,b,y\n1,red,2\n2,blue,3\n", "a,b,y\n# a comment\n4,green,5", "a,b,y\n",
			"a,b,y\n6,red,7\n8,,9\n"}, "a,b,y\n1,red,2\n2,blue,3\n# a comment\n4,green,5\n6,red,7\n8,,9\n", ""},
		"no headers": {[]string{"1.5,2\n3,4\n", "5,6", "7,8\n9,1\n"}, "1.5,2\n3,4\n5,6\n7,8\n9,1\n", ""},
		"row names": {[]string{",a,y\nfirst,1,2\nsecond,3,4\n", ",a,y\nthird,5,6\nfourth,7,8\n"},
			",a,y\nfirst,1,2\nsecond,3,4\nthird,5,6\nfourth,7,8\n", ""},
		"other columns": {[]string{"a,b,y\n1,2,3\n4,5,6\n", "a,c,y\n7,8,9\n"}, "",
			`1.csv: line 1: column 2 is "c", of`},
		"more columns": {[]string{"a,y\n1,2\n4,5\n", "a,b,y\n7,8,9\n"}, "", "1.csv: line 1: 3 columns, "},
		"a text": {[]string{"a,y\n1,2\n4,5\n", "a,y\n3,3\nx,4\n"}, "",
			`1.csv: line 3: column "a": "x" is not a number`},
		"a missing value": {[]string{"a,y\n1,2\n4,5\n", "a,y\n3,3\n,4\n"}, "",
			`1.csv: line 3: column "a": a missing value`},
		"an empty file": {[]string{"a,y\n1,2\n4,5\n", ""}, "", "1.csv: the file is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for k, text := range c.files {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.csv", k)), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			path, opt := filepath.Join(folder, "*.csv"), Options{}
			if name == "headers" {
				opt.Missing = MissingMean
			}
			got, err := Load(path, opt)
			onRanks, parts, rankErr := loadOnRanks(t, path, opt, 3)
			compareSets(t, "on ranks", onRanks, got, rankErr, err)
			if c.whole == "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, not %s", err, c.says)
				}
				return
			}
			want, wantErr := ReadTable(strings.NewReader(c.whole), path, opt)
			compareSets(t, "as one file", got, want, err, wantErr)
			if in, err := LoadInputs(path, want, opt); err != nil || in.M() != want.N() {
				t.Errorf("as new inputs: %+v, %v", in, err)
			}
			if !parts {
				t.Error("ranks read all of it")
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "x*.csv"), Options{}); err == nil ||
		!strings.Contains(err.Error(), "no file has such a name") {
		t.Errorf("a pattern without files: %v", err)
	}
}
