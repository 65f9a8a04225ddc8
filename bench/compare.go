// Package bench compares the analytic theory with retraining: costs and agreement across N.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Case is a model to compare on, at several numbers of examples.
type Case struct {
	Name string // in rows; default: the set's
	Spec model.Spec
	// Sizes are the numbers of examples; each takes the first n of one shuffle of the set. Empty: all
	// examples.
	Sizes []int
}

// Title is the name of the case's rows.
func (c Case) Title() string { return cmp.Or(c.Name, c.Spec.Set.Name) }

// Settings of a comparison.
type Settings struct {
	Ratios    []float64       // nu = S/N of the resamples
	Resamples int             // retrainings per row
	Seed      uint64          // of shuffles and resamples
	Workers   int             // parallel retrainings
	Solve     solver.Settings // of the theory
	Scheme    string          // resampling scheme
	Folds     int             // of scheme "kfold", which has no ratio
	Limit     time.Duration   // of the retraining of a row by one trainer, which then ends early; 0: none
	// Progress, if set, is called with the present row and phase, and the progress of the phase.
	Progress func(label string, done, total int)
}

// With DefaultResamples and DefaultLimit all default cases are compared in a minute on two cores.
const (
	DefaultResamples = 200
	DefaultLimit     = 2 * time.Second
)

// Task is one row to be computed.
type Task[R any] struct {
	Name string // of its model
	Key  string // everything that the row depends on
	Run  func(ctx context.Context) (R, error)
}

// CompareTasks are the rows of all cases by case, ratio and size, to be computed in any order and by any
// process. Sizes, ratios and memory are checked first.
func CompareTasks(cases []Case, s Settings) ([]Task[report.CompareRow], error) {
	todo, err := experiments(cases, s)
	if err != nil {
		return nil, err
	}
	all := make([]Task[report.CompareRow], len(todo))
	for i, x := range todo {
		all[i] = Task[report.CompareRow]{Name: x.name(), Key: "compare " + x.key(),
			Run: func(ctx context.Context) (row report.CompareRow, err error) {
				defer func() { x.model, x.trained = nil, nil }() // frees the matrices
				if row, err = x.compare(ctx); err != nil {
					err = fmt.Errorf("%s, n = %d, %s loss: %w", x.data, x.n, x.spec.Loss.Name(), err)
				}
				return row, err
			}}
	}
	return all, nil
}

// experiments are the rows in order.
func experiments(cases []Case, s Settings) ([]*experiment, error) {
	var all []*experiment
	for _, c := range cases {
		set := c.Spec.Set
		sizes := c.Sizes
		if len(sizes) == 0 {
			sizes = []int{set.N()}
		}
		for _, ratio := range s.Ratios {
			for _, n := range sizes {
				if n < 2 || n > set.N() {
					return nil, model.InputError(fmt.Errorf("%d examples asked for, %s has %d", n, set.Name,
						set.N()))
				}
				scheme, err := resample.ByName(s.Scheme, resample.Options{Ratio: ratio, Folds: s.Folds, N: n})
				if err != nil {
					return nil, model.InputError(err)
				}
				all = append(all, &experiment{settings: s, spec: c.Spec, scheme: scheme, data: c.Title(),
					n: n})
			}
			if err := s.checkMemory(&c.Spec, slices.Max(sizes), ratio); err != nil {
				return nil, err
			}
		}
	}
	for i, x := range all {
		x.label = fmt.Sprintf("row %d of %d, n = %d: ", i+1, len(all), x.n)
	}
	return all, nil
}

// checkMemory refuses rows of n examples that would not fit: a kernel matrix for each side and G with the
// workers' matrices, with the naive fit's, or with the dgemm benchmark's.
func (s *Settings) checkMemory(spec *model.Spec, n int, ratio float64) error {
	sites := float64(n)
	drawn, rows := sites*-math.Expm1(-ratio), sites*ratio // of a resample: different examples, and all
	need := 8 * (3*sites*sites + max(float64(s.Workers)*drawn*drawn, 2*rows*rows+drawn*drawn,
		3*math.Pow(min(sites, largestGemm), 2)))
	return linalg.CheckMemory(int64(min(need, math.MaxInt64/2)), spec.MaxBytes,
		fmt.Sprintf("comparing on %d examples of %s", n, spec.Set.Name))
}

// experiment computes one row.
type experiment struct {
	settings Settings
	spec     model.Spec // on all examples of the set
	scheme   resample.Scheme
	data     string         // displayed name
	n        int            // examples of the row
	label    string         // of progress
	model    *model.Model   // on the row's examples
	trained  []*model.Model // for retraining: on the dense kernel matrix, and on a factor if trainers use it
}

