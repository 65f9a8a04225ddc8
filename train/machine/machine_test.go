package machine_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/machine"
)

const sites, examples, noise = 10, 12, 0.1

// fixture is a kernel matrix over points on a line and a set of examples with real weights, of which the
// first two sites hold two.
func fixture() (*linalg.Sym, train.Set) {
	rng := rand.New(rand.NewPCG(4, 12))
	k := linalg.ZeroSym(sites)
	for i := range sites {
		for j := range i + 1 {
			d := 0.4 * float64(i-j)
			k.Set(i, j, math.Exp(-d*d))
		}
	}
	set := train.Set{Weight: []float64{0.5, 0, 2.5, 1, 0, 3, 0.1, 1, 2, 0, 1, 0.7}}
	for i := range examples {
		set.Site = append(set.Site, i%sites)
		set.Y = append(set.Y, math.Sin(float64(i%sites))+0.3*rng.NormFloat64())
	}
	return k, set
}

// trained trains a machine on a set, after it has trained on another one.
func trained(t *testing.T, l loss.Loss, k linalg.Kernel, bias bool, tolerance float64, set train.Set) (
	machine.Algorithm, machine.Result) {
	t.Helper()
	m := testutil.Must(machine.For(l, k, bias, train.Settings{Tolerance: tolerance}))(t)
	trainer := testutil.Must(m.Trainer())(t)
	other := set
	other.Weight = slices.Repeat([]float64{1}, len(set.Y))
	testutil.Must(trainer(other))(t)
	return m.Algorithm, testutil.Must(trainer(set))(t)
}

// ownHinge is the hinge loss as a loss of the caller.
type ownHinge struct{ loss.Hinge }

// TestChoice: each loss has its algorithm, with the certificate of that and no other, and an answer that is
// near the objective of proximal Newton, whose minimum it shares unless it is a posterior mean.
func TestChoice(t *testing.T) {
	k, set := fixture()
	for i, site := range set.Site { // equal on equal inputs
		set.Y[i] = math.Copysign(1, math.Sin(float64(site)+0.5))
	}
	low := testutil.Must(linalg.PivotedCholesky(t.Context(), k, linalg.RankOptions{Tol: 1e-12}))(t)
	for _, c := range []struct {
		loss loss.Loss
		k    linalg.Kernel
		want machine.Algorithm
	}{
		{loss.Square{Noise: noise}, k, machine.Regression},
		{loss.Square{Noise: noise}, low, machine.Proximal},
		{loss.Hinge{C: 2}, k, machine.Margin}, {loss.Hinge{C: 2}, low, machine.Proximal},
		{loss.HardMargin{}, k, machine.Margin}, {loss.Logistic{C: 2}, k, machine.Proximal},
		{loss.Logistic{C: 2}, low, machine.Proximal}, {loss.Probit{}, k, machine.Posterior},
		{ownHinge{loss.Hinge{C: 2}}, k, machine.Proximal},
	} {
		bias := c.want != machine.Posterior
		set.Bias = false
		algorithm, got := trained(t, c.loss, c.k, bias, 1e-9, set)
		set.Bias = bias
		if algorithm != c.want || (got.SVM != nil) != (c.want == machine.Margin) ||
			(got.ERM != nil) != (c.want == machine.Proximal) ||
			(got.EP != nil) != (c.want == machine.Posterior) {
			t.Errorf("%s is trained by %s, with certificates %v, %v, %v", c.loss.Name(), algorithm, got.SVM,
				got.ERM, got.EP)
		}
		convex := loss.TraitsOf(c.loss).Proximal
		if convex == nil || loss.TraitsOf(c.loss).Dense {
			continue
		}
		if _, own := c.loss.(ownHinge); own {
			convex = loss.Hinge{C: 2}
		}
		tolerance := 1e-6
		if c.k == low {
			tolerance = 1e-4
		}
		newton := testutil.Must(erm.NewTrainer(k, convex))(t)
		want := testutil.Must(newton.Train(set, train.Settings{Tolerance: 1e-12}))(t)
		for i, v := range want.F {
			if math.Abs(got.F[i]-v) > tolerance {
				t.Errorf("%s by %s: site %d predicts %v, want %v", c.loss.Name(), algorithm, i, got.F[i], v)
			}
		}
	}
}

