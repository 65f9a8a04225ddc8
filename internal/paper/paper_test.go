package paper

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// small is a model of 30 examples, and the kernel rows of two new inputs.
func small(t *testing.T) (*model.Model, blas64.General) {
	t.Helper()
	set := need.One(dataset.Load("synthetic:friedman1,n=30,d=5", dataset.Options{}))(t)
	m := need.One(model.Build(model.Spec{Set: set, Standardize: true, Loss: loss.Square{Noise: 1},
		Kernel: kernel.Spec{Kind: kernel.RBF, Amplitude: 25}}))(t)
	return m, need.One(m.CrossAll(model.Dense(blas64.General{Rows: 2, Cols: 5, Stride: 5,
		Data: []float64{0.5, 0.5, 0.5, 0.5,
			0.5, 0.1, 0.9, 0.2, 0.3, 0.4}})))(t)
}

// TestReference: averages and histograms are those of the predictions, resample
// by resample; what is called off ends with the error of its context.
func TestReference(t *testing.T) {
	m, cross := small(t)
	scheme := resample.Poisson{Ratio: 1}
	ref := need.One(Settings{Seed: 5, Resamples: 20}.retrain(t.Context(), m, scheme, loss.SquareTest{}, cross,
		10))(t)
	var all [][]float64
	if _, err := refit.RetrainSingly(t.Context(), m, scheme, refit.RetrainSettings{Seed: 5, Cross: cross,
		Settings: retrain.Settings{Resamples: 200, OnFit: func(_ int, _, f []float64) {
			all = append(all, slices.Clone(f))
		}}}); err != nil || ref.Resamples != 200 {
		t.Fatal(ref.Resamples, err)
	}
	for place := range all[0] {
		negative := 0.0
		for _, f := range all {
			if f[place] < 0 {
				negative += 1 / float64(len(all))
			}
		}
		if math.Abs(negative-ref.negative[place]) > 1e-12 {
			t.Fatalf("place %d: negative %v, %v", place, negative, ref.negative[place])
		}
		first, shares := ref.histogram(place, 0.2)
		for i, share := range shares {
			low, count := float64(first+i)*0.2, 0.0
			for _, f := range all {
				// A prediction on an edge has probability zero.
				if f[place] >= low && f[place] < low+0.2 {
					count += 1 / float64(len(all))
				}
			}
			if math.Abs(count-share) > 1e-12 {
				t.Fatalf("place %d, bin from %v: %v, want %v", place, low, share, count)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (Settings{}).retrain(ctx, m, scheme, loss.SquareTest{}, cross, 1); !errors.Is(err,
		context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDistance: against a histogram of one bin, the distance is the mass of the
// law outside of it.
func TestDistance(t *testing.T) {
	ref := &Reference{Result: &retrain.Result{Resamples: 100}, bins: []map[int]int{{0: 60, 1: 40}}}
	inside := math.Erf(0.5 / math.Sqrt2)
	if got := ref.distance(0, loss.Normal(0.1, 0.04)); math.Abs(got-(1-inside)) > 1e-12 {
		t.Errorf("distance %v, want %v", got, 1-inside)
	}
}

// TestPeaks counts the maxima of mixtures.
func TestPeaks(t *testing.T) {
	mixture := func(means ...float64) loss.Distribution {
		var l loss.Distribution
		for _, m := range means {
			l.Pieces = append(l.Pieces, loss.TruncatedNormal{Weight: 1 / float64(len(means)), Mean: m, SD: 1,
				Lo: math.Inf(-1), Hi: math.Inf(1)})
		}
		return l
	}
	for want, l := range map[int]loss.Distribution{1: mixture(0), 2: mixture(0, 5), 3: mixture(-6, 0, 5)} {
		if got := peaks(l); got != want {
			t.Errorf("%d peaks, want %d", got, want)
		}
	}
}

// TestCurve: the theory's line is that of single solves, and the sides agree
// within the errors.
func TestCurve(t *testing.T) {
	spec := need.One(embedded("crabs"))(t)
	c := need.One(LearningCurve(t.Context(), spec, loss.ZeroOne{}, []solver.Method{solver.ADATAP},
		Settings{Resamples: 100}))(t)
	if len(c.Theory) != len(theoryRatios) || len(c.Naive) != len(naiveRatios) {
		t.Fatalf("%d and %d points", len(c.Theory), len(c.Naive))
	}
	m := need.One(model.Build(spec))(t)
	s := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: theoryRatios[9]}, solver.Settings{}))(t)
	if want, _ := s.LeftOut(loss.ZeroOne{}); math.Abs(c.Theory[9].Error-want) > 1e-5 {
		t.Errorf("error %v at ratio %v, want %v", c.Theory[9].Error, c.Theory[9].Ratio, want)
	}
	for _, p := range c.Naive[:5] {
		own := need.One(m.Solve(context.Background(), resample.Poisson{Ratio: p.Ratio}, solver.Settings{}))(t)
		want, _ := own.LeftOut(loss.ZeroOne{})
		// 4 standard errors, and 15% that the theory may be off on this set.
		if math.Abs(p.Error-want) > 4*p.SE+0.15*want {
			t.Errorf("ratio %v: retrained %v +- %v, theory %v", p.Ratio, p.Error, p.SE, want)
		}
	}
}

// TestRefusals: what cannot be computed is bad input.
func TestRefusals(t *testing.T) {
	set := need.One(dataset.Load("synthetic:friedman1,n=600,d=6", dataset.Options{}))(t)
	if _, err := Robot(set); !errors.Is(err, model.ErrInput) {
		t.Errorf("a set of 6 features for the robot arm: %v", err)
	}
}
