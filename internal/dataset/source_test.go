package dataset

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// write puts a file into a fresh directory and returns its path.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadGoesByExtension(t *testing.T) {
	sparse := []byte("0.5 1:1 2:2\n1.5 1:3 2:4\n")
	array := npyFile(1, "<f8", "False", "(2, 3)", bytesOf("<f8", 1, 2, 0.5, 3, 4, 1.5))
	table := []byte("a,b,y\n1,2,0.5\n3,4,1.5\n")
	for name, content := range map[string][]byte{
		"d.csv": table, "d.CSV": table, "d.svm": sparse, "d.libsvm": sparse, "d.dat": sparse, "d.npy": array,
	} {
		path := write(t, name, content)
		s, err := Load(path, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != path || !slices.Equal(s.X.Data, []float64{1, 2, 3, 4}) ||
			!slices.Equal(s.Y, []float64{0.5, 1.5}) {
			t.Errorf("%s: read %+v", name, s)
		}
	}
	s, err := Load("-", Options{Stdin: strings.NewReader(string(table))})
	if err != nil || s.Name != "standard input" || s.N() != 2 {
		t.Errorf("standard input: %+v, %v", s, err)
	}
	s, err = Load("synthetic:blobs,n=7,seed=3", Options{})
	if err != nil || s.N() != 7 || s.Task != Classification {
		t.Errorf("synthetic: %+v, %v", s, err)
	}
	s, err = Load("crabs", Options{})
	if err != nil || s.N() != 200 {
		t.Errorf("embedded: %+v, %v", s, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for path, says := range map[string][]string{
		"":                                {"embedded"},
		"-":                               {"standard input", "not available"},
		"bostn":                           {"bostn: ", "embedded set", "boston, crabs"},
		"no/such/folder/d.csv":            {"no/such/folder/d.csv: ", "no such file"},
		"missing.npy":                     {"missing.npy: ", "no such file"},
		t.TempDir():                       {"directory"},
		write(t, "d.xlsx", nil):           {"d.xlsx: ", "unknown extension", ".csv"},
		write(t, "d.csv", nil):            {"d.csv: ", "empty"},
		write(t, "d.svm", nil):            {"d.svm: ", "no examples"},
		write(t, "d.npy", nil):            {"d.npy: ", "not a NumPy"},
		"synthetic:":                      {"no generator", "friedman1"},
		"synthetic:friedman9":             {"no generator", `"friedman9"`},
		"synthetic:blobs,n=":              {"synthetic:blobs,n=: ", "n = "},
		"synthetic:blobs,n=1e3":           {`"1e3"`},
		"synthetic:blobs,n=0":             {"n = 0"},
		"synthetic:blobs,n=-5":            {"n = -5"},
		"synthetic:blobs,seed=-1":         {"seed"},
		"synthetic:blobs,size=5":          {`"size"`, "n, seed, d, noise"},
		"synthetic:blobs,":                {`""`},
		"synthetic:friedman1,d=4":         {"d = 4", "at least 5"},
		"synthetic:blobs,noise=-1":        {"noise = -1"},
		"synthetic:blobs,noise=nan":       {"noise = NaN"},
		"synthetic:checker,noise=0.6":     {"noise = 0.6"},
		"synthetic:waves,noise=1e300":     {"noise = 1e+300"},
		"synthetic:waves,n=1000000000000": {"too large", "1000000000000 rows"},
	} {
		_, err := Load(path, Options{})
		t.Run(path, func(t *testing.T) { wantError(t, err, says...) })
	}
	if _, err := Load("missing.csv", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestLoadInputs(t *testing.T) {
	train := small() // features a, b; target t
	opt := Options{Stdin: strings.NewReader("b,a\n2,1\n")}
	array := func(shape string, v ...float64) []byte {
		return npyFile(1, "<f8", "False", shape, bytesOf("<f8", v...))
	}
	for name, c := range map[string]struct {
		path string
		y    []float64
	}{
		"csv, other column":  {write(t, "d.csv", []byte("a,c,b\n1,text,2\n")), nil},
		"csv":                {write(t, "d.csv", []byte("a,b\n1,2\n")), nil},
		"csv, target":        {write(t, "d.csv", []byte("a,b,t\n1,2,5\n")), []float64{5}},
		"csv, other order":   {write(t, "d.csv", []byte("t,b,a\n5,2,1\n")), []float64{5}},
		"standard input":     {"-", nil},
		"svm":                {write(t, "d.svm", []byte("1:1 2:2\n")), nil},
		"svm, target":        {write(t, "d.svm", []byte("5 1:1 2:2\n")), []float64{5}},
		"npy":                {write(t, "d.npy", array("(1, 2)", 1, 2)), nil},
		"npy, target":        {write(t, "d.npy", array("(1, 3)", 1, 2, 5)), []float64{5}},
		"svm, short of last": {write(t, "e.svm", []byte("5 1:1 # the second is zero\n")), []float64{5}},
	} {
		in, err := LoadInputs(c.path, train, opt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []float64{1, 2}
		if strings.Contains(name, "short") {
			want[1] = 0
		}
		if !slices.Equal(in.X.Data, want) || in.X.Cols != 2 || !slices.Equal(in.Y, c.y) ||
			(in.Y == nil) != (c.y == nil) {
			t.Errorf("%s: read %+v", name, in)
		}
	}
	for name, c := range map[string]struct {
		path string
		says []string
	}{
		"missing file": {"none.csv", []string{"none.csv: ", "no such file"}},
		"missing column": {write(t, "d.csv", []byte("a,t\n1,2\n")), []string{"line 1", `"b"`, "missing",
			"small"}},
		"no header": {write(t, "d.csv", []byte("1,2\n3,4\n")), []string{"line 1", "header"}},
		"no rows":   {write(t, "d.csv", []byte("a,b\n")), []string{"no examples"}},
		"text":      {write(t, "d.csv", []byte("t,b,a\n1,2,z\n")), []string{"line 2", `column "a"`, `"z"`}},
		"svm too wide": {write(t, "d.svm", []byte("1 1:1\n1 3:1\n1 2:1\n")), []string{"line 2", "index 3",
			"2 features"}},
		"svm half labels":  {write(t, "d.svm", []byte("1:1\n1 1:1\n")), []string{"line 2", "label"}},
		"npy narrow":       {write(t, "d.npy", array("(2, 1)", 1, 2)), []string{"1 columns", "2 features"}},
		"npy wide":         {write(t, "d.npy", array("(1, 4)", 1, 2, 3, 4)), []string{"4 columns", "2 features"}},
		"another embedded": {"boston", []string{"boston: ", "features", "small"}},
		"another drawn":    {"synthetic:blobs,n=5", []string{"features", "small"}},
	} {
		_, err := LoadInputs(c.path, train, opt)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.says...) })
	}
}

// A small file that decompresses to much is refused at the limit of memory, that of the options or else
// a third of the runtime's.
func TestDecompressionBombs(t *testing.T) {
	limit := Options{MaxBytes: 1 << 20}
	zeros := make([]byte, 1<<22)
	copy(zeros, "a,y\n1,2\n0,")
	bombs := map[string][]byte{
		"rows.csv":  append([]byte("a,y\n"), bytes.Repeat([]byte("0,0\n"), 1<<18)...),
		"line.csv":  bytes.ReplaceAll(zeros, []byte{0}, []byte("0")),
		"zeros.csv": zeros,
		"line.svm":  bytes.Repeat([]byte("1"), 1<<22),
		"rows.svm":  bytes.Repeat([]byte("1\n"), 1<<18),
		"array.npy": npyFile(1, "<f8", "False", "(125000, 4)", zeros[:4e6]),
	}
	for name, content := range bombs {
		for end, compress := range map[string]func([]byte) []byte{".gz": gzipped, ".zst": zstandard} {
			_, err := Load(write(t, name+end, compress(content)), limit)
			wantError(t, err, name+end)
			if name != "zeros.csv" && !errors.Is(err, errMemory) {
				t.Errorf("%s: %v is not errMemory", name, err)
			}
		}
	}
	_, err := Load(write(t, "d.npz", npz(map[string][]byte{"X": bombs["array.npy"]})), limit)
	wantError(t, err, "limit is 1 MiB")
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(300 << 20))
	if got := (Options{}).maxBytes(); got != 100<<20 {
		t.Errorf("without options the limit is %d", got)
	}
}