// build makes the model on the first n examples of the shuffled set, or on all in order.
func (x *experiment) build(ctx context.Context) (err error) {
	spec := x.spec
	if x.n < spec.Set.N() {
		order := rand.New(rand.NewPCG(x.settings.Seed, 0)).Perm(spec.Set.N())
		spec.Set = spec.Set.Subset(order[:x.n])
	}
	x.model, err = model.Build(ctx, spec)
	return err
}

// buildTrained makes the models for retraining, whatever the form of the theory's matrix: the dense matrix,
// if it fits into memory, and the factor that Auto takes.
func (x *experiment) buildTrained(ctx context.Context) error {
	x.trained = nil
	for _, storage := range []model.Storage{model.Exact, model.LowRank} {
		m, spec := x.model, x.model.Spec
		if spec.Storage = storage; storage == model.LowRank {
			spec.Storage = model.Auto
		}
		if m.Form() != storage {
			spec.NormalizeTarget = false // it is done
			var err error
			if m, err = model.Build(ctx, spec); err != nil && !errors.Is(err, linalg.ErrMemory) {
				return err
			}
		}
		if m != nil && m.Form() == storage {
			x.trained = append(x.trained, m)
		}
	}
	return nil
}

// name is the displayed name.
func (x *experiment) name() string {
	return fmt.Sprintf("%s, n = %d, %s loss, gamma %v, ratio %v", x.data, x.n,
		x.spec.Loss.Name(), x.spec.Kernel.Gamma, x.scheme.Mean())
}

// key encodes everything that the experiment depends on.
func (x *experiment) key() string {
	s := x.settings
	return x.spec.Key(x.scheme, x.data, x.n, s.Resamples, s.Seed, s.Solve.Tolerance, s.Solve.MaxSweeps,
		s.Limit)
}

func (x *experiment) tell(phase string, done, total int) {
	if x.settings.Progress != nil {
		x.settings.Progress(x.label+phase, done, total)
	}
}

// compare computes the row. Retraining is last: it is the longest part, and only the accuracy figures need
// it.
func (x *experiment) compare(ctx context.Context) (row report.CompareRow, err error) {
	if err := x.build(ctx); err != nil {
		return row, err
	}
	row.Setup = NewSetup(x.data, x.model, x.scheme)
	info := blas.Describe()
	row.Backend, row.Core, row.Threads = info.Backend, info.Core, info.Threads
	row.RefreshGflops, row.DgemmGflops = x.rates()
	solution, err := x.theory(ctx, &row)
	if err != nil {
		return row, err
	}
	row.PeakBytes = solution.Bytes()
	if err := x.refine(ctx, solution, &row); err != nil { // before the fits, which overwrite G
		return row, err
	}
	variances := slices.Clone(solution.Var)
	if err := x.buildTrained(ctx); err != nil {
		return row, err
	}
	if err := x.fits(ctx, &row); err != nil {
		return row, err
	}
	ways, err := x.ways(ctx)
	if err != nil {
		return row, err
	}
	reference := referenceOf(ways)
	row.Retrained = NewRetrained(reference)
	relate(&row, variances, reference, ways)
	return row, nil
}

// relate compares the theory's costs and variances with retraining's.
func relate(r *report.CompareRow, variances []float64, reference *fits.Averages, ways []way) {
	over := func(fit float64) float64 {
		if fit > 0 {
			return r.TheoryS / fit
		}
		return 0
	}
	r.TheoryOverFit, r.TheoryOverMergedFit = over(r.FitS), over(r.ResampleFitS)
	r.FitsEquivalent, r.NaiveFitsEquivalent = r.TheoryOverMergedFit, over(r.NaiveFitS)
	r.TheoryOverLIBSVM = over(r.LIBSVMFitS)
	single := fastest(slices.DeleteFunc(slices.Clone(ways), func(w way) bool { return !w.single }), 200)
	r.Fits50S, r.Fits200S, r.FitsMeasured = single.seconds(50), single.seconds(200), single.fits
	r.VarianceAccuracy = NewVarianceAccuracy(variances, reference)
	r.SpeedupEqualAccuracy = fastest(ways, r.EqualResamples).seconds(r.EqualResamples) / r.TheoryS
	r.BaselineFits = float64(reference.Resamples)
	if r.RefinedResamples > 0 {
		r.RefinedS += r.TheoryS
		if r.RefinedEquivalent > 0 {
			r.BaselineFits = float64(r.RefinedEquivalent)
		}
	}
	best := fastest(ways, r.BaselineFits)
	r.Baseline, r.BaselineEngine, r.BaselineRank = best.name, best.engine, best.rank
	r.BaselineS = best.seconds(r.BaselineFits)
}

