package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestLaw: shares are of the values in the bins; against a histogram of one bin, the distance
// is the mass of the law outside of it.
func TestLaw(t *testing.T) {
	first, shares := histogram([]float64{-0.35, -0.1, -0.05, 0.3}, 0.2)
	if first != -2 || len(shares) != 4 || shares[0] != 0.25 || shares[1] != 0.5 || shares[2] != 0 ||
		shares[3] != 0.25 {
		t.Errorf("from %d: %v", first, shares)
	}
	l := compareLaw(7, loss.Normal(0.1, 0.04), []float64{0.05, 0.15, 0.19}, 0.2)
	inside := math.Erf(0.5 / math.Sqrt2)
	if math.Abs(l.distance-(1-inside)) > 1e-12 || math.Abs(l.theory[0]*0.2-inside) > 1e-12 ||
		math.Abs(l.retrained[0]-5) > 1e-12 || l.place != 7 {
		t.Errorf("%+v, want distance %v", l, 1-inside)
	}
}

// TestPeaks counts the maxima of the law of a site, a Gaussian for each count of its examples.
func TestPeaks(t *testing.T) {
	for want, y := range [][]float64{1: {0}, 2: {10}, 3: {30, 30}} {
		if y == nil {
			continue
		}
		site := testutil.Must(loss.Square{Noise: 1}.Site(y, resample.Bernoulli{Rate: 0.5}))(t)
		if got := peaks(site.Distribution(loss.Cavity{C: 1, Var: 1})); got != want {
			t.Errorf("%d peaks, want %d", got, want)
		}
	}
}

// TestGaps: where a method has no solution, its line has a gap and keeps its other points.
func TestGaps(t *testing.T) {
	spec := model.Spec{Set: testutil.Must(dataset.Load("synthetic:waves,n=80,d=2", dataset.Options{}))(t),
		Kernel: kernel.Spec{Kind: kernel.RBF, Gamma: 0.1}, Loss: loss.Square{Noise: 1e-4}, Standardize: true}
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	line, gaps := theoryLine(t.Context(), m, loss.SquareTest{}, solver.StartOnly), 0
	for i, ratio := range theoryRatios {
		s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: ratio},
			solver.Settings{Method: solver.StartOnly}))(t)
		if s.Status != solver.Converged {
			gaps++
		}
		if line.X[i] != ratio || math.IsNaN(line.Y[i]) != (s.Status != solver.Converged) {
			t.Errorf("ratio %v: %s, drawn at %v: %v", ratio, s.Status, line.X[i], line.Y[i])
		}
	}
	if gaps == 0 || gaps == len(theoryRatios) {
		t.Errorf("%d gaps", gaps)
	}
}

// TestFluctuations: averages of Gaussian predictions of variance v over m of them fluctuate by sqrt(v/m),
// their variances by v sqrt(2/(m-1)); an input without spread adds nothing.
func TestFluctuations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	predictions := [][]float64{make([]float64, 40010), make([]float64, 40010)}
	for i := range predictions[0] {
		predictions[0][i], predictions[1][i] = 10+3*rng.NormFloat64(), 5
	}
	of := fluctuations(predictions)
	mean, variance := 3/math.Sqrt(fewResamples), 9*math.Sqrt(2./(fewResamples-1))
	for k, want := range []fluctuation{{mean, mean / 10}, {variance, variance / 9}} {
		if math.Abs(of[k].sd/want.sd-1) > 0.1 || math.Abs(of[k].share/want.share-1) > 0.1 {
			t.Errorf("%+v, want %+v", of[k], want)
		}
	}
}

// TestCurve: the theory's line is the same by single solves, and the sides agree within the errors.
func TestCurve(t *testing.T) {
	p := &paperRun{resamples: 100}
	spec := p.preset("crabs")
	line, dots := p.bothSides(t.Context(), spec, loss.ZeroOne{}, 0)
	if len(line.X) != len(theoryRatios) || len(dots.X) != len(naiveRatios) {
		t.Fatalf("%d and %d points", len(line.X), len(dots.X))
	}
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	leftOut := func(ratio float64) float64 {
		s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: ratio}, solver.Settings{}))(t)
		error, _ := s.LeftOut(loss.ZeroOne{})
		return error
	}
	if want := leftOut(theoryRatios[9]); math.Abs(line.Y[9]-want) > 1e-5 {
		t.Errorf("error %v at ratio %v, want %v", line.Y[9], line.X[9], want)
	}
	for i, ratio := range dots.X[:5] {
		want := leftOut(ratio)
		// 4 standard errors, and 15% that the theory may be off on this set.
		if math.Abs(dots.Y[i]-want) > 2*dots.Err[i]+0.15*want {
			t.Errorf("ratio %v: retrained %v +- %v, theory %v", ratio, dots.Y[i], dots.Err[i]/2, want)
		}
	}
}
