package calibration_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
)

// TestCompare: Student's table (2.262 at 9 degrees of freedom and level 0.95), the p-value at
// the interval's end, and the coverage of a true difference over 2000 draws of 12 examples,
// within three standard errors, 0.02.
func TestCompare(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, make([]float64, 10)
	compare := func(a, b []float64, level float64) *report.Difference {
		return calibration.Compare(report.Examples{Each: a}, report.Examples{Each: b}, level)
	}
	p := compare(a, b, 0.95)
	se := math.Sqrt(82.5/9) / math.Sqrt(10)
	if math.Abs(float64(p.Value)-5.5) > 1e-12 || math.Abs(float64(p.StandardError)-se) > 1e-12 ||
		math.Abs(float64(p.High)-5.5-2.2621572*se) > 1e-6 || math.Abs(float64(p.High+p.Low)-11) > 1e-9 {
		t.Errorf("%+v", p)
	}
	for i := range b {
		b[i] = float64(p.Low)
	}
	if q := compare(a, b, 0.95); math.Abs(float64(q.PValue)-0.05) > 1e-8 || math.Abs(float64(q.Low)) > 1e-9 {
		t.Errorf("at the end of the interval: %+v", q)
	}
	if q := compare(a, a, 0.95); q.PValue != 1 || q.Value != 0 {
		t.Errorf("a model and itself: %+v", q)
	}
	rng, held := rand.New(rand.NewPCG(2, 3)), 0.0
	for range 2000 {
		x, y := make([]float64, 12), make([]float64, 12)
		for i := range x {
			common := 5 * rng.NormFloat64()
			x[i], y[i] = common+rng.NormFloat64()+0.3, common
		}
		if q := compare(x, y, 0.9); q.Low <= 0.3 && 0.3 <= q.High {
			held += 1. / 2000
		}
	}
	if math.Abs(held-0.9) > 0.02 {
		t.Errorf("%v of the intervals hold the difference", held)
	}
}

// TestPairsCountOnce: with e_j = y_j mean(x) the mean error is mean(x) mean(y), all of whose variance 1/n^2
// is of pairs of examples. The jackknife has twice that on average; corrected, and with at least half of
// itself left, it has E max(T - 1, T/2) = 1.37 times it, T exponential with mean 2. Without interactions
// nothing is corrected, and Monte-Carlo noise comes on top.
func TestPairsCountOnce(t *testing.T) {
	const n, draws = 40, 3000
	rng := rand.New(rand.NewPCG(4, 5))
	var plain, corrected, noisy float64
	none := report.Examples{Each: make([]float64, n), Influence: make([]float64, n),
		Interactions: blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}}
	for range draws {
		var x, y [n]float64
		var meanX, meanY float64
		for i := range n {
			x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
			meanX, meanY = meanX+x[i]/n, meanY+y[i]/n
		}
		e := report.Examples{Each: make([]float64, n), Influence: make([]float64, n),
			Interactions: blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}}
		for i := range n {
			e.Each[i] = y[i] * meanX
			e.Influence[i] = (y[i]*meanX + x[i]*meanY - 2*meanX*meanY) / n
			for j := range n {
				e.Interactions.Data[i*n+j] = x[i] * y[j] / n
			}
		}
		squared := func(e report.Examples) float64 {
			return math.Pow(n*float64(calibration.Compare(e, none, 0.95).StandardError), 2) / draws
		}
		corrected += squared(e)
		e.Interactions = blas64.General{}
		plain += squared(e)
		e.Noise = 1. / (n * n)
		noisy += squared(e)
	}
	if math.Abs(plain-2) > 0.2 || math.Abs(corrected-1.37) > 0.15 || math.Abs(noisy-plain-1) > 1e-9 {
		t.Errorf("variances times n^2: %.3f by the jackknife, %.3f corrected, %.3f with noise", plain,
			corrected, noisy)
	}
}
