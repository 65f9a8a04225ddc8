package dataset

import (
	"bytes"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

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

// A small file with large contents is refused at the memory limit, of the options or else a third of the
// runtime's.
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
	if got := (Options{}).complete().MaxBytes; got != 100<<20 {
		t.Errorf("without options the limit is %d", got)
	}
}
