package leaveout

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/svm"
)

// twins is a problem of m random sites in the plane with n examples on them.
func twins(t *testing.T, rng *rand.Rand, m, n int, c float64, bias bool) (*linalg.Sym, Problem) {
	x := linalg.NewMatrix(m, 2)
	for i := range m {
		x.Data[i*x.Stride], x.Data[i*x.Stride+1] = rng.NormFloat64(), rng.NormFloat64()
	}
	prepared := testutil.Must(kernel.Spec{Gamma: 0.5}.Prepare(linalg.Design{X: x}))(t)
	k := testutil.Must(prepared.Gram(t.Context()))(t)
	p := Problem{Kernel: rows(t, k), C: c,
		Set: train.Set{Y: make([]float64, n), Site: make([]int, n), Bias: bias}}
	for i := range n {
		p.Site[i] = rng.IntN(m)
		p.Y[i] = 1
		if x.Data[p.Site[i]*x.Stride]+0.7*rng.NormFloat64() < 0.2 {
			p.Y[i] = -1
		}
	}
	p.Y[0], p.Y[1] = 1, -1
	return k, p
}

// TestSharedSites: examples that share sites, also with both labels on one and with weights, have
// the margins that retraining without them gives. Fast skips rightly there,
// xi-alpha bounds, and so they do without a bias.
func TestSharedSites(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 31))
	skipped := 0
	for round := range 40 {
		for _, bias := range []bool{false, true} {
			c := math.Exp(2 * rng.NormFloat64())
			k, p := twins(t, rng, 12, 20, c, bias)
			if round%2 == 1 {
				p.Weight = make([]float64, len(p.Y))
				for i := range p.Weight {
					p.Weight[i] = 0.1 + 3*rng.Float64()
				}
			}
			want := retrained(t, k, p)
			exact := run(t, p, Settings{Tolerance: 1e-9})
			fast := run(t, p, Settings{Method: Fast, Tolerance: 1e-9})
			bound := run(t, p, Settings{Method: XiAlpha, Tolerance: 1e-9})
			skipped += fast.Skipped
			losses := make([]float64, len(want))
			for i, margin := range want {
				losses[i] = loss.ZeroOne{}.Value(margin, 1)
			}
			if e := stat.Mean(losses, p.Weight); math.Abs(exact.Error-e) > 1e-12 && len(exact.Ties) == 0 {
				t.Errorf("C %v, bias %v: error %v, retrained %v", c, bias, exact.Error, e)
			}
			for i, margin := range want {
				if math.Abs(exact.Margin[i]-margin) > 1e-6 {
					t.Errorf("C %v, bias %v, example %d: margin %v, retrained %v", c, bias, i,
						exact.Margin[i], margin)
				}
				if wrong := !(margin > 0); math.Abs(margin) > 1e-6 &&
					(fast.Loss[i] == 1 != wrong || wrong && bound.Loss[i] != 1) {
					t.Errorf("C %v, bias %v, example %d: margin %v, %v and %v", c, bias, i, margin,
						fast.Loss[i], bound.Loss[i])
				}
			}
		}
	}
	if skipped < 200 {
		t.Errorf("only %d skipped", skipped)
	}
}

// TestApproximateWhereExact: as long as leaving an example out changes no other
// weight's side, the approximation is no approximation. Many examples of random
// problems are such: their sides are compared after retraining.
func TestApproximateWhereExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 32))
	compared := map[string]int{}
	for range 60 {
		for _, bias := range []bool{false, true} {
			c := math.Exp(2 * rng.NormFloat64())
			k, p := twins(t, rng, 14, 18, c, bias)
			approx := run(t, p, Settings{Method: Approximate, Tolerance: 1e-10})
			q := train.Set{Y: p.Y, Site: p.Site, Weight: make([]float64, len(p.Y)), Bias: bias}
			for i := range q.Weight {
				q.Weight[i] = c
			}
			full := mustTrain(t, k, q)
			for i := range p.Y {
				q.Weight[i] = 0
				left := mustTrain(t, k, q)
				q.Weight[i] = c
				same, kind := sameSides(full, left, p, i)
				if !same {
					continue
				}
				compared[kind]++
				if want := p.Y[i] * left.F[p.Site[i]]; math.Abs(approx.Margin[i]-want) > 1e-6 {
					t.Errorf("C %v, bias %v, %s example %d: margin %v, retrained %v", c, bias, kind, i,
						approx.Margin[i], want)
				}
			}
		}
	}
	if compared["free"] < 50 || compared["bounded"] < 50 {
		t.Errorf("compared %v", compared)
	}
}

