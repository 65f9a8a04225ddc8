package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// matrix reads a NumPy array.
func matrix(t *testing.T, path string) *mat.Dense {
	file := testutil.Must(os.ReadFile(path))(t)
	begin := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	var rows, columns int
	const shape = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
	testutil.Must(fmt.Sscanf(string(file[:begin]), shape, &rows, &columns))(t)
	data := make([]float64, rows*columns)
	testutil.Must(binary.Decode(file[begin:], binary.LittleEndian, data))(t)
	if begin%64 != 0 || len(file) != begin+8*len(data) {
		t.Fatalf("%s: %d bytes of header, %d in all", path, begin, len(file))
	}
	return mat.NewDense(rows, columns, data)
}

// TestReplicates: --replicates holds the predictions of every resample in the order of the file: their mean
// is the answer's, by both methods.
func TestReplicates(t *testing.T) {
	for _, method := range []string{"batch", "single"} {
		file := filepath.Join(t.TempDir(), "r.npy")
		r := decoded[report.Answer](t, "retrain boston --resamples 40 --method", method, "--replicates", file)
		m := matrix(t, file)
		if rows, n := m.Dims(); rows != 40 || n != 506 || r.Method != method {
			t.Fatalf("%s: %d x %d replicates by %s", method, rows, n, r.Method)
		}
		for i, mean := range r.Points.Mean {
			if sum := mat.Sum(m.ColView(i)) / 40; math.Abs(sum-mean) > 1e-3*(1+math.Abs(sum)) {
				t.Errorf("%s, example %d: mean of the replicates %v, of the answer %v", method, i, sum, mean)
			}
		}
	}
}

// TestExtremes: no extreme setting that is let in ends in an answer that is no number and yet counts as
// converged.
func TestExtremes(t *testing.T) {
	for _, flags := range []string{"--noise 1e-100", "--noise 1e100", "--amplitude 1e-100",
		"--amplitude 1e100",
		"--jitter 1e100", "--constant 1e100"} {
		o := drive(t, "", "estimate synthetic:friedman1,n=20 --loss square --noise 1", flags)
		for line := range strings.Lines(o.stdout) {
			if o.status == exitDone && strings.Contains(line, "error ") && strings.Contains(line, "NaN") {
				t.Errorf("%s: status 0 with %s", flags, line)
			}
		}
	}
}

// TestQuantiles: the quantiles over resamples lie within the resolution of 200 exact resamples of theirs, 0.2
// of the share for shares of 200 draws and the theory's own error.
func TestQuantiles(t *testing.T) {
	for _, line := range []string{
		"estimate crabs --loss hinge --C 1", "estimate synthetic:friedman1,n=80 --loss square --noise 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1",
	} {
		a := decoded[struct {
			Points  report.Points
			Refined report.Refined
		}](t, line, "--quantiles 0.1,0.3,0.5,0.7,0.9")
		exact, theory := a.Refined.Points.Quantiles, a.Points.Quantiles
		if len(theory) != 5 || len(exact) != 5 {
			t.Fatalf("%s: %d and %d quantiles", line, len(theory), len(exact))
		}
		for row := range a.Points.Mean {
			for k := 1; k < 4; k++ {
				if q := theory[k][row]; !(exact[k-1][row]-1e-9 <= q && q <= exact[k+1][row]+1e-9) {
					t.Errorf("%s, row %d: quantile %d is %v, neighbours by exact resamples %v and %v", line,
						row+1, k, q, exact[k-1][row], exact[k+1][row])
				}
			}
		}
	}
}

// TestCovariances: covariances have the variances on the diagonal, at the rows of DATA and at new ones; those
// of several targets, and of several classes, are those of each alone, one below the other.
func TestCovariances(t *testing.T) {
	for _, line := range []string{"predict crabs --test crabs --loss hinge --C 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1"} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[report.Answer](t, line, "--covariance", npy)
		c := matrix(t, npy)
		for i, v := range a.Points.Variance {
			if math.Abs(c.At(i, i)/v-1) > 1e-6 || math.Abs(c.At(i, 0)-c.At(0, i)) > 1e-9 {
				t.Errorf("%s: covariances (%d, %d) %v, variance %v", line, i, i, c.At(i, i), v)
			}
		}
	}
	words := goldenTables(t, nil)
	for all, each := range map[string][]string{
		"predict ROWS --target y,z --drop w,g,s,label,kind --test NEW SQUARE --no-normalize-target": {
			"predict ROWS --target y --drop w,g,s,z,label,kind --test NEW SQUARE --no-normalize-target",
			"predict ROWS --target z --drop w,g,s,y,label,kind --test NEW SQUARE --no-normalize-target"},
		"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson": {
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive ash",
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive elm",
			"predict ROWS --target kind --drop s,z,label --test NEW HINGE --scheme poisson --positive oak"},
	} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[report.Answer](t, words.Replace(all), "--covariance", npy)
		together, n := matrix(t, npy), a.Count
		if rows, _ := together.Dims(); len(a.Covariance.Functions) != len(each) || rows != n*len(each) {
			t.Fatalf("%s: %d rows of %v", all, rows, a.Covariance.Functions)
		}
		for k, line := range each {
			decoded[report.Answer](t, words.Replace(line), "--covariance", npy)
			own := matrix(t, npy)
			for i := range n {
				for j := range n {
					if d := together.At(k*n+i, j) - own.At(i, j); math.Abs(d) > 1e-6*own.At(i, i) {
						t.Fatalf("%s: (%d, %d) differ by %v", line, i, j, d)
					}
				}
			}
		}
	}
}
