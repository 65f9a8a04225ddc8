package loss

import (
	"math"
	"slices"
	"testing"

	"bootbench/resample"

	"pgregory.net/rapid"
)

// tabular is a likelihood with tables, targets and parameters at random.
func tabular(t *rapid.T) (l tabulable, y []float64) {
	y = []float64{1, -1}
	l = Probit{}
	if rapid.Bool().Draw(t, "logit") {
		l = Logit{}
	}
	return l, y[:rapid.IntRange(1, 2).Draw(t, "targets")]
}

// power is 10 to a power at random.
func power(t *rapid.T, what string, lo, hi float64) float64 {
	return math.Pow(10, rapid.Float64Range(lo, hi).Draw(t, what))
}

// cavityOf draws a cavity around the first target or up to 30 of its widths
// away, of a spread that is from wide to narrow in that width.
func cavityOf(t *rapid.T, y, least, most float64) Cavity {
	c := power(t, "log c", -3, 3)
	s := power(t, "log spread", least, most) / math.Sqrt(c)
	away := rapid.Float64Range(-30, 30).Draw(t, "away") * rapid.Float64Range(0, 1).Draw(t, "share")
	return Cavity{C: c, Mean: y + away/math.Sqrt(c), Var: s * s}
}

// TestTable holds the predictor by shared nodes to TiltedMoments, at fields all
// over the cavity, narrow, wide or with its targets far out. TiltedMoments are
// within 1e-9; what the table adds is weighted by the probability, or not.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, y := tabular(t)
		x := newSmoothMixture(tabulated(l), y, resample.Poisson{Ratio: power(t, "log nu", -1, 0.3)})
		cav := cavityOf(t, y[0], -3, 1)
		s := math.Sqrt(cav.Var)
		f, slope := make([]float64, len(x.P)), make([]float64, len(x.P))
		h := cav.Mean + s*rapid.Float64Range(-8, 8).Draw(t, "z")
		newQuadTable(x, cav.C, cav.Mean, 8*s, x.P).all(h, f, slope)
		even := newQuadTable(x, cav.C, cav.Mean, 8*s, slices.Repeat([]float64{1}, len(x.P)))
		off := 0.0
		for i, p := range x.P {
			_, mean, variance := l.TiltedMoments(cav.C, h, x.Targets, x.Row(i))
			off += p * (math.Abs(f[i]-mean)*math.Sqrt(cav.C) + math.Abs(slope[i]-cav.C*variance))
			f, slope := even.alone(i, h)
			if math.Abs(f-mean)*math.Sqrt(cav.C) > 2e-9 || math.Abs(slope-cav.C*variance) > 1e-8*math.Max(1, slope) {
				t.Fatalf("%+v %v %+v at %g, counts %v: %.12g, slope %.12g; alone %.12g, %.12g",
					l, y, cav, h, x.Row(i), f, slope, mean, cav.C*variance)
			}
		}
		if !(off < 3e-9) {
			t.Fatalf("%+v %v %+v at %g: the predictors are off by %g", l, y, cav, h, off)
		}
	})
}

// TestJointMoments holds the moments by tables to the sum over counts of integrals
// by TiltedMoments. Both stop where the predictor's own error, in units of the
// posterior without examples, would tell.
func TestJointMoments(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	rapid.Check(t, func(t *rapid.T) {
		l, y := tabular(t)
		x := newSmoothMixture(tabulated(l), y, resample.Poisson{Ratio: power(t, "log nu", -1, -0.3)})
		cav := cavityOf(t, y[0], -3, 0)
		got, want := x.jointMoments(cav), x.perCountMoments(cav)
		sd := math.Sqrt(want.Var + cav.Var + 1/cav.C)
		if !(math.Abs(got.Mean-want.Mean) <= 5e-9*sd && math.Abs(got.Var-want.Var) <= 1e-8*sd*sd &&
			math.Abs(got.Response-want.Response) <= 1e-8 && math.Abs(got.Shrinkage-want.Shrinkage) <= 1e-8) {
			t.Fatalf("%+v %v %+v: %+v, apart %+v", l, y, cav, got, want)
		}
	})
}

// countedLikelihood counts the calls of TiltedMoments.
func countedLikelihood(l tabulable) (e predictor, calls *int) {
	e, calls = tabulated(l), new(int)
	plain := e.at
	e.at = func(c, h float64, y, k []float64) (f, slope float64) {
		*calls++
		return plain(c, h, y, k)
	}
	return e, calls
}

// TestTableLimits: shared nodes do for all of an ordinary cavity; too coarse a
// step is refined; and where the nodes would be too many, TiltedMoments stand in.
func TestTableLimits(t *testing.T) {
	law := resample.Poisson{Ratio: 1}
	for _, l := range []tabulable{Probit{}, Logit{}} {
		at, calls := countedLikelihood(l)
		x := newSmoothMixture(at, []float64{1}, law)
		f, slope := make([]float64, len(x.P)), make([]float64, len(x.P))
		near := func(what string, h, c float64) {
			for i, p := range x.P {
				_, want, _ := l.TiltedMoments(c, h, x.Targets, x.Row(i))
				if p*math.Abs(f[i]-want)*math.Sqrt(c) > 2e-9 {
					t.Errorf("%s, %s: count %v gives %.12g, alone %.12g", l.Name(), what, x.Row(i), f[i], want)
				}
			}
		}
		for _, cav := range []Cavity{{2, 0.3, 0.4}, {0.1, -3, 9}, {50, 2, 0.01}} {
			x.moments(cav)
		}
		if *calls > 0 {
			t.Errorf("%s took %d integrals by themselves", l.Name(), *calls)
		}
		table := newQuadTable(x, 2, 0.3, 5, x.P)
		b := table.panelOf(0)
		b.step = 1.2
		b.fill()
		table.all(0, f, slope)
		if b.refined == 0 || b.failed {
			t.Errorf("%s: refined %d times, failed %v", l.Name(), b.refined, b.failed)
		}
		near("refined", 0, 2)
		for !b.failed {
			b.refine()
		}
		table.all(0, f, slope)
		if *calls != len(x.P) {
			t.Errorf("%s: %d integrals by themselves for %d combinations", l.Name(), *calls, len(x.P))
		}
		near("failed", 0, 2)
	}
	at, calls := countedLikelihood(Probit{})
	x := newSmoothMixture(at, []float64{1}, law)
	f, slope := make([]float64, len(x.P)), make([]float64, len(x.P))
	newQuadTable(x, 1e-3, -1500, 1, x.P).all(-1500, f, slope)
	if *calls != len(x.P) {
		t.Errorf("far out, %d integrals by themselves for %d combinations", *calls, len(x.P))
	}
}
