package dataset

import (
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// refusals are files, their contents (as Go writes strings), words of the error, and options if they matter.
const refusals = `
d.csv |  | empty
d.csv | \n\n\n | empty
d.csv | a,b\n | no examples
d.csv | a,b\n1,2\n | only one example
d.csv | a\n1\n2\n | line 1; only one column; "a"
d.csv | a,,y\n1,2,3\n | line 1; column 2 has no name
d.csv | a,b,a\n1,2,3\n | line 1; columns 1 and 3; "a"
d.csv | \"a\nb\",y\n1,2\nx,2\n | line 1; "a\nb"; control
d.csv | a,b,y\n1,2,3\n1,2\n | line 3; 2 cells; 3 columns
d.csv | a,y\n1,5,2\n | line 2; 3 cells
d.csv | a,y,\n1,2,\n3,4,5\n | line 3; "5"; no name
d.csv | a,y\n1,2\n1,good\n | line 3; column "y"; "good"
d.csv | a,y\n1,2\n1o,3\n | line 3; column "a"; "1o" is not a number; --drop
d.csv | a,y\n1,2\n\"x\n\",2\n | line 3; column "a"
d.csv | a,y\n1,2\nNaN,3\n | line 3; column "a"; missing; --missing drop
d.csv | a,b,y\n1,2,3\n1,,NA\n1,?,2\n | line 3; column "b"; the first of 3 in 2 of the columns; or indicator
d.csv | a,y\n1,2\n1,  \n | line 3; column "y"; missing value
d.csv | a,y\n1,\n2,\n | target has no value | missing=mean
d.csv | a,b,y\n1,,1\n,2,2\n | no row has all values; mean | missing=drop
d.csv | a,y\n1,2\n1,-Inf\n | line 3; column "y"; -Inf; finite
d.csv | a,y\n1,2\n1e999,2\n | line 3; column "a"; range
d.csv | a;y\n1,5;2\n1.5;3\n | column "a"; "1,5"; commas beside points
d.csv | a;y\n1.234,5;2\n2.500,0;3\n | column "a"; "1.234,5"; thousands
d.csv | a,y\n$5,2\n$7.50,3\n | column "a"; "$5"; currency
d.csv | a,y\n1,u\n2,u\n3,u\n | column "y"; 1 texts ("u"); two classes; --target NAME takes another column
d.csv | a,y\n1,u\n2,v\n3,t\n | --positive; "w"; "t", "u", "v" | positive=w
d.csv | a,y\n1,3\n2,3\n | column "y"; all 2 targets are 3; --target NAME takes another column
d.svm | 3 1:1\n3 1:2\n | all 2 targets are 3: targets that differ are needed
d.csv | a,y\nu,1\nu,2\n | no column is left
d.csv | a,b,y\n1,2,3\n4,5,6\n | --target; "price"; 3 columns; "a" | target=price
d.csv | a,b,y\n1,2,3\n4,5,6\n | --drop; "4" | drop=4
d.csv | a,b,y\n1,2,3\n4,5,6\n | --target; left out | drop=y target=y
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
d.svm | 1 0:1\n2 1:1\n | line 1; indices start at 1; --zero-based
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
d.svm | 1 1:1\n2 1:1\n | --target | target=y`

// TestRefusals: what cannot be taken as it is, is refused with its place and a cure, in a line that is not
// long.
func TestRefusals(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(refusals)) {
		parts := append(strings.Split(strings.TrimSpace(line), " | "), "")
		content := need.One(strconv.Unquote(`"` + parts[1] + `"`))(t)
		var opt Options
		for _, setting := range strings.Fields(parts[3]) {
			name, value, _ := strings.Cut(setting, "=")
			switch name {
			case "missing":
				opt.Missing = map[string]Missing{"mean": MissingMean, "drop": MissingDrop}[value]
			case "target":
				opt.Target = value
			case "drop":
				opt.Drop = []string{value}
			case "positive":
				opt.Positive = value
			}
		}
		_, err := Load(write(t, parts[0], []byte(content)), opt)
		t.Run(parts[1], func(t *testing.T) {
			wantError(t, err, append(strings.Split(parts[2], "; "),
				parts[0])...)
		})
	}
}