// TestWeights: weights of examples scale C, with the weights of classes and with a bias.
func TestWeights(t *testing.T) {
	k, set := fixture()
	scaled := set
	scaled.Y, scaled.Weight = nil, nil
	for i, y := range set.Y {
		scaled.Y = append(scaled.Y, math.Copysign(1, y))
		scaled.Weight = append(scaled.Weight, set.Weight[i]/4)
	}
	set.Y = scaled.Y
	classes := loss.ClassWeights{Negative: 2, Positive: 0.5}
	for _, of := range []func(c float64) loss.Loss{
		func(c float64) loss.Loss { return loss.Hinge{C: c, ClassWeights: classes} },
		func(c float64) loss.Loss { return loss.Logistic{C: c, ClassWeights: classes} },
	} {
		_, want := trained(t, of(1), k, true, 1e-9, set)
		algorithm, got := trained(t, of(4), k, true, 1e-9, scaled)
		if (got.SVM == nil) == (algorithm == machine.Margin) {
			t.Errorf("%s has the certificate %v", algorithm, got.SVM)
		}
		for i, v := range want.F {
			if math.Abs(got.F[i]-v) > 1e-6*(1+math.Abs(v)) {
				t.Errorf("%s: site %d predicts %v at C = 4 and a quarter of the weights, %v at C = 1",
					algorithm, i, got.F[i], v)
			}
		}
	}
}

// TestRefusals: what cannot be trained with is refused when a machine or its trainer is made, or by its set.
func TestRefusals(t *testing.T) {
	k, set := fixture()
	set.Y = slices.Repeat([]float64{1}, examples)
	set.Y[10], set.Weight[0] = -1, 1 // examples 1 and 11 are on one site
	square := loss.Square{Noise: noise}
	for name, c := range map[string]struct {
		loss loss.Loss
		k    linalg.Kernel
		bias bool
	}{
		"no loss":                   {nil, k, false},
		"no kernel matrix":          {square, nil, false},
		"a nil kernel matrix":       {square, (*linalg.Sym)(nil), false},
		"a negative noise":          {loss.Square{Noise: -1}, k, false},
		"a bias of a posterior":     {loss.Probit{}, k, true},
		"a loss without a trainer":  {struct{ loss.Loss }{square}, k, false},
		"a hard margin on a factor": {loss.HardMargin{}, &linalg.LowRankPlusDiag{}, false},
		"contradicting hard labels": {loss.HardMargin{}, k, false},
	} {
		m, err := machine.For(c.loss, c.k, c.bias, train.Settings{})
		if err != nil {
			continue
		}
		trainer, err := m.Trainer()
		if err == nil {
			_, err = trainer(set)
		}
		if err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// TestBadSets: every algorithm refuses sets that do not fit and settings out of range, with the reason; only
// hard margins have infinite weights.
func TestBadSets(t *testing.T) {
	k, good := fixture()
	for i, y := range good.Y {
		good.Y[i] = math.Copysign(1, y)
	}
	for says, spoil := range map[string]func(p *train.Set, s *train.Settings){
		"11 weights do not fit 12":     func(p *train.Set, _ *train.Settings) { p.Weight = p.Weight[1:] },
		"example 3 is on site 0 of 10": func(p *train.Set, _ *train.Settings) { p.Site[2] = -1 },
		"example 4 is NaN":             func(p *train.Set, _ *train.Settings) { p.Y[3] = math.NaN() },
		"weight of example 6 is -1":    func(p *train.Set, _ *train.Settings) { p.Weight[5] = -1 },
		"weight of example 6 is NaN":   func(p *train.Set, _ *train.Settings) { p.Weight[5] = math.NaN() },
		"weight of example 6 is +Inf":  func(p *train.Set, _ *train.Settings) { p.Weight[5] = math.Inf(1) },
		"tolerance must be positive":   func(_ *train.Set, s *train.Settings) { s.Tolerance = math.NaN() },
		"limit must be positive":       func(_ *train.Set, s *train.Settings) { s.Limit = -1 },
	} {
		for _, l := range []loss.Loss{loss.Square{Noise: noise}, loss.Hinge{C: 1}, loss.Logistic{C: 1},
			loss.Probit{}} {
			s, set := train.Settings{}, train.Set{Y: slices.Clone(good.Y), Site: slices.Clone(good.Site),
				Weight: slices.Clone(good.Weight)}
			spoil(&set, &s)
			m := testutil.Must(machine.For(l, k, false, s))(t)
			_, err := testutil.Must(m.Trainer())(t)(set)
			// regression has no settings, and a margin no upper limit of its weights
			passes := m.Algorithm == machine.Regression && s != train.Settings{} ||
				m.Algorithm == machine.Margin && math.IsInf(set.Weight[5], 1)
			if passes != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v does not say %q", m.Algorithm, err, says)
			}
		}
	}
}