// refine trains on exact resamples around the theory, as many as in plain retraining.
func (x *experiment) refine(ctx context.Context, theory *solver.Solution, row *report.CompareRow) error {
	if loss.TraitsOf(x.spec.Loss).Proximal == nil || x.settings.Resamples < 2 {
		return nil
	}
	result, err := model.Refine(ctx, x.model, theory, x.scheme, model.RefineSettings{
		RetrainSettings: x.settingsOf("refining", x.settings.Seed+1)})
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return err
	}
	test := result.Tests[0]
	row.RefinedError, row.RefinedSE = report.Number(test.Error), report.Number(test.SE)
	row.RefinedResamples, row.RefinedEquivalent = result.Resamples, report.Number(test.EquivalentResamples)
	row.RefinedS = (result.Setup + result.Stats.Elapsed).Seconds()
	return nil
}

// theory solves and times the theory, as estimate does: the model is then the one of sufficient rank.
func (x *experiment) theory(ctx context.Context, row *report.CompareRow) (s *solver.Solution, err error) {
	x.tell("theory", 0, 1)
	settled := x.model
	row.TheoryS, err = medianSeconds(mostTimed, func(int) (err error) {
		if settled, s, err = x.solve(ctx); err == nil {
			mean, _ := s.LeftOut(model.DefaultTest(x.spec.Set))
			row.TheoryError = report.Number(mean)
		}
		return err
	})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	if x.model.Factor() != nil { // which only the theory uses
		row.TheoryS += x.model.GramTime.Seconds()
	}
	x.model = settled
	row.Engine, row.Rank, row.Solve = x.model.Form().String(), x.model.Rank(), report.NewSolve(s)
	x.tell("theory", 1, 1)
	return s, nil
}

// solve solves the theory on a kernel matrix of sufficient rank, the one of the model returned.
func (x *experiment) solve(ctx context.Context) (*model.Model, *solver.Solution, error) {
	m, s, err := x.model.Settle(ctx, x.scheme, x.settings.Solve)
	if err == nil && s == nil {
		s, err = m.Solve(ctx, x.scheme, x.settings.Solve)
	}
	return m, s, err
}

// settingsOf are the settings of exact fits.
func (x *experiment) settingsOf(phase string, seed uint64) model.RetrainSettings {
	return model.RetrainSettings{Seed: seed, Settings: fits.Settings{
		Resamples: x.settings.Resamples, Workers: x.settings.Workers,
		Tests:    []loss.Test{model.DefaultTest(x.spec.Set)},
		Progress: func(done, total int) { x.tell(phase, done, total) },
	}}
}

// NewVarianceAccuracy compares the theory's variances v_i with the reference's s_i, whose standard errors are
// e_i, both relative to the mean (v_i + s_i)/2 of the two. (A noisy s_i alone as the denominator overstates
// error and noise where it happens to be small; with v_i alone a few sites where the theory is far too small
// dominate.) Averaged over sites, and over the resamples that might have been drawn,
//
//	mean ((v - s)/((v + s)/2))^2 = own^2 + mean (e/((v + s)/2))^2
//
// up to terms of the fourth order in the noise, with own the theory's root mean square relative error. The
// last term decreases like 1/R with the number R of resamples: a reference from noise/own^2 times R resamples
// has the theory's error.
func NewVarianceAccuracy(theory []float64, reference *fits.Averages) report.VarianceAccuracy {
	a := report.VarianceAccuracy{EqualIsBound: true} // unless the noise is small enough
	difference, noise, count := 0.0, 0.0, 0.0
	for i, v := range theory {
		off, se := v-reference.Variance[i], reference.VarianceSE[i]
		if !(v > 0) || math.IsNaN(off) || math.IsNaN(se) {
			continue
		}
		mean := (v + reference.Variance[i]) / 2
		difference += off * off / (mean * mean)
		noise += se * se / (mean * mean)
		count++
	}
	if noise == 0 {
		return a // too few resamples for a standard error, or nothing varies
	}
	difference, noise = difference/count, noise/count
	resamples := float64(reference.Resamples)
	a.VarianceNoise, a.EqualResamples = math.Sqrt(noise), resamples
	// Below a tenth of the noise the difference is insignificant.
	if own := difference - noise; own >= noise/10 {
		a.EqualIsBound = false
		a.VarianceError, a.EqualResamples = math.Sqrt(own), resamples*noise/own
	}
	return a
}

// NewSetup is the set-up of a model with the given displayed name of the data.
func NewSetup(name string, m *model.Model, scheme resample.Scheme) report.Setup {
	return report.Setup{Data: name, Loss: m.Loss.Name(), N: m.Set.N(), Sites: m.Sites(), D: m.Set.D(),
		Ratio: scheme.Mean(), Scheme: scheme.Name()}
}

// NewRetrained are the figures of retraining with one test loss.
func NewRetrained(r *fits.Averages) report.Retrained {
	return report.Retrained{RetrainError: report.Number(r.Tests[0].Error),
		RetrainSE:        report.Number(r.Tests[0].SE),
		RetrainResamples: r.Resamples, RetrainS: r.Stats.Elapsed.Seconds()}
}