func mustTrain(t *testing.T, k *linalg.Sym, q train.Set) *svm.Result {
	r, err := svm.NewTrainer(rows(t, k)).Train(q, train.Settings{Tolerance: 1e-10})
	if err != nil || r.Status != train.Converged {
		t.Fatal(err, r.Status)
	}
	return r
}

// sameSides reports whether all examples on other sites keep their side, with a
// free one among them, and what example i, alone on its site, was.
func sameSides(full, left *svm.Result, p Problem, i int) (same bool, kind string) {
	side := func(a float64) string {
		switch {
		case a <= 0:
			return "outside"
		case a >= p.C*(1-1e-12):
			return "bounded"
		}
		return "free"
	}
	free := false
	for j, a := range full.Alpha {
		if j == i {
			continue
		}
		if p.Site[j] == p.Site[i] || side(a) != side(left.Alpha[j]) {
			return false, ""
		}
		free = free || side(a) == "free"
	}
	return free, side(full.Alpha[i])
}

// TestNothingHoldsTheBias: of 2 + 2 far points with a small C all weights are at
// their bound and the bias is anywhere in an interval. Leaving one out sends it
// to the end where that one is wrong, which the approximation cannot see; fast
// must not skip.
func TestNothingHoldsTheBias(t *testing.T) {
	k := linalg.ZeroSym(4)
	k.AddDiag(1)
	p := Problem{Kernel: rows(t, k), C: 0.1, Set: train.Set{Y: []float64{1, 1, -1, -1}, Bias: true}}
	for _, m := range []Method{Exact, Fast} {
		if r := run(t, p, Settings{Method: m}); r.Errors != 4 || r.Retrained != 4 {
			t.Errorf("%v: %d errors, %d retrained", m, r.Errors, r.Retrained)
		}
	}
	r := run(t, p, Settings{Method: Approximate})
	for i, m := range r.Margin { // the weight goes to the nearest other point
		if math.Abs(m-(0.1-0.1*2)) > 1e-12 {
			t.Errorf("margin %v of example %d", m, i)
		}
	}
}

func TestCancel(t *testing.T) {
	k, y := embedded(t, "crabs", 1)
	ctx, cancel := context.WithCancel(context.Background())
	last := 0
	r, err := Estimate(ctx, Problem{Kernel: rows(t, k), C: 1, Set: train.Set{Y: y, Bias: true}},
		Settings{Progress: func(done, total int) {
			if last = max(last, done); done == 40 {
				cancel()
			}
			if total != len(y) {
				t.Errorf("%d of %d", done, total)
			}
		}})
	if err != nil || r.Status != Cancelled {
		t.Fatal(err, r.Status)
	}
	pending, wrong := 0, 0
	for _, loss := range r.Loss {
		if math.IsNaN(loss) {
			pending++
		} else if loss == 1 {
			wrong++
		}
	}
	if pending != len(y)-r.Retrained || r.Retrained < 40 || last != r.Retrained || wrong != r.Errors ||
		r.Skipped != 0 {
		t.Errorf("%d pending, %d retrained, %d told, %d wrong of %d", pending, r.Retrained, last, wrong,
			r.Errors)
	}
}

// TestInexact: a retraining that misses its tolerance is reported.
func TestInexact(t *testing.T) {
	k := linalg.ZeroSym(2)
	e := &estimate{problem: Problem{Set: train.Set{Y: []float64{1, -1}}}, trainer: svm.NewTrainer(rows(t, k)),
		full:   &svm.Result{},
		result: Result{Loss: make([]float64, 2), Margin: make([]float64, 2)}}
	e.retrain(context.Background(), []int{1}) // the trainer has no solution to start from
	if r := e.finish(); r.Status != Inexact {
		t.Errorf("%v", r.Status)
	}
}

