package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/loo"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/svm"
)

// EstimatorSettings say how estimators of a classifier's error are judged: a set is
// split at random, again and again, the classifier trained on one part, and what
// the estimators make of that part set against its error on the other.
type EstimatorSettings struct {
	Train  int    // examples to train on, at least 2 and less than there are
	Splits int    // default DefaultSplits
	Folds  int    // of cross-validation; default 10
	Seed   uint64 // of splits and folds
	// Progress, if set, is told how many splits are done.
	Progress func(done, total int)
}

// DefaultSplits is the Splits of zero JudgeSettings.
const DefaultSplits = 50

// farRatio stands for an infinite ratio in the analytic bootstrap.
const farRatio = 20

// EstimatorComparison is what many splits tell of the estimators.
type EstimatorComparison struct {
	Data             string
	Train, HeldOut   int
	Splits           int
	Truth, TruthSE   float64 // held-out error: mean over splits, and its standard error
	TruthSD          float64 // its standard deviation over splits
	Estimators       []EstimatorScore
	SkippedOneClass  int // splits whose training part had one class only; drawn again
	UnfinishedTheory int // solves of the analytic bootstrap that did not converge
}

// EstimatorScore is one estimator's record against the held-out error of the same split.
type EstimatorScore struct {
	Estimator string
	Mean      float64
	Bias      float64 // mean of estimate - held-out error
	BiasSE    float64
	RMS       float64 // root mean square of that difference
	SD        float64 // standard deviation of the estimate over splits
	Seconds   float64 // mean wall time, the kernel matrix apart
	Retrained float64 // mean share of examples or folds that were trained without
}

// CompareEstimators judges the estimators of spec's classifier, a hard or soft margin without
// bias, which is what the analytic bootstrap is for: the apparent error; the
// analytic bootstrap's left-out error and .632 at ratio 1, and its limit at large
// ratios; leave-one-out by all methods; cross-validation.
func CompareEstimators(ctx context.Context, spec model.Spec, s EstimatorSettings) (*EstimatorComparison, error) {
	if spec.Set == nil {
		return nil, badInput("there is no data set")
	}
	n := spec.Set.N()
	switch {
	case s.Train < 2 || s.Train >= n:
		return nil, badInput("cannot train on %d of %d examples and hold out others", s.Train, n)
	case s.Splits < 0 || s.Folds < 0 || s.Folds == 1 || s.Folds > s.Train:
		return nil, badInput("cannot judge by %d splits and %d folds", s.Splits, s.Folds)
	}
	if s.Splits == 0 {
		s.Splits = DefaultSplits
	}
	if s.Folds == 0 {
		s.Folds = min(10, s.Train)
	}
	j := &judge{settings: s, spec: spec, rng: rand.New(rand.NewPCG(s.Seed, 0))}
	j.verdict = EstimatorComparison{Data: spec.Set.Name, Train: s.Train, HeldOut: n - s.Train}
	for j.verdict.Splits < s.Splits {
		if err := j.split(ctx); err != nil {
			return nil, err
		}
		if s.Progress != nil {
			s.Progress(j.verdict.Splits, s.Splits)
		}
	}
	j.conclude()
	return &j.verdict, nil
}

// judge is a Judgement in the making.
type judge struct {
	settings EstimatorSettings
	spec     model.Spec
	rng      *rand.Rand
	truth    []float64
	names    []string
	records  map[string]*record
	verdict  EstimatorComparison

	// The split under way.
	model  *model.Model
	c      float64
	rows   svm.Rows
	fitted []float64 // by example
}

// record is an estimator's answers, split by split.
type record struct{ estimate, seconds, retrained []float64 }

// split draws and judges one split.
func (j *judge) split(ctx context.Context) error {
	drawn, others, err := j.spec.Set.Split(j.settings.Train, j.rng)
	if err != nil {
		return err
	}
	if oneClass(drawn.Y) {
		if j.verdict.SkippedOneClass++; j.verdict.SkippedOneClass > 10*j.settings.Splits {
			return badInput("parts of %d examples hold one class only", j.settings.Train)
		}
		return nil
	}
	spec := j.spec
	spec.Set = drawn
	if j.model, err = model.Build(spec); err != nil {
		return err
	}
	switch l := j.model.Loss.(type) {
	case loss.HardMargin:
		j.c = math.Inf(1)
	case loss.Hinge:
		j.c = l.C
	default:
		return badInput("the judged classifier is a hard or soft margin, not %s", j.model.Loss.Name())
	}
	if j.rows, err = svm.NewRows(j.model.Gram); err != nil {
		return err
	}
	if err := j.holdOut(others.X.Rows, blas64.General(others.X), others.Y); err != nil {
		return err
	}
	if err := j.theory(ctx); err != nil {
		return err
	}
	if err := j.leaveOneOut(ctx); err != nil {
		return err
	}
	if err := j.folds(); err != nil {
		return err
	}
	j.verdict.Splits++
	return ctx.Err()
}

func oneClass(y []float64) bool {
	for _, v := range y {
		if v != y[0] {
			return false
		}
	}
	return true
}

