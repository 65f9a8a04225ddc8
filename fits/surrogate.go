package fits

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/solver"
)

// surrogate holds the constants of the iteration (T13), over the sites, from a solution that need not have
// converged: a residual of 1e-2 suffices.
type surrogate struct {
	engine    linalg.Engine
	kernel    *linalg.Sym // K if it is dense and without a bias, else nil
	mean, g   []float64
	c, cavity []float64 // c, m_c
	d, chi    []float64
	inverseB  []float64 // 1/b
	deviation []float64 // standard deviation of f, kept away from 0
	unit      float64   // of x and its products with G: a power of two near the deviations
	unitOverB []float64
	rounding  []float64 // bound of the rounding error of h
	// elementRounding is the error of h by the rounding of G's elements, and response its change by one
	// standard deviation of f at all sites.
	elementRounding, response []float64
}

// scales are the constants of the iteration on differences from the averages, in the precision of a block.
type scales[T number] struct {
	chi          []T
	perDeviation []T // residuals in standard deviations of f
	force        []T // residuals of xi per residual of f
}

func newScales[T number](s *surrogate) scales[T] {
	n := len(s.chi)
	all := scales[T]{make([]T, n), make([]T, n), make([]T, n)}
	for i, chi := range s.chi {
		all.chi[i] = T(chi)
		all.perDeviation[i], all.force[i] = T(s.unit/s.deviation[i]), T(s.deviation[i]/s.unit/chi)
	}
	return all
}

// leastDeviation is the least standard deviation of a site as a unit of errors, relative to the root mean
// square over sites.
const leastDeviation = 1e-4

// tiny replaces the deviation of a predictor that is 0 in every resample.
const tiny = 1e-150

func newSurrogate(t *solver.Solution) (s *surrogate, err error) {
	engine, err := t.Engine()
	if err != nil {
		return nil, err
	}
	n := t.Sites()
	kernel, _ := t.Problem.Gram.(*linalg.Sym)
	chi, b := engine.Diag()
	s = &surrogate{engine: engine, kernel: kernel, mean: t.Mean, g: t.SiteMean,
		d: slices.Clone(engine.Precisions()), chi: slices.Clone(chi)}
	for _, v := range []*[]float64{&s.c, &s.cavity, &s.inverseB, &s.deviation, &s.unitOverB} {
		*v = make([]float64, n)
	}
	rms := math.Sqrt(stat.Mean(t.Var, nil))
	for i, cavity := range t.Cavity {
		s.c[i], s.cavity[i], s.inverseB[i] = cavity.C, cavity.Mean, 1/b[i]
		deviation := math.Max(math.Sqrt(t.Var[i]), leastDeviation*rms)
		if deviation == 0 { // hence everywhere
			deviation = math.Max(math.Abs(t.Mean[i]), tiny)
		}
		s.deviation[i] = deviation
		if sum := s.c[i] + s.cavity[i] + 1/chi[i] + s.inverseB[i] + s.mean[i] + s.g[i]; !(s.c[i] > 0) ||
			math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil,
				fmt.Errorf("the theory's averages at site %d are not finite, so that fits cannot start there",
					i+1)
		}
	}
	s.unit = math.Exp2(math.Round(math.Log2(slices.Max(s.deviation))))
	for i, v := range s.inverseB {
		s.unitOverB[i] = s.unit * v
	}
	return s, nil
}

// suitsSingle reports whether single precision has enough digits for 1/b and enough range for G.
func (s *surrogate) suitsSingle() bool {
	return slices.Max(s.inverseB) <= singleInverseB && slices.Max(s.chi) < singleRange &&
		slices.Min(s.chi) > 1/singleRange
}