// TestInseparable: a hard margin that no predictor has is an error, with its cause.
func TestInseparable(t *testing.T) {
	k := linalg.ZeroSym(2)
	k.AddDiag(1)
	var infeasible *svm.InfeasibleError
	p := Problem{Kernel: rows(t, k), C: hard,
		Set: train.Set{Y: []float64{1, -1, 1}, Site: []int{0, 0, 1}, Bias: true}}
	if _, err := Estimate(context.Background(), p, Settings{}); !errors.As(err, &infeasible) {
		t.Errorf("error %v", err)
	}
	for i := range 2 { // one direction for both
		for j := range 2 {
			k.Set(i, j, 1)
		}
	}
	p = Problem{Kernel: rows(t, k), C: hard, Set: train.Set{Y: []float64{1, -1}, Bias: true}}
	if _, err := Estimate(context.Background(), p, Settings{}); !errors.Is(err, train.Diverged.Err()) {
		t.Errorf("error %v", err)
	}
}

// TestTies: with K = I no example tells anything of another, every left-out f is
// exactly 0, and a tie counts half an error: as often right as wrong.
func TestTies(t *testing.T) {
	k := linalg.ZeroSym(6)
	k.AddDiag(1)
	p := Problem{Kernel: rows(t, k), C: hard, Set: train.Set{Y: []float64{1, -1, 1, 1, -1, -1}}}
	for _, m := range []Method{Exact, Fast, Approximate} {
		r := run(t, p, Settings{Method: m})
		if r.Error != 0.5 || r.Errors != 0 || r.Recall != 0.5 || r.Precision != 0.5 {
			t.Errorf("%v: error %v, %d errors, recall %v, precision %v; want 0.5, 0, 0.5, 0.5", m, r.Error,
				r.Errors, r.Recall, r.Precision)
		}
	}
}

// embedded is a z-scored embedded set with an rbf kernel of gamma = width/d,
// every example a site of its own, as LIBSVM has it.
func embedded(t testing.TB, name string, width float64) (*linalg.Sym, []float64) {
	t.Helper()
	set := testutil.Must(dataset.Open(name))(t)
	z, _ := dataset.Standardize(set.X)
	in := testutil.Must(kernel.Spec{Gamma: width / float64(set.D())}.Prepare(linalg.Design{X: z}))(t)
	k := testutil.Must(in.Gram(t.Context()))(t)
	return k, set.Targets(0)
}

func rows(t testing.TB, k *linalg.Sym) *svm.Rows {
	t.Helper()
	return testutil.Must(svm.NewRows(k))(t)
}

func run(t testing.TB, p Problem, s Settings) *Result {
	t.Helper()
	r := testutil.Must(Estimate(context.Background(), p, s))(t)
	if r.Status != Complete {
		t.Fatalf("%v: %v", r.Method, r.Status)
	}
	return r
}

// retrained is y_i f_-i by training without example i from nothing, for every i.
func retrained(t testing.TB, k *linalg.Sym, p Problem) []float64 {
	t.Helper()
	trainer := svm.NewTrainer(rows(t, k))
	q, costs := p.Set, slices.Repeat([]float64{p.C}, len(p.Y))
	if p.Weight != nil {
		floats.Mul(costs, p.Weight)
	}
	q.Weight = slices.Clone(costs)
	margin := make([]float64, len(p.Y))
	for i, y := range p.Y {
		q.Weight[i] = 0
		r, err := trainer.Train(q, train.Settings{Tolerance: 1e-9})
		if err != nil || r.Status != train.Converged {
			t.Fatal(err, r.Status)
		}
		margin[i], q.Weight[i] = y*r.F[p.Site.At(i)], costs[i]
	}
	return margin
}

var hard = math.Inf(1)