// holdOut trains once, for the truth and the apparent error.
func (j *judge) holdOut(n int, x blas64.General, y []float64) error {
	began := time.Now()
	r, err := j.model.TrainSVM(svm.Settings{Tolerance: loo.DefaultTolerance})
	if err == nil {
		err = r.Status.Err()
	}
	if err != nil {
		return err
	}
	j.fitted = make([]float64, len(j.model.Set.Y))
	wrong := 0.0
	for i, label := range j.model.Set.Y {
		j.fitted[i] = r.F[j.model.Site[i]]
		wrong += loss.ZeroOne{}.Value(j.fitted[i], label)
	}
	j.note("apparent", wrong/float64(len(j.fitted)), time.Since(began), 0)
	held := 0.0
	err = j.model.Cross(x, func(first int, rows []float64) error {
		m := j.model.Sites()
		for i := range len(rows) / m {
			f := 0.0
			for s, k := range rows[i*m : (i+1)*m] {
				f += k * r.Beta[s]
			}
			held += loss.ZeroOne{}.Value(f, y[first+i])
		}
		return nil
	})
	j.truth = append(j.truth, held/float64(n))
	return err
}

// theory is the analytic bootstrap at ratio 1 and at a large one. There a soft
// margin's C is divided by the ratio: an example that is drawn k times has the
// box k C.
func (j *judge) theory(ctx context.Context) error {
	for _, ratio := range []float64{1, farRatio} {
		scheme, err := resample.ByName("poisson", resample.Options{Ratio: ratio, N: j.settings.Train})
		if err != nil {
			return err
		}
		m := *j.model
		if hinge, soft := m.Loss.(loss.Hinge); soft {
			m.Loss = loss.Hinge{C: hinge.C / ratio}
		}
		began := time.Now()
		solution, err := m.Solve(ctx, scheme, solver.Settings{})
		if err != nil {
			return err
		}
		leftOut, _ := solution.LeftOut(loss.ZeroOne{})
		took := time.Since(began)
		if solution.Status.Err() != nil {
			j.verdict.UnfinishedTheory++
		}
		j.note(fmt.Sprintf("bootstrap, ratio %g", ratio), leftOut, took, 0)
		if ratio == 1 {
			combined := solver.Combine632(leftOut, loss.ZeroOne{}, j.model.Set.Y, j.fitted)
			j.note(".632", combined.Err632, took, 0)
			j.note(".632+", combined.Err632Plus, took, 0)
		}
	}
	return nil
}

// leaveOneOut are the methods of package loo.
func (j *judge) leaveOneOut(ctx context.Context) error {
	p := loo.Problem{Kernel: j.rows, Site: j.model.Site, Y: j.model.Set.Y, C: j.c}
	results, err := loo.Compare(ctx, p, loo.Settings{}, nil)
	if err != nil {
		return err
	}
	for _, r := range results {
		name := "leave-one-out, " + r.Method.String()
		if r.Rho > 0 {
			name += fmt.Sprintf(", rho %g", r.Rho)
		}
		j.note(name, r.Error, r.Elapsed, float64(r.Retrained)/float64(len(p.Y)))
	}
	return ctx.Err()
}

// folds is cross-validation: each fold's examples are predicted by a training
// on all others.
func (j *judge) folds() error {
	began := time.Now()
	trainer, err := svm.NewRowTrainer(j.rows)
	if err != nil {
		return err
	}
	y, site := j.model.Set.Y, j.model.Site
	p := svm.Problem{Y: y, Site: site, C: make([]float64, len(y))}
	order, wrong, n := j.rng.Perm(len(y)), 0.0, len(y)
	for fold := range j.settings.Folds {
		held := order[fold*n/j.settings.Folds : (fold+1)*n/j.settings.Folds]
		for i := range p.C {
			p.C[i] = j.c
		}
		for _, i := range held {
			p.C[i] = 0
		}
		r, err := trainer.Train(p, svm.Settings{Tolerance: loo.DefaultTolerance})
		if err == nil {
			err = r.Status.Err()
		}
		if err != nil {
			return err
		}
		for _, i := range held {
			wrong += loss.ZeroOne{}.Value(r.F[site[i]], y[i])
		}
	}
	j.note(fmt.Sprintf("%d-fold cross-validation", j.settings.Folds), wrong/float64(n), time.Since(began), 1)
	return nil
}

func (j *judge) note(name string, estimate float64, took time.Duration, retrained float64) {
	if j.records == nil {
		j.records = map[string]*record{}
	}
	r := j.records[name]
	if r == nil {
		r = &record{}
		j.records[name] = r
		j.names = append(j.names, name)
	}
	r.estimate = append(r.estimate, estimate)
	r.seconds = append(r.seconds, took.Seconds())
	r.retrained = append(r.retrained, retrained)
}

// conclude averages over splits.
func (j *judge) conclude() {
	v := &j.verdict
	v.Truth, v.TruthSD = meanSD(j.truth)
	v.TruthSE = v.TruthSD / math.Sqrt(float64(len(j.truth)))
	for _, name := range j.names {
		r := j.records[name]
		off, square := make([]float64, len(j.truth)), 0.0
		for i, e := range r.estimate {
			off[i] = e - j.truth[i]
			square += off[i] * off[i] / float64(len(off))
		}
		w := EstimatorScore{Estimator: name, RMS: math.Sqrt(square)}
		w.Mean, w.SD = meanSD(r.estimate)
		w.Bias, w.BiasSE = meanSD(off)
		w.BiasSE /= math.Sqrt(float64(len(off)))
		w.Seconds, _ = meanSD(r.seconds)
		w.Retrained, _ = meanSD(r.retrained)
		v.Estimators = append(v.Estimators, w)
	}
}

// meanSD is the mean and the standard deviation, 0 of a single value.
func meanSD(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(max(1, len(x)-1))
	}
	return mean, math.Sqrt(sd)
}
