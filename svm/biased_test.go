package svm

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/linalg"
)

// plainGap recomputes the duality gap of a biased training by double loops, with
// the primal minimised over the bias by trying every kink, and checks that the
// weights are feasible.
func plainGap(t *testing.T, k *linalg.Sym, p Problem, r *Result) (gap float64) {
	t.Helper()
	sum, size, dual := 0.0, 0.0, 0.0
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
		norm += a * p.Y[i] * f[p.site(i)]
	}
	dual -= norm / 2
	cost := func(b float64) float64 {
		v := norm / 2
		for i, y := range p.Y {
			lack := 1 - y*(f[p.site(i)]+b)
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
		best = min(best, cost(y-f[p.site(i)]))
	}
	if own := cost(r.Bias); own > best+1e-7*(1+size) {
		t.Errorf("bias %v costs %v, another %v", r.Bias, own, best)
	}
	return best - dual
}

// TestBiasedGap: the duality gap closes on random problems with shared sites,
// both labels on a site, boxes of all sizes and hard margins.
func TestBiasedGap(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 21))
	diverged := 0
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
		r, err := Train(k, p, Settings{Tolerance: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != Converged {
			diverged++
			t.Logf("trial %d: %v, violation %g, n %d", trial, r.Status, r.Violation, n)
			continue
		}
		if gap := plainGap(t, k, p, r); math.Abs(gap) > 1e-7*(1+r.Dual) {
			t.Errorf("trial %d: gap %g of %v, reported %g", trial, gap, r.Dual, r.Gap)
		}
	}
	t.Log(diverged)
}
