package solver

import (
	"context"
	"errors"

	"bootbench/linalg"
)

// solveGeneral iterates to the fixed point and leaves G there, and g and u in the Solution. When ctx ends,
// the last accepted iterate is kept; a refresh, once begun, is finished, and one more follows if G is in
// single precision or stale. The residual is then the cavities' only.
func (r *run) solveGeneral(ctx context.Context) error {
	x := newFixedPoint(r)
	x.model.cancelled = func() bool { return ctx.Err() != nil }
	if err := x.start(); errors.Is(err, errCancelled) {
		return ctx.Err()
	} else if err != nil {
		return asProblem(err)
	}
	x.run.Status = (search{x}).runPhases(ctx)
	if x.gStale || x.accepted.SinglePrecision {
		if err := x.restoreAccepted(); err != nil {
			return err
		}
	}
	x.run.Residual, x.run.SiteMean, x.run.SiteVariance = x.accepted.Residual, x.accepted.G, x.accepted.U
	if x.run.Status == Cancelled {
		return nil
	}
	x.model.cancelled = func() bool { return false } // read-outs are not cancelled
	if x.run.Status == Converged {
		return nil
	}
	x.model.cavities(x.accepted.image, x.accepted.siteParams)
	maxNaN(&x.run.Residual, x.model.consistencyError(x.accepted.image, x.accepted.siteParams))
	x.explain()
	if x.run.Status.failed() {
		x.settleRounding()
	}
	return nil
}

func newFixedPoint(r *run) *fixedPoint {
	n, s := len(r.sites), newSiteModel(r.sites, r.engine, r.Problem.Y)
	x := &fixedPoint{run: r, model: s, accepted: newIterate(n), trial: newIterate(n),
		inner: newInnerIteration(s), anderson: newAnderson(3*n, andersonDepth),
		monitor: newMonitor(), newtonRadius: newtonRadius, drift: drift{from: make(cavities, 3*n)}}
	if r.settings.Steps == MixedSteps && newtonFits(n, r.onFactor(), r.settings.MaxBytes) {
		x.newton = newNewton(s)
	}
	return x
}

// onFactor reports whether the kernel matrix is a factor.
func (r *run) onFactor() bool { return linalg.FactorOf(r.Problem.Gram) != nil }

// Numbers per site in the iteration and in Newton's method.
const (
	iterationNumbers = 115
	newtonNumbers    = 162
)

// WorkspaceBytes is the memory in bytes of a solve with a loss that is not quadratic, without the kernel
// matrix and its engine: vectors over the sites, and Newton's if they fit into room (Settings.MaxBytes), with
// two matrices unless the kernel matrix is a factor. If it is singular within rounding, a factor of it is
// added if it fits.
func WorkspaceBytes(sites int, factor bool, room int64) int64 {
	if newtonFits(sites, factor, room) {
		return newtonBytes(sites, factor)
	}
	return 8 * int64(sites) * iterationNumbers
}

// newtonBytes is WorkspaceBytes with Newton's vectors and matrices.
func newtonBytes(sites int, factor bool) int64 {
	n := int64(sites)
	bytes := 8 * n * (iterationNumbers + newtonNumbers)
	if !factor {
		bytes += 16 * n * n
	}
	return bytes
}

// factorRoom is the memory for a factor of K: Settings.MaxBytes minus what Newton's method takes.
func (r *run) factorRoom() int64 {
	if r.settings.MaxBytes == 0 {
		return 0
	}
	if room := r.settings.MaxBytes - WorkspaceBytes(len(r.sites), false, r.settings.MaxBytes); room > 0 {
		return room
	}
	return -1
}

// useFactor replaces K by its numerical low-rank factor from the next refresh on, and reports whether that
// changes the refresh at d. Only dense engines use it. Without d it returns the rank of K if known.
func (r *run) useFactor(engine linalg.Engine, d []float64) (rank int, used bool) {
	if dense, ok := engine.(linalg.Dense); ok {
		return dense.UseFactor(d, r.factorRoom())
	}
	return len(engine.Precisions()), false
}

// explain warns why a solve did not converge.
func (x *fixedPoint) explain() {
	n := len(x.run.sites)
	rank, _ := x.run.useFactor(x.run.engine, nil)
	if x.cause != nil {
		x.run.warn("%v", x.cause)
	}
	if x.drift.unbounded() {
		x.run.warn("the iterates move without bound and come no nearer to a solution, as if many resamples " +
			"left a bias undetermined: resamples within the classes (strata), larger ones or a model " +
			"without bias are regular")
	}
	if x.newton == nil && x.run.settings.Steps == MixedSteps && (n <= newtonMaxSites || x.run.onFactor()) {
		x.run.warn("there was no memory for Newton's method, which finds what sweeps do not")
	}
	if rank < n {
		x.run.warn("the kernel matrix of %d inputs has rank %d within rounding, too little for this margin "+
			"in most resamples: %d inputs are pinned as hard as rounding allows; a jitter of 1e-6 of its "+
			"diagonal, or a soft margin, makes the problem regular",
			n, rank, x.model.countCapped(x.accepted.cavities))
	}
}
