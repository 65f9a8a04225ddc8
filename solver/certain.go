package solver

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// WholeFit is one training on all examples: the predictor F = K Weight (+ a bias) at the sites.
type WholeFit struct{ F, Weight []float64 }

// Certain reports whether every resample under a law is the whole set, each example once, as
// without replacement at ratio 1.
func Certain(law resample.CountDistribution) bool {
	one := law.Counts(1)
	return one.First == 1 && len(one.P) == 1
}

// bendScale times 1/K_ii stands for an infinite d, that of a site that a bend of the loss
// holds. It softens the bend by K_ii/bendScale, which bears on left-out means alone.
const bendScale = 1e8

// solveCertain is the fixed point where every resample is the whole set: m = f, its fit, and
// V = V_c = 0. With the slope df/dh of the proximal map at h = f - a/c, which is c/(c + d),
//
//	d = c (1 - slope)/slope,   g = a + d f,   m_c = f - a/c with c = b/chi.
func (r *run) solveCertain(fit *WholeFit) error {
	l, ok := r.Problem.Loss.(loss.Proximal)
	if n := len(r.sites); !ok || len(fit.F) != n || len(fit.Weight) != n {
		return badProblem("a fit of %d sites by %q is none of this problem's", len(fit.F), r.Problem.Loss.Name())
	}
	r.SitePrecision = make([]float64, len(r.sites))
	diagonal := linalg.Diagonal(r.Problem.Gram)
	linalg.Parallel(len(r.sites), func(i int) {
		variance := math.Max(diagonal[i], smallestVariance)
		_, slope := r.prox(l, i, 1/variance, fit)
		r.SitePrecision[i] = math.Min((1-slope)/math.Max(slope, 1/bendScale), bendScale) / variance
	})
	if err := r.engine.Factorize(r.SitePrecision); err != nil {
		return asProblem(err)
	}
	r.engine.FormG()
	r.Stats.Sweeps, r.Stats.Refreshes.Exact = 1, 1
	chi, b := r.engine.Diag()
	n, unit := len(r.sites), floats.Norm(r.Problem.Y, math.Inf(1))
	r.Mean, r.Var, r.SiteMean, r.SiteVariance = append([]float64(nil), fit.F...), make([]float64, n),
		make([]float64, n), make([]float64, n)
	r.Cavity = make([]loss.Cavity, n)
	for i, a := range fit.Weight {
		c := cavityPrecision(chi[i], b[i])
		r.SiteMean[i] = a + r.SitePrecision[i]*fit.F[i]
		r.Cavity[i] = loss.Cavity{C: c, Mean: fit.F[i] - a/c}
		f, _ := r.prox(l, i, c, fit)
		r.Residual = math.Max(r.Residual, math.Abs(f-fit.F[i])/(math.Abs(fit.F[i])+unit))
	}
	if !(r.Residual <= math.Max(r.settings.Tolerance, certainTolerance)) {
		r.Status = Stalled
		r.Warnings = append(r.Warnings,
			fmt.Sprintf("the fit to all data, which every resample is, meets its optimality conditions to %.1e only",
				r.Residual))
	}
	r.settleTies()
	return nil
}

// certainTolerance is what trainers leave of the conditions.
const certainTolerance = 1e-6

// prox is the proximal map of site i at precision c, at the h that the fit's weight tells.
func (r *run) prox(l loss.Proximal, i int, c float64, fit *WholeFit) (f, slope float64) {
	var y, k []float64
	for _, example := range r.sites[i].Examples {
		y, k = append(y, r.Problem.Y[example]), append(k, 1)
	}
	return l.Prox(c, fit.F[i]-fit.Weight[i]/c, y, k)
}
