package svm

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/train"
	"bootbench/linalg"
)

// plainGap is the duality gap and the dual objective of a biased training by double loops, with
// the primal minimised over the bias by trying every kink, and checks that the
// weights are feasible.
func plainGap(t *testing.T, k *linalg.Sym, p Problem, r *Result) (gap, dual float64) {
	t.Helper()
	sum, size := 0.0, 0.0
	for i, a := range r.Alpha {
		if !(a >= 0 && a <= p.C[i]) {
			t.Fatalf("weight %v of example %d outside of [0, %v]", a, i, p.C[i])
		}
		sum, size, dual = sum+p.Y[i]*a, size+a, dual+a
	}
	if math.Abs(sum) > 1e-12*(1+size) {
		t.Fatalf("the weights sum to %g", sum)
	}
	f, norm := plainField(k, p, r.Alpha), 0.0
	for i, a := range r.Alpha {
		norm += a * p.Y[i] * f[p.Site.At(i)]
	}
	dual -= norm / 2
	cost := func(b float64) float64 {
		v := norm / 2
		for i, y := range p.Y {
			lack := 1 - y*(f[p.Site.At(i)]+b)
			switch {
			case lack <= 0 || p.C[i] == 0:
			case math.IsInf(p.C[i], 1):
				v += size * max(0, lack-1e-9) * 10 // an exact penalty
			default:
				v += p.C[i] * lack
			}
		}
		return v
	}
	best := math.Inf(1)
	for i, y := range p.Y {
		best = min(best, cost(y-f[p.Site.At(i)]))
	}
	if own := cost(r.Bias); own > best+1e-7*(1+size) {
		t.Errorf("bias %v costs %v, another %v", r.Bias, own, best)
	}
	return best - dual, dual
}

// TestBiasedGap: the duality gap closes on random problems with shared sites,
// both labels on a site, boxes of all sizes and hard margins.
func TestBiasedGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	for trial := range 400 {
		m := 2 + rng.IntN(30)
		k := gram(rng, m, 1e-3)
		n := m + rng.IntN(m)
		p := Problem{Y: labels(rng, n), Site: make([]int, n), C: make([]float64, n), Bias: true}
		for i := range p.Y {
			p.Site[i] = rng.IntN(m)
			p.C[i] = math.Exp(3 * rng.NormFloat64())
			if trial%4 == 1 {
				p.C[i] = 1
			}
			if rng.IntN(8) == 0 {
				p.C[i] = 0
			}
			if trial%4 == 0 && rng.IntN(4) == 0 {
				p.C[i] = hard
			}
		}
		if i, _ := contradiction(p); i >= 0 {
			continue
		}
		r := need.One(newTrainer(t, k).Train(p, Settings{Tolerance: 1e-10}))(t)
		if r.Status != train.Converged {
			t.Fatalf("trial %d: %v, violation %g", trial, r.Status, r.Violation)
		}
		if gap, dual := plainGap(t, k, p, r); math.Abs(gap) > 1e-7*(1+dual) {
			t.Errorf("trial %d: gap %g of %v", trial, gap, dual)
		}
	}
}

// TestBiasByHand: two points of a line with a linear kernel, for which w = 2/(x1-x2)
// and w (x1+x2)/2 + bias = 0; boxes too small for that, where every bias between
// those that satisfy one point and the other will do; and one class.
func TestBiasByHand(t *testing.T) {
	k := linalg.NewSym(2)
	x := [2]float64{3, 1}
	for i := range 2 {
		for j := range 2 {
			k.Set(i, j, x[i]*x[j])
		}
	}
	for _, c := range []struct {
		name         string
		y            []float64
		box, a, bias float64
	}{
		{"hard", []float64{1, -1}, hard, 0.5, -2},
		{"wide box", []float64{1, -1}, 1, 0.5, -2},
		// w = 0.25 (3 - 1) = 0.5: f = 1.5 + b >= 1 and 0.5 + b <= -1 fail for all b
		// in [-1.5, -0.5], at the same cost.
		{"narrow box", []float64{1, -1}, 0.25, 0.25, -1},
		{"one class", []float64{-1, -1}, 1, 0, -1},
	} {
		r := mustTrain(t, k, Problem{Y: c.y, C: same(2, c.box), Bias: true}, Settings{Tolerance: 1e-9})
		if math.Abs(r.Bias-c.bias) > 1e-9 || math.Abs(r.Alpha[0]-c.a) > 1e-9 || math.Abs(r.Alpha[1]-c.a) > 1e-9 {
			t.Errorf("%s: bias %v, weights %v", c.name, r.Bias, r.Alpha)
		}
	}
}

// TestBiasedRankDeficient: in two dimensions a hard margin with a bias separates
// what some line separates, and finds out when none does.
func TestBiasedRankDeficient(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 26))
	k, y, x := linalg.NewSym(60), make([]float64, 60), make([]float64, 60)
	for i := range x {
		for x[i] = -0.5; math.Abs(x[i]+0.5) < 0.05; {
			x[i] = rng.NormFloat64()
		}
		y[i] = math.Copysign(1, x[i]+0.5)
		for j := range i + 1 {
			k.Set(i, j, x[i]*x[j]+1) // a bias in the kernel as well
		}
	}
	p := Problem{Y: y, C: same(60, hard), Bias: true}
	r := mustTrain(t, k, p, Settings{Tolerance: 1e-8})
	for i, f := range r.F {
		if y[i]*f < 1-1e-7 {
			t.Errorf("margin %v of %v", y[i]*f, x[i])
		}
	}
	if gap, dual := plainGap(t, k, p, r); math.Abs(gap) > 1e-6*dual {
		t.Errorf("gap %g of %g", gap, dual)
	}
	y[0] = -y[0]
	r, err := newTrainer(t, k).Train(p, Settings{})
	if err != nil || r.Status != train.Diverged {
		t.Fatalf("error %v, status %v", err, r.Status)
	}
	p.C = same(60, 5)
	r = mustTrain(t, k, p, Settings{Tolerance: 1e-8})
	if gap, dual := plainGap(t, k, p, r); math.Abs(gap) > 1e-6*dual {
		t.Errorf("gap %g of %g", gap, dual)
	}
}
