package batch

import (
	"errors"
	"fmt"
	"math"

	"bootbench/linalg"
	"bootbench/loss"
)

// Theory is what a solution of the theory lends to batch training: G and, over the M
// sites, the averages around which resamples scatter. The solution need not have
// converged: a residual of 1e-2 does.
type Theory struct {
	Engine   linalg.Engine // stands at d, all of G available
	SiteMean []float64     // g = E xi
	Mean     []float64     // m = G g, mean over resamples of the predictor
	Var      []float64     // V >= 0, its variance
	Cavity   []loss.Cavity // c = b/chi > 0 and m_c; V_c is not used
}

// surrogate holds the constants of the iteration (T13), over the sites.
type surrogate struct {
	mean, g      []float64
	c, cavity    []float64 // c, m_c
	inverseChi   []float64
	inverseB     []float64 // 1/b
	chiOverB     []float64
	perDeviation []float64 // 1/(standard deviation of f), which is kept away from 0
}

// leastDeviation is the least standard deviation of a site that counts, as a share of
// the root mean square over sites: where the predictor hardly varies, that is what its
// error is compared with.
const leastDeviation = 1e-4

// tiny stands for a predictor that is 0 in every resample.
const tiny = 1e-150

func newSurrogate(t Theory) (*surrogate, error) {
	if t.Engine == nil {
		return nil, errors.New("batch training needs an engine that holds G")
	}
	n := t.Engine.N()
	if len(t.SiteMean) != n || len(t.Mean) != n || len(t.Var) != n || len(t.Cavity) != n {
		return nil, fmt.Errorf("the theory's averages over %d, %d, %d and %d sites do not fit G of order %d", len(t.SiteMean), len(t.Mean), len(t.Var), len(t.Cavity), n)
	}
	chi, b := t.Engine.Diag()
	s := &surrogate{mean: t.Mean, g: t.SiteMean}
	for _, v := range []*[]float64{&s.c, &s.cavity, &s.inverseChi, &s.inverseB, &s.chiOverB, &s.perDeviation} {
		*v = make([]float64, n)
	}
	square := 0.0
	for _, v := range t.Var {
		square += v / float64(n)
	}
	least := leastDeviation * math.Sqrt(square)
	for i, cavity := range t.Cavity {
		s.c[i], s.cavity[i], s.inverseChi[i], s.inverseB[i], s.chiOverB[i] = cavity.C, cavity.Mean, 1/chi[i], 1/b[i], chi[i]/b[i]
		deviation := math.Max(math.Sqrt(t.Var[i]), least)
		if deviation == 0 { // hence everywhere
			deviation = math.Max(math.Abs(t.Mean[i]), tiny)
		}
		s.perDeviation[i] = 1 / deviation
		if sum := s.c[i] + s.cavity[i] + s.inverseChi[i] + s.inverseB[i] + s.mean[i] + s.g[i]; !(s.c[i] > 0) || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("the theory's averages at site %d are not finite, so that resamples cannot start from them", i+1)
		}
	}
	return s, nil
}

// largestInverseB is the largest 1/b.
func (s *surrogate) largestInverseB() float64 {
	largest := 0.0
	for _, v := range s.inverseB {
		largest = math.Max(largest, v)
	}
	return largest
}
