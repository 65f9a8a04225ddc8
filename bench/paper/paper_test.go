package paper

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// small is an experiment on 30 examples and two new inputs.
func small(t *testing.T) *experiment {
	t.Helper()
	set := need.One(dataset.Load("synthetic:friedman1,n=30,d=5", dataset.Options{}))(t)
	m := need.One(model.Build(model.Spec{Set: set, Standardize: true, Loss: loss.Square{Noise: 1},
		Kernel: kernel.Spec{Kind: kernel.RBF, Amplitude: 25}}))(t)
	cross := need.One(m.CrossAll(blas64.General{Rows: 2, Cols: 5, Stride: 5, Data: []float64{0.5, 0.5, 0.5, 0.5,
		0.5, 0.1, 0.9, 0.2, 0.3, 0.4}}))(t)
	return &experiment{model: m, scheme: resample.Poisson{Ratio: 1},
		tests: []loss.Test{loss.SquareTest{}}, cross: cross, bins: true}
}

// TestCancel: a run that is called off ends with the error of its context.
func TestCancel(t *testing.T) {
	x := small(t)
	ctx, stop := context.WithCancel(context.Background())
	r := need.One(newRun(ctx, Settings{Progress: func(_ string, done, _ int) {
		if done > blockSize+10 {
			stop()
		}
	}}))(t)
	if _, err := r.retrain(x, "small", 500); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestReference: averages and histograms are those of the predictions, resample
// by resample.
func TestReference(t *testing.T) {
	x := small(t)
	r := need.One(newRun(context.Background(), Settings{Seed: 5}))(t)
	ref := need.One(r.retrain(x, "small", 2*blockSize-1))(t)
	if ref.Resamples != 2*blockSize {
		t.Fatalf("%d resamples", ref.Resamples)
	}
	var all [][]float64
	for number := range 2 {
		keep := func(_ int, _, f []float64) { all = append(all, slices.Clone(f)) }
		_, err := x.model.Retrain(context.Background(), x.scheme, model.RetrainSettings{
			Settings: retrain.Settings{Resamples: blockSize, OnFit: keep},
			Seed:     5 ^ (uint64(number)+1)*0x9e3779b97f4a7c15, Cross: x.cross})
		if err != nil {
			t.Fatal(err)
		}
	}
	for place := range all[0] {
		mean, negative := 0.0, 0.0
		for _, f := range all {
			mean += f[place] / float64(len(all))
			if f[place] < 0 {
				negative += 1 / float64(len(all))
			}
		}
		if math.Abs(mean-ref.Mean[place]) > 1e-12*math.Abs(mean)+1e-13 ||
			math.Abs(negative-ref.negative[place]) > 1e-12 {
			t.Fatalf("place %d: mean %v, %v; negative %v, %v", place, mean, ref.Mean[place], negative,
				ref.negative[place])
		}
		for _, offset := range []float64{0, 0.1} {
			first, shares := ref.histogram(place, 0.2, offset, -1)
			for i, share := range shares {
				low, count := float64(first+i)*0.2+offset, 0.0
				for _, f := range all {
					// A prediction on an edge has probability zero.
					if f[place] >= low && f[place] < low+0.2 {
						count += 1 / float64(len(all))
					}
				}
				if math.Abs(count-share) > 1e-12 {
					t.Fatalf("place %d, offset %v, bin from %v: %v, want %v", place, offset, low, share, count)
				}
			}
		}
	}
}

// TestDistance: against a histogram of one bin, the distance is the mass of the
// law outside of it.
func TestDistance(t *testing.T) {
	ref := &Reference{Resamples: blockSize, blocks: []block{{Bins: []map[int32]int32{{0: 60, 1: 40}}}}}
	law := gaussian(0.1, 0.04) // standard deviation 0.2
	inside := math.Erf(0.5 / math.Sqrt2)
	if got := ref.distance(0, law, 0, -1); math.Abs(got-(1-inside)) > 1e-12 {
		t.Errorf("distance %v, want %v", got, 1-inside)
	}
	// Edges at odd multiples of 0.1 split it: shares 0.6 and 0.4 against half each
	// of the mass within one standard deviation.
	within := math.Erf(1/math.Sqrt2) / 2
	if got, want := ref.distance(0, law, 0.1, -1),
		(math.Abs(0.6-within)+math.Abs(0.4-within)+1-2*within)/2; math.Abs(got-want) > 1e-12 {
		t.Errorf("distance %v with shifted bins, want %v", got, want)
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
	r := need.One(newRun(context.Background(), Settings{Resamples: 100}))(t)
	c := need.One(r.curve(spec, loss.ZeroOne{}, []solver.Method{solver.ADATAP}))(t)
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
	if _, err := HeldOut(context.Background(), Settings{Resamples: -1}); !errors.Is(err, model.ErrInput) {
		t.Errorf("negative resamples: %v", err)
	}
	set := need.One(dataset.Load("synthetic:friedman1,n=600,d=6", dataset.Options{}))(t)
	if _, err := Robot(set); !errors.Is(err, model.ErrInput) {
		t.Errorf("a set of 6 features for the robot arm: %v", err)
	}
}
