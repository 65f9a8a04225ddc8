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

// TestLoadInputs: new inputs come from every format, their columns by name or in order, with targets or
// without.
func TestLoadInputs(t *testing.T) {
	array := func(shape string, v ...float64) string {
		return string(npyFile(1, "<f8", "False", shape, bytesOf("<f8", v...)))
	}
	train := small() // features a, b; target t
	for _, c := range []struct {
		file, content string
		y             []float64
		says          string // or the error
	}{
		{"d.csv", "a,c,b\n1,text,2\n", nil, ""},
		{"d.csv", "t,b,a\n5,2,1\n", []float64{5}, ""},
		{"-", "b,a\n2,1\n", nil, ""},
		{"d.svm", "1:1 2:2\n", nil, ""},
		{"d.svm", "5 1:1 2:2\n", []float64{5}, ""},
		{"d.npy", array("(1, 2)", 1, 2), nil, ""},
		{"d.npy", array("(1, 3)", 1, 2, 5), []float64{5}, ""},
		{"d.csv", "a,t\n1,2\n", nil, `line 1: column "b" of small is missing`},
		{"d.csv", "1,2\n3,4\n", nil, "line 1: all cells are numbers: a header"},
		{"d.csv", "a,b\n", nil, "no examples"},
		{"d.csv", "t,b,a\n1,2,z\n", nil, `line 2: column "a": "z"`},
		{"d.svm", "1 1:1\n1 3:1\n1 2:1\n", nil, "line 2: feature index 3, but small has 2 features"},
		{"d.npy", array("(2, 1)", 1, 2), nil, "1 columns, but small has 2 features"},
		{"d.npy", array("(1, 4)", 1, 2, 3, 4), nil, "4 columns, but small has 2 features"},
		{"none.csv", "", nil, "none.csv: no such file"},
		{"boston", "", nil, "boston: its features are not those of small"},
		{"synthetic:blobs,n=5", "", nil, "its features are not those of small"},
	} {
		path := c.file
		if strings.HasPrefix(path, "d.") {
			path = write(t, path, []byte(c.content))
		}
		in, err := LoadInputs(path, train, Options{Stdin: strings.NewReader(c.content)})
		switch {
		case c.says != "":
			wantError(t, err, c.says)
		case err != nil || !slices.Equal(in.X.Data, []float64{1, 2}) || in.X.Cols != 2 || !slices.Equal(in.Y, c.y):
			t.Errorf("%s %q: read %+v, %v", c.file, c.content, in, err)
		}
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
