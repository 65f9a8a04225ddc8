package bench

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/solver"
)

// AccuracyRow is one point of the survey of the theory's accuracy: a data set, a loss,
// a kernel width and a ratio.
type AccuracyRow struct {
	Setup
	Width float64 `json:"gamma_d"` // gamma times the number of features
	Convergence
	TheoryError null.Float `json:"theory_error"`
	Retrained
	// VarianceRatio is the median over sites of the theory's variance over that
	// of retraining. VarianceError is the root mean square over sites of their
	// relative difference, the noise of retraining taken off.
	VarianceRatio float64 `json:"variance_ratio"`
	VarianceError float64 `json:"variance_error"`
}

// ErrorOff is the theory's left-out error relative to that of retraining, less
// one.
func (c AccuracyRow) ErrorOff() float64 { return float64(c.TheoryError/c.RetrainError) - 1 }

// AccuracySummary says how near theory and retraining are over many cells.
type AccuracySummary struct {
	Cells, Converged int
	MedianErrorOff   float64 // median |ErrorOff|
	MedianVariance   float64 // median |VarianceRatio - 1|
	MedianRMS        float64 // median VarianceError
	WorstErrorOff    float64 // largest |ErrorOff| in units of itself
	WithinTwoSE      int     // cells whose errors differ by at most two standard errors
}

// SummarizeAccuracy summarises cells.
func SummarizeAccuracy(cells []AccuracyRow) AccuracySummary {
	s := AccuracySummary{Cells: len(cells)}
	var off, ratio, rms []float64
	for _, c := range cells {
		if c.Status == solver.Converged.String() {
			s.Converged++
		}
		if math.Abs(float64(c.TheoryError-c.RetrainError)) <= 2*float64(c.RetrainSE) {
			s.WithinTwoSE++
		}
		off = append(off, math.Abs(c.ErrorOff()))
		ratio = append(ratio, math.Abs(c.VarianceRatio-1))
		rms = append(rms, c.VarianceError)
	}
	if len(cells) > 0 {
		s.MedianErrorOff, s.MedianVariance, s.MedianRMS, s.WorstErrorOff = median(off), median(ratio), median(rms),
			slices.Max(off)
	}
	return s
}

// accuracyRatios, accuracyWidths and the losses of each set span the survey.
var (
	accuracyRatios = []float64{0.5, 1, 2}
	accuracyWidths = []float64{0.25, 1}
)

// subject is a data set of the survey with its losses and what else its kernel
// needs.
type subject struct {
	set                 *dataset.Set
	amplitude, constant float64
	losses              []loss.Loss
}

// AccuracyCases are the cells of the survey, models without results: four
// classification sets with four losses, three regression sets with four,
// everything with two kernels and three ratios.
func AccuracyCases() ([]Case, error) {
	subjects, err := accuracySubjects()
	if err != nil {
		return nil, err
	}
	var cases []Case
	for _, s := range subjects {
		for _, l := range s.losses {
			for _, width := range accuracyWidths {
				for _, ratio := range accuracyRatios {
					cases = append(cases, Case{Ratio: ratio, Spec: model.Spec{
						Set: s.set, Standardize: true, Loss: l,
						Kernel: kernel.Spec{Kind: kernel.RBF, Gamma: width / float64(s.set.D()), Amplitude: s.amplitude,
							Constant: s.constant},
					}})
				}
			}
		}
	}
	return cases, nil
}

func accuracySubjects() ([]subject, error) {
	labels := []loss.Loss{loss.HardMargin{}, loss.Hinge{C: 1}, loss.SquaredHinge{C: 1}, loss.Logistic{C: 1}}
	var all []subject
	for _, name := range []string{"crabs", "wisconsin", "sonar", "pima"} {
		set, err := dataset.Open(name)
		if err != nil {
			return nil, err
		}
		all = append(all, subject{set: set, amplitude: 1, losses: labels})
	}
	for _, name := range []string{"boston", "synthetic:friedman1,n=300", "synthetic:waves,n=300,noise=0.3"} {
		set, err := dataset.Load(name, dataset.Options{})
		if err != nil {
			return nil, err
		}
		mean, sd := stat.PopMeanStdDev(set.Y, nil)
		all = append(all, subject{set: set, amplitude: sd * sd, constant: mean * mean, losses: []loss.Loss{
			// Noise of a third of the targets' standard deviation, and losses of
			// about that strength.
			loss.Square{Noise: sd * sd / 9}, loss.EpsInsensitive{C: 5 / sd, Epsilon: 0.1 * sd},
			loss.Huber{C: 9 / (sd * sd), Delta: 0.3 * sd}, loss.LeastAbsolute{C: 3 / sd},
		}})
	}
	return all, nil
}

// AccuracyTasks solve and retrain the cells of the survey, in batches.
func AccuracyTasks(cases []Case, s Settings) ([]Task[AccuracyRow], error) {
	return tasks(cases, s, "accuracy", (*experiment).cell)
}

// cell computes both sides.
func (x *experiment) cell(ctx context.Context) (c AccuracyRow, err error) {
	if err := x.build(); err != nil {
		return c, err
	}
	c.Setup, c.Width = x.setup(), x.spec.Kernel.Gamma*float64(x.spec.Set.D())
	theory, err := x.model.Solve(ctx, x.scheme, solver.Settings{Tolerance: x.settings.Tolerance,
		MaxSweeps: x.settings.MaxSweeps})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return c, err
	}
	c.Convergence = convergenceOf(theory)
	leftOut, _ := theory.LeftOut(x.test)
	c.TheoryError = null.Float(leftOut)
	variances := slices.Clone(theory.Var)
	reference, err := x.retrain(ctx, theory)
	if err != nil {
		return c, err
	}
	c.Retrained = retrainedOf(reference)
	c.VarianceError, c.VarianceRatio = varianceAccuracy(variances, reference).VarianceError,
		medianRatio(variances, reference)
	return c, nil
}

// medianRatio is the median over sites of the theory's variance over that of
// retraining.
func medianRatio(theory []float64, reference *retrain.Result) float64 {
	var ratios []float64
	for i, v := range theory {
		if reference.Var[i] > 0 {
			ratios = append(ratios, v/reference.Var[i])
		}
	}
	if len(ratios) == 0 {
		return math.NaN()
	}
	return median(ratios)
}
