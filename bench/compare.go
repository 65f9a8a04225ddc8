package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// Case is a model to compare on, at several numbers of examples.
type Case struct {
	Spec  model.Spec
	Ratio float64 // nu = S/N
	// Sizes are the numbers of examples; each takes the first n of one shuffle
	// of the set. Empty: all examples.
	Sizes []int
}

// Settings of a comparison. The zero value means the defaults.
type Settings struct {
	Resamples int     // retrainings per row; default 100
	Seed      uint64  // of shuffles and resamples; default 0
	Workers   int     // parallel retrainings; default GOMAXPROCS
	Tolerance float64 // of the theory; default solver.DefaultTolerance
	MaxSweeps int     // of the theory; default solver.DefaultMaxSweeps
	Scheme    string  // resampling scheme; default "poisson"
	// Progress, if set, is told what is going on.
	Progress func(Progress)
}

// DefaultResamples is the Resamples of zero Settings.
const DefaultResamples = 100

// Progress is where a comparison stands.
type Progress struct {
	Row, Rows   int    // row under way, from 1, of how many
	Data        string // its data set and size
	N           int
	Phase       string // "theory", "fits" or "retraining"
	Done, Total int    // within the phase
}

// Compare computes the rows of all cases, case by case, size by size, and hands
// each to emit (which may be nil) as it is finished. When ctx ends it returns
// the rows that were finished and ctx's error.
func Compare(ctx context.Context, cases []Case, s Settings, emit func(Row)) ([]Row, error) {
	if s.Resamples == 0 {
		s.Resamples = DefaultResamples
	}
	if s.Scheme == "" {
		s.Scheme = "poisson"
	}
	var rows []Row
	total := 0
	for i := range cases {
		if len(cases[i].Sizes) == 0 {
			cases[i].Sizes = []int{cases[i].Spec.Set.N()}
		}
		total += len(cases[i].Sizes)
	}
	for _, c := range cases {
		for _, n := range c.Sizes {
			if err := ctx.Err(); err != nil {
				return rows, err
			}
			x, err := newExperiment(c, n, s, Progress{Row: len(rows) + 1, Rows: total, Data: c.Spec.Set.Name, N: n})
			if err != nil {
				return rows, err
			}
			if err := x.run(ctx); err != nil {
				return rows, fmt.Errorf("%s, n = %d: %w", c.Spec.Set.Name, n, err)
			}
			rows = append(rows, x.row)
			if emit != nil {
				emit(x.row)
			}
		}
	}
	return rows, nil
}

// experiment is one row in the making.
type experiment struct {
	settings Settings
	model    *model.Model
	scheme   resample.Scheme
	test     loss.Test
	progress Progress
	row      Row
}

func newExperiment(c Case, n int, s Settings, p Progress) (*experiment, error) {
	set := c.Spec.Set
	if n < 2 || n > set.N() {
		return nil, fmt.Errorf("%w: %d examples asked for, %s has %d", model.ErrInput, n, set.Name, set.N())
	}
	scheme, err := resample.ByName(s.Scheme, c.Ratio, n)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", model.ErrInput, err)
	}
	spec := c.Spec
	if n < set.N() {
		spec.Set = set.Shuffled(rand.New(rand.NewPCG(s.Seed, 0))).Head(n)
	}
	m, err := model.Build(spec)
	if err != nil {
		return nil, err
	}
	info := blas.Describe()
	x := &experiment{settings: s, model: m, scheme: scheme, test: testFor(spec.Set), progress: p}
	x.row = Row{
		Data: set.Name, Loss: spec.Loss.Name(), N: n, Sites: m.Sites(), D: set.D(), Ratio: c.Ratio, Scheme: s.Scheme,
		Backend: info.Backend, Core: info.Core, Threads: info.Threads,
	}
	return x, nil
}

// testFor is the test loss of a task: square loss, or the classification error.
func testFor(set *dataset.Set) loss.Test {
	if set.Task == dataset.Classification {
		return loss.ZeroOne{}
	}
	return loss.SquareTest{}
}

