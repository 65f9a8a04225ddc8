package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver/site"
)

// Solve finds the fixed point for a problem. An error means that there is no answer: the problem is ill-posed
// (ErrProblem), K does not factorise at the start, another solve or fit uses the same K (linalg.ErrBusy), or
// ctx was cancelled before the first sweep. In every other case the Solution's Status says how good the
// answer is.
//
// Square loss: d and the cavities' c do not depend on the targets. First d is iterated (T10), then one linear
// system gives the variances (T11). An exact sweep costs 2M^3/3 flops.
//
// Other losses: d, g and lambda are coupled (T4-T6). A sweep needs all of G and costs M^3 flops, and O(M^2)
// for the passes between sweeps. See fixedPoint.
//
// Small problems use one thread of BLAS (blas.ThreadsForOrder).
func Solve(ctx context.Context, p Problem, settings Settings) (s *Solution, err error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	blas.ThreadsForOrder(p.Gram.N(), func() { s, err = solve(ctx, p, settings) })
	return s, err
}

// solve is Solve of a well-posed problem.
func solve(ctx context.Context, p Problem, settings Settings) (*Solution, error) {
	settings, err := settings.withDefaults(p.Gram.N())
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sites, err := p.sites()
	if err != nil {
		return nil, err
	}
	quadratic := quadraticSites(sites)
	if quadratic == nil && settings.Method != ADATAP {
		return nil, fmt.Errorf("%w: method %v is for quadratic training losses, not for %q", ErrProblem,
			settings.Method, p.Loss.Name())
	}
	if quadratic == nil && (settings.Steps == CubicSteps || settings.Steps == PaperSteps) {
		return nil, fmt.Errorf("%w: %v steps are for quadratic training losses, not for %q; take %v or %v",
			ErrProblem, settings.Steps, p.Loss.Name(), ExactSteps, WoodburySteps)
	}
	if settings.Method == Variational && p.Law.WithinSiteVar(2, 2) == 0 {
		return nil, badProblem("method %v is for draws with replacement", settings.Method)
	}
	release, err := linalg.Reserve(p.Gram)
	if err != nil {
		return nil, err
	}
	defer release()
	s := &Solution{Problem: p, Method: settings.Method, sites: sites, engine: settings.Engine(p.Gram)}
	r := &run{settings: settings, Solution: s, quadratic: quadratic, began: time.Now()}
	r.noSingle = settings.Steps != MixedSteps || len(sites) < minSizeSingle || s.Method != ADATAP
	if settings.Method == MeanField {
		return s, meanField(r)
	}
	iterate := r.solveGeneral
	if quadratic != nil {
		iterate = r.solveQuadratic
	}
	if err := iterate(ctx); err != nil {
		return nil, err
	}
	s.SitePrecision = append([]float64(nil), s.engine.Precisions()...)
	s.engine.FormG()
	r.readOut()
	return s, nil
}

// readOut reads all averages off G.
func (r *run) readOut() {
	if r.quadratic != nil {
		r.fields()
		r.variances()
	}
	r.readCavities()
	r.settleTies()
	if r.Status == Converged && !r.finite() {
		r.Status = NumericalFailure
	}
	r.addWarnings()
}

// finite reports whether all averages at the sites are numbers.
func (s *Solution) finite() bool {
	return !slices.ContainsFunc(slices.Concat(s.Mean, s.Var, s.SiteMean, s.SiteVariance),
		func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// quadraticSites are the sites as quadratic ones, or nil if they are not.
func quadraticSites(sites []site.Site) []loss.Quadratic {
	quadratic := make([]loss.Quadratic, len(sites))
	for i := range sites {
		q, ok := sites[i].Site.(loss.Quadratic)
		if !ok {
			return nil
		}
		quadratic[i] = q
	}
	return quadratic
}

// fields are g = y d, with y the mean target of the site (M03-56).
func (r *run) fields() {
	r.SiteMean = make([]float64, len(r.sites))
	for i, q := range r.quadratic {
		y, _ := q.Target()
		r.SiteMean[i] = y * r.SitePrecision[i]
	}
}

// addWarnings adds warnings about the accuracy of the answer.
func (r *run) addWarnings() {
	if r.Stats.Clamps > 0 {
		r.warn("%d negative variances of sites were raised to zero", r.Stats.Clamps)
	}
	condition := floats.Dot(r.SitePrecision, linalg.Diagonal(r.Problem.Gram)) // of I + d^1/2 K d^1/2, at most
	if condition > illConditioned {
		r.warn("ill-conditioned: sum of d K is %.1e; cavities carry a relative rounding error of about %.0e",
			condition, condition*rounding)
	}
	if r.Status != Converged {
		r.warn("not converged: %s, residual %.2g after %d sweeps", r.Status, r.Residual, r.Stats.Sweeps)
	}
}

// warn adds to the Warnings.
func (r *run) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Rounding of the cavity precisions relative to sum_i d_i K_ii, a bound of the condition of I + d^1/2 K
// d^1/2, and the sum from which on a warning is given.
const (
	rounding       = 2e-16
	illConditioned = 1e9
)

// run is a solve in progress.
type run struct {
	*Solution
	settings  Settings
	quadratic []loss.Quadratic
	began     time.Time
	noSingle  bool // without single precision, or after it broke down
	updates   int  // rank updates since the last factorisation
}

// reportProgress calls Settings.Progress.
func (r *run) reportProgress(sweep int, residual float64) {
	if r.settings.Progress != nil {
		r.settings.Progress(Sweep{Number: sweep, Residual: residual, Elapsed: time.Since(r.began)})
	}
}

// asProblem marks the error of a kernel matrix that does not factorise as ErrProblem.
func asProblem(err error) error {
	var pivot *linalg.PivotError
	if errors.As(err, &pivot) {
		return fmt.Errorf("%w: %w", ErrProblem, err)
	}
	return err
}
