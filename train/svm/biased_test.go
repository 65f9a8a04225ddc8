package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/train"

	"gonum.org/v1/gonum/floats"
)

// plainGap is the duality gap and the dual objective of a biased training by double loops, with the primal
// minimised over the bias by trying every kink, and checks that the weights are feasible.
func plainGap(t *testing.T, k *linalg.Sym, p train.Set, r *Result) (gap, dual float64) {
	t.Helper()
	sum, size := 0.0, 0.0
	for i, a := range r.Alpha {
		if !(a >= 0 && a <= p.Weight[i]) {
			t.Fatalf("weight %v of example %d outside of [0, %v]", a, i, p.Weight[i])
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
			case lack <= 0 || p.Weight[i] == 0:
			case math.IsInf(p.Weight[i], 1):
				v += size * max(0, lack-1e-9) * 10 // an exact penalty
			default:
				v += p.Weight[i] * lack
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
		k, p := gram(rng, m, 1e-3), drawProblem(rng, m)
		p.Bias = true
		for i := range p.Y {
			if trial%4 == 1 {
				p.Weight[i] = 1
			}
			if rng.IntN(8) == 0 {
				p.Weight[i] = 0
			}
			if trial%4 == 0 && rng.IntN(4) == 0 {
				p.Weight[i] = hard
			}
		}
		if i, _ := contradiction(p); i >= 0 {
			continue
		}
		r := mustTrain(t, k, p, train.Settings{Tolerance: 1e-10})
		if gap, dual := plainGap(t, k, p, r); math.Abs(gap) > 1e-7*(1+dual) {
			t.Errorf("trial %d: gap %g of %v", trial, gap, dual)
		}
	}
}

// TestBiasByHand: two points of a line with a linear kernel, for which w = 2/(x1-x2)
// and w (x1+x2)/2 + bias = 0; boxes too small for that, where every bias between
// those that satisfy one point and the other will do; and one class.
func TestBiasByHand(t *testing.T) {
	x := [2]float64{3, 1}
	k := symmetric(2, func(i, j int) float64 { return x[i] * x[j] })
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
		p := problem(c.y, nil, same(2, c.box))
		p.Bias = true
		r := mustTrain(t, k, p, fine)
		if math.Abs(r.Bias-c.bias) > 1e-9 || math.Abs(r.Alpha[0]-c.a) > 1e-9 ||
			math.Abs(r.Alpha[1]-c.a) > 1e-9 {
			t.Errorf("%s: bias %v, weights %v", c.name, r.Bias, r.Alpha)
		}
	}
}

// TestPerceptron: the rule makes the mistakes of a plain loop over the inputs, in the dual form on the kernel
// amplitude x.x' + constant and in the primal form on sparse rows, which have the same weights and
// predictions; on rows that are separable, within Novikoff's (R/margin)^2 mistakes, and on others, two
// examples at one site. Whole numbers make the sums exact, so that all meet y f = 0 alike.
func TestPerceptron(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for trial := range 20 {
		const n, d, amplitude, constant, passes = 40, 12, 2, 3, 50
		x := &linalg.CSR{Rows: n, Cols: d, Start: []int{0}}
		dense, y, site := make([][]float64, n), make([]float64, n+1), make([]int, n+1)
		for i := range n {
			dense[i] = make([]float64, d)
			for j := range d {
				if rng.Float64() < 0.3 {
					v := float64(1 + rng.IntN(4))
					dense[i][j], x.Index, x.Value = v, append(x.Index, int32(j)), append(x.Value, v)
				}
			}
			x.Start = append(x.Start, len(x.Index))
			site[i], y[i] = i, 1
			if trial%2 == 0 && dense[i][0] > 0 || trial%2 == 1 && rng.Float64() < 0.5 {
				y[i] = -1
			}
		}
		site[n], y[n] = 3, y[3]
		k := symmetric(n, func(i, j int) float64 {
			return amplitude*floats.Dot(dense[i], dense[j]) + constant
		})
		w, bias, beta, mistakes, longest := make([]float64, d), 0.0, make([]float64, n), []int(nil), 0.0
		for len(mistakes) < passes && (len(mistakes) == 0 || mistakes[len(mistakes)-1] > 0) {
			mistakes = append(mistakes, 0)
			for i, s := range site {
				longest = max(longest, k.At(s, s))
				if y[i]*(floats.Dot(w, dense[s])+bias) <= 0 {
					beta[s] += y[i]
					bias += y[i] * constant
					floats.AddScaled(w, amplitude*y[i], dense[s])
					mistakes[len(mistakes)-1]++
				}
			}
		}
		dual := TrainPerceptron(t.Context(), testutil.Must(NewRows(k))(t), site, y, passes)
		primal := TrainPrimal(t.Context(), x, amplitude, constant, site, y, passes)
		for _, p := range []*Perceptron{dual, primal} {
			if !slices.Equal(p.Mistakes, mistakes) || !slices.Equal(p.Weight, beta) ||
				!slices.Equal(p.F, dual.F) || p.Converged() != (mistakes[len(mistakes)-1] == 0) {
				t.Fatalf("trial %d: mistakes %v, want %v", trial, p.Mistakes, mistakes)
			}
		}
		if !slices.Equal(primal.W, w) || primal.Constant != bias {
			t.Errorf("trial %d: w %v, want %v", trial, primal.W, w)
		}
		// The first feature, less 1/2, separates the even trials: w.x = x_1 - 1/2 by |w|^2 = 1/2 + 1/12.
		total := 0
		for _, count := range mistakes {
			total += count
		}
		if margin := 0.5 / math.Sqrt(0.5+1.0/12); trial%2 == 0 && float64(total) > longest/(margin*margin) {
			t.Errorf("trial %d: %d mistakes", trial, total)
		}
	}
}