func (x *experiment) tell(phase string, done, total int) {
	if x.settings.Progress == nil {
		return
	}
	x.progress.Phase, x.progress.Done, x.progress.Total = phase, done, total
	x.settings.Progress(x.progress)
}

// run fills the row. Retraining comes last: it is the longest part, and its
// reference is needed for the accuracy figures only.
func (x *experiment) run(ctx context.Context) error {
	x.rates()
	theory, err := x.theory(ctx)
	if err != nil {
		return err
	}
	variances := append([]float64(nil), theory.Var...)
	if err := x.fits(ctx); err != nil {
		return err
	}
	reference, err := x.retrain(ctx)
	if err != nil {
		return err
	}
	x.accuracy(variances, reference)
	return nil
}

func (x *experiment) theory(ctx context.Context) (*solver.Solution, error) {
	x.tell("theory", 0, 1)
	settings := solver.Settings{Tolerance: x.settings.Tolerance, MaxSweeps: x.settings.MaxSweeps}
	var s *solver.Solution
	var err error
	seconds := median(x.repeats(), func() {
		if err == nil {
			s, err = x.model.Solve(ctx, x.scheme, settings)
		}
		if err == nil {
			x.row.TheoryError, _ = s.LeftOut(x.test)
		}
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.row.TheoryS = seconds
	x.row.Status, x.row.Residual = s.Status.String(), s.Residual
	x.row.Sweeps, x.row.Refreshes = s.Stats.Sweeps, s.Stats.Refreshes
	x.row.PeakBytes = s.Bytes()
	x.tell("theory", 1, 1)
	return s, nil
}

// repeats is how often a solve or a full fit is timed: more often where it is
// short, so that medians mean something.
func (x *experiment) repeats() int {
	if x.model.Sites() <= 1000 {
		return 5
	}
	return 3
}

// median is the median wall time in seconds of n runs of f.
func median(n int, f func()) float64 {
	times := make([]float64, n)
	for i := range times {
		began := time.Now()
		f()
		times[i] = time.Since(began).Seconds()
	}
	return middle(times)
}

func (x *experiment) retrain(ctx context.Context) (*retrain.Result, error) {
	result, err := x.model.Retrain(ctx, x.scheme, blas64.General{}, retrain.Settings{
		Resamples: x.settings.Resamples, Seed: x.settings.Seed, Workers: x.settings.Workers,
		Tests:    []loss.Test{x.test},
		Progress: func(done, total int) { x.tell("retraining", done, total) },
	})
	if err != nil {
		return nil, err
	}
	x.row.RetrainError, x.row.RetrainSE = result.LeftOut[0].Error, result.LeftOut[0].SE
	x.row.RetrainResamples = result.Resamples
	x.row.RetrainS = result.Stats.Elapsed.Seconds()
	return result, nil
}

// accuracy compares the theory's variances with the reference's. With r_i the
// relative difference at site i and e_i the reference's relative standard
// error, the theory's own mean square error is mean(r^2 - e^2); a reference of
// R resamples has mean(e^2), which falls like 1/R.
func (x *experiment) accuracy(theory []float64, reference *retrain.Result) {
	difference, noise, count := 0.0, 0.0, 0.0
	for i, v := range theory {
		truth, se := reference.Var[i], reference.VarSE[i]
		if !(truth > 0) || math.IsNaN(se) {
			continue
		}
		difference += (v - truth) * (v - truth) / (truth * truth)
		noise += se * se / (truth * truth)
		count++
	}
	if count == 0 || noise == 0 {
		return
	}
	difference, noise = difference/count, noise/count
	x.row.VarianceNoise = math.Sqrt(noise)
	own := difference - noise
	// Below a tenth of the noise the difference of the two says nothing.
	x.row.EqualIsBound = own < noise/10
	if x.row.EqualIsBound {
		own = noise
	} else {
		x.row.VarianceError = math.Sqrt(own)
	}
	resamples := float64(reference.Resamples)
	x.row.EqualResamples = resamples * noise / own
	x.row.SpeedupEqualAccuracy = x.row.EqualResamples * (x.row.RetrainS / resamples) / x.row.TheoryS
}
