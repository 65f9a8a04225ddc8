package gp_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"bootbench/internal/gp"
	"bootbench/internal/need"
	"bootbench/linalg"
)

// TestCriteria: the evidence is the density of the targets under N(0, K + noise I) over all
// examples, leave-one-out that of Residuals, and the derivatives of both are those of
// differences, which err by some 1e-8.
func TestCriteria(t *testing.T) {
	const sites, noise = 9, 0.3
	site := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 4}
	rng := rand.New(rand.NewPCG(16, 3))
	y, x := make([]float64, len(site)), make([]float64, sites)
	for i := range y {
		y[i] = rng.NormFloat64()
	}
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	moved := [2]int{2, 6}
	gram := func(step float64) *linalg.Sym {
		k := linalg.NewSym(sites)
		for i := range sites {
			for j := i; j < sites; j++ {
				k.Set(i, j, 2*math.Exp(-(x[i]-x[j])*(x[i]-x[j])))
			}
		}
		k.Set(moved[0], moved[1], k.At(moved[0], moved[1])+step)
		return k
	}
	k, n := gram(0), len(y)
	covariance := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			covariance.SetSym(a, b, k.At(site[a], site[b]))
		}
		covariance.SetSym(a, a, covariance.At(a, a)+noise)
	}
	normal, ok := distmv.NewNormal(make([]float64, n), covariance, nil)
	if !ok {
		t.Fatal("no covariance")
	}
	residuals := need.One(gp.Residuals(gram(0), site, y, nil, noise))(t)
	for name, c := range map[string]struct {
		of   func(k *linalg.Sym, noise float64) (*gp.Criterion, error)
		want float64
	}{
		"evidence": {func(k *linalg.Sym, noise float64) (*gp.Criterion, error) {
			return gp.Evidence(k, noise,
				site, y)
		}, -normal.LogProb(y) / float64(n)},
		"leave-one-out": {func(k *linalg.Sym, noise float64) (*gp.Criterion, error) {
			return gp.LeaveOneOut(k,
				noise, site, y)
		}, floats.Dot(residuals, residuals) / float64(n)},
	} {
		at := func(step, logNoise float64) *gp.Criterion {
			got := need.One(c.of(gram(step), noise*math.Exp(logNoise)))(t)
			return got
		}
		got := at(0, 0)
		if math.Abs(got.Value-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s %g, want %g", name, got.Value, c.want)
		}
		const h = 1e-4
		for what, pair := range map[string][2]float64{
			"kernel": {2 * got.Kernel.Data[moved[0]*got.Kernel.Stride+moved[1]],
				(at(h, 0).Value - at(-h, 0).Value) / (2 * h)},
			"noise": {got.Noise, (at(0, h).Value - at(0, -h).Value) / (2 * h)},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-6*(math.Abs(pair[1])+math.Abs(got.Value)) {
				t.Errorf("%s by %s: %g, differences %g", name, what, pair[0], pair[1])
			}
		}
		if _, err := c.of(gram(0), 0); err == nil {
			t.Errorf("%s without noise", name)
		}
	}
}
