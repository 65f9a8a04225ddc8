package solver_test

import (
	"math"
	"testing"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestOutOfBag: an example alone at its input has the cavity's mean and
// Phi(mean/sd), the errors are those of these numbers, and for a convex loss
// they do not exceed the left-out errors.
func TestOutOfBag(t *testing.T) {
	for _, l := range []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 2}, loss.Square{Noise: 0.3}} {
		p := ordinaryMargin()
		p.Loss, p.Law = l, resample.Subsample{Size: 25, N: 40}
		s := mustConverge(t, p, solver.Settings{})
		bag := s.OutOfBag()
		wrong, missed, square := 0.0, 0.0, 0.0
		for i, cav := range s.Cavity {
			sameNumber(t, "mean", bag.Mean[i], cav.Mean, 1e-13)
			sameNumber(t, "vote", bag.Vote[i], 0.5*math.Erfc(-cav.Mean/math.Sqrt(2*cav.Var)), 1e-12)
			square += (cav.Mean - p.Y[i]) * (cav.Mean - p.Y[i]) / 40
			if cav.Mean*p.Y[i] <= 0 {
				wrong += 1. / 40
			}
			if (bag.Vote[i]-0.5)*p.Y[i] <= 0 {
				missed += 1. / 40
			}
		}
		got, each := bag.MeanLoss(loss.ZeroOne{})
		sameNumber(t, "error of the mean's sign", got, wrong, 1e-13)
		got, _ = bag.VoteError()
		sameNumber(t, "error of the vote", got, missed, 1e-13)
		got, _ = bag.MeanLoss(loss.SquareTest{})
		sameNumber(t, "square loss of the mean", got, square, 1e-12)
		if left, _ := s.LeftOut(loss.SquareTest{}); !(got < left) || len(each) != 40 {
			t.Errorf("%s: the ensemble's square loss %g is not below the average predictor's %g", l.Name(), got, left)
		}
	}
}

// TestIntervals: normal intervals by the printed quantiles of the normal law, and
// percentile intervals by the mass of the law within, just so if it has no atom
// at the ends. They cannot be the same under the square loss, where the law is a
// mixture, but are so for certain counts: one Gaussian.
func TestIntervals(t *testing.T) {
	for _, c := range []struct{ level, reach float64 }{{0.95, 1.9599639845400543}, {0.5, 0.6744897501960817},
		{0.99, 2.5758293035489008}} {
		got := solver.NormalInterval(3, 4, c.level)
		sameNumber(t, "low", got.Low, 3-2*c.reach, 1e-13)
		sameNumber(t, "high", got.High, 3+2*c.reach, 1e-13)
	}
	if i := solver.NormalInterval(1, 0, 0.9); i.Low != 1 || i.High != 1 || !holds(i, 1) || holds(i, 0.9) ||
		holds(i, 1.1) {
		t.Errorf("without variance: %v", i)
	}
	_, s := readable(t, 8)
	percentile, err := s.PercentileIntervals(0.9)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range percentile {
		law := s.Distribution(i)
		sameNumber(t, "mass below", law.CDF(p.Low), 0.05, 1e-9)
		sameNumber(t, "mass up to the upper end", law.CDF(p.High), 0.95, 1e-9)
		if !holds(p, law.Quantile(0.5)) {
			t.Errorf("site %d: the median outside of %v", i, p)
		}
	}
	p := ordinaryMargin()
	hard := mustConverge(t, p, solver.Settings{})
	percentile, err = hard.PercentileIntervals(0.9)
	if err != nil {
		t.Fatal(err)
	}
	atoms := 0
	for i, interval := range percentile {
		law := hard.Distribution(i)
		if interval.Low == p.Y[i] || interval.High == p.Y[i] {
			atoms++
		}
		if held := law.CDF(interval.High) - law.Prob(math.Inf(-1), interval.Low); held < 0.9-1e-12 {
			t.Errorf("site %d: %v holds %g", i, interval, held)
		}
	}
	if atoms == 0 {
		t.Error("no interval ends at its margin")
	}
	for _, level := range []float64{0, 1, -0.5, math.NaN()} {
		if _, err := s.PercentileIntervals(level); err == nil {
			t.Errorf("percentile intervals of level %v", level)
		}
	}
}

// TestSuits632: the bootstrap of ratio 1, by any sampler of many examples, and
// nothing that leaves out far more or fewer.
func TestSuits632(t *testing.T) {
	for _, c := range []struct {
		law  resample.CountDistribution
		want bool
	}{
		{resample.Poisson{Ratio: 1}, true}, {resample.Multinomial{Size: 30, N: 30}, true},
		{resample.Subsample{Size: 632, N: 1000}, true},
		{resample.Poisson{Ratio: 2}, false}, {resample.Poisson{Ratio: 0.5}, false},
		{resample.KFold{Folds: 10, N: 50}, false},
		{resample.Subsample{Size: 1, N: 2}, false},
	} {
		if got := solver.Is632Applicable(c.law); got != c.want {
			t.Errorf("%+v: %v", c.law, got)
		}
	}
}
