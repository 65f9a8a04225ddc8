package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/need"
	"bootbench/linalg"
)

// TestPerceptron: on separable data in the plane it converges within Novikoff's (R/margin)^2 mistakes, and
// makes those of the primal rule on the inputs themselves, two examples at a time on one site.
func TestPerceptron(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 25))
	for range 20 {
		const n, margin = 50, 0.1
		x, y, site := make([][2]float64, n/2), make([]float64, n), make([]int, n)
		for s := range x {
			for math.Abs(x[s][0]+x[s][1]) < margin*math.Sqrt2 {
				x[s] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
			}
			site[s], site[n/2+s] = s, s
			y[s] = math.Copysign(1, x[s][0]+x[s][1])
			y[n/2+s] = y[s]
		}
		k := linalg.NewSym(n / 2)
		for i, a := range x {
			for j, b := range x[:i+1] {
				k.Set(i, j, a[0]*b[0]+a[1]*b[1])
			}
		}
		p := TrainPerceptron(need.One(NewRows(k))(t), site, y, 10000)

		var w [2]float64
		beta, longest, total := make([]float64, n/2), 0.0, 0.0
		for range p.Mistakes {
			for i, s := range site {
				if y[i]*(w[0]*x[s][0]+w[1]*x[s][1]) <= 0 {
					beta[s] += y[i]
					total++
					w[0], w[1] = w[0]+y[i]*x[s][0], w[1]+y[i]*x[s][1]
				}
				longest = max(longest, k.At(s, s))
			}
		}
		if !slices.Equal(p.Beta, beta) {
			t.Errorf("weights %v, primal %v", p.Beta, beta)
		}
		for i, s := range site {
			near(t, "f", p.F[s:s+1], []float64{w[0]*x[s][0] + w[1]*x[s][1]}, 1e-8)
			if !(y[i]*p.F[s] > 0) {
				t.Errorf("example %d is not learned", i)
			}
		}
		if !p.Converged() || total > longest/(margin*margin) {
			t.Errorf("%v mistakes by pass: %v", total, p.Mistakes)
		}
	}
}
