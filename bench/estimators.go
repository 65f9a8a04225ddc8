package bench

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/loo"
	"bootbench/internal/model"
	"bootbench/internal/svm"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// EstimatorSettings say how estimators of a classifier's error are compared: a set
// is split at random many times, the classifier trained on one part, and the
// estimates from that part set against its error on the other.
type EstimatorSettings struct {
	Train  int // examples to train on, at least 2 and less than there are
	Splits int
	Folds  int    // of cross-validation
	Seed   uint64 // of splits and folds
}

// largeRatio is used in the place of an infinite ratio in the analytic bootstrap.
const largeRatio = 20

// EstimatorComparison is how the estimators did over all splits.
type EstimatorComparison struct {
	Data             string
	Train, HeldOut   int
	Splits           int
	Truth, TruthSE   float64 // held-out error: mean over splits, and its standard error
	Estimators       []EstimatorScore
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

// CompareEstimators scores the estimators of the error of spec's classifier, a
// hard or soft margin without bias, which is what the analytic bootstrap is for:
// the apparent error; the analytic bootstrap's left-out error and .632 at ratio 1,
// and its limit at large ratios; leave-one-out by all methods; cross-validation.
func CompareEstimators(ctx context.Context, spec model.Spec, s EstimatorSettings) (*EstimatorComparison,
	error) {
	if spec.Set == nil {
		return nil, badInput("there is no data set")
	}
	n := spec.Set.N()
	switch {
	case s.Train < 2 || s.Train >= n:
		return nil, badInput("cannot train on %d of %d examples and hold out others", s.Train, n)
	case s.Splits < 1 || s.Folds < 2 || s.Folds > s.Train:
		return nil, badInput("cannot judge by %d splits and %d folds", s.Splits, s.Folds)
	}
	e := &estimatorStudy{settings: s, spec: spec, rng: rand.New(rand.NewPCG(s.Seed, 0))}
	e.result = EstimatorComparison{Data: spec.Set.Name, Train: s.Train, HeldOut: n - s.Train}
	for e.result.Splits < s.Splits {
		if err := e.split(ctx); err != nil {
			return nil, err
		}
	}
	e.summarize()
	return &e.result, nil
}

// estimatorStudy computes an EstimatorComparison.
type estimatorStudy struct {
	settings EstimatorSettings
	spec     model.Spec
	rng      *rand.Rand
	truth    []float64 // held-out error, split by split
	records  []*record // of the estimators, in the order of the table
	result   EstimatorComparison
}

// record is what an estimator gave, split by split.
type record struct {
	name                         string
	estimate, seconds, retrained []float64
}

// split draws one split and computes the held-out error and all estimates.
func (e *estimatorStudy) split(ctx context.Context) error {
	drawn, others, err := e.spec.Set.Split(e.settings.Train, e.rng)
	if err != nil {
		return err
	}
	if slices.Min(drawn.Y) == slices.Max(drawn.Y) {
		return badInput("a part of %d examples holds one class only", e.settings.Train)
	}
	spec := e.spec
	spec.Set = drawn
	t := &trainedPart{estimatorStudy: e}
	if t.model, err = model.Build(spec); err != nil {
		return err
	}
	switch l := t.model.Loss.(type) {
	case loss.HardMargin:
		t.c = math.Inf(1)
	case loss.Hinge:
		t.c = l.C
	default:
		return badInput("the judged classifier is a hard or soft margin, not %s", t.model.Loss.Name())
	}
	if t.rows, err = svm.NewRows(t.model.Gram()); err != nil {
		return err
	}
	if err := t.holdOut(others); err != nil {
		return err
	}
	for _, estimate := range []func(context.Context) error{t.theory, t.leaveOneOut, t.crossValidation} {
		if err := estimate(ctx); err != nil {
			return err
		}
	}
	e.result.Splits++
	return ctx.Err()
}

// trainedPart is the part of a split that the classifier is trained on.
type trainedPart struct {
	*estimatorStudy
	model  *model.Model
	c      float64
	rows   *svm.Rows
	fitted []float64 // predictor by example
}

// holdOut trains once, for the held-out error and the apparent one.
func (t *trainedPart) holdOut(others *dataset.Set) error {
	began := time.Now()
	r, err := t.model.Fit(model.FitSettings{Tolerance: loo.DefaultTolerance})
	if err == nil {
		err = r.Err
	}
	if err != nil {
		return err
	}
	t.fitted = make([]float64, len(t.model.Set.Y))
	wrong := 0.0
	for i, label := range t.model.Set.Y {
		t.fitted[i] = r.F[t.model.Site[i]]
		wrong += loss.ZeroOne{}.Value(t.fitted[i], label)
	}
	t.note("apparent", wrong/float64(len(t.fitted)), time.Since(began), 0)
	held := 0.0
	err = t.model.Cross(model.Dense(blas64.General(others.X)), func(first int, rows []float64) error {
		m := t.model.Sites()
		for i := range len(rows) / m {
			held += loss.ZeroOne{}.Value(floats.Dot(rows[i*m:(i+1)*m], r.Weight), others.Y[first+i])
		}
		return nil
	})
	t.truth = append(t.truth, held/float64(others.N()))
	return err
}

// theory solves the analytic bootstrap at ratio 1 and at a large one. For the large
// one a soft margin's C is divided by the ratio: an example that is drawn k times
// has the box k C.
func (t *trainedPart) theory(ctx context.Context) error {
	for _, ratio := range []float64{1, largeRatio} {
		scheme, err := resample.ByName("poisson", resample.Options{Ratio: ratio, N: t.settings.Train})
		if err != nil {
			return err
		}
		m := *t.model
		if hinge, soft := m.Loss.(loss.Hinge); soft {
			hinge.C /= ratio
			m.Loss = hinge
		}
		began := time.Now()
		solution, err := m.Solve(ctx, scheme, solver.Settings{})
		if err != nil {
			return err
		}
		leftOut, _ := solution.LeftOut(loss.ZeroOne{})
		took := time.Since(began)
		if solution.Status.Err() != nil {
			t.result.UnfinishedTheory++
		}
		t.note(fmt.Sprintf("bootstrap, ratio %g", ratio), leftOut, took, 0)
		if ratio == 1 {
			combined := solver.Combine632(leftOut, loss.ZeroOne{}, t.model.Set.Y, t.fitted)
			t.note(".632", combined.Err632, took, 0)
			t.note(".632+", combined.Err632Plus, took, 0)
		}
	}
	return nil
}

// leaveOneOut runs the methods of package loo.
func (t *trainedPart) leaveOneOut(ctx context.Context) error {
	p := loo.Problem{Kernel: t.rows, Site: t.model.Site, Y: t.model.Set.Y, C: t.c,
		ClassWeight: loss.WeightsOf(t.model.Loss).ClassWeight}
	results, err := loo.Compare(ctx, p, loo.Settings{})
	if err != nil {
		return err
	}
	for _, r := range results {
		name := "leave-one-out, " + r.Method.String()
		if r.Rho > 0 {
			name += fmt.Sprintf(", rho %g", r.Rho)
		}
		t.note(name, r.Error, r.Elapsed, float64(r.Retrained)/float64(len(p.Y)))
	}
	return ctx.Err()
}

// crossValidation predicts each fold's examples by a training on all others.
func (t *trainedPart) crossValidation(context.Context) error {
	began := time.Now()
	trainer := svm.NewTrainer(t.rows)
	y, site := t.model.Set.Y, t.model.Site
	p := svm.Problem{Y: y, Site: site, C: make([]float64, len(y))}
	order, wrong, n := t.rng.Perm(len(y)), 0.0, len(y)
	for fold := range t.settings.Folds {
		held := order[fold*n/t.settings.Folds : (fold+1)*n/t.settings.Folds]
		for i := range p.C {
			p.C[i] = t.c * loss.WeightsOf(t.model.Loss).ClassWeight(y[i])
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
	t.note(fmt.Sprintf("%d-fold cross-validation", t.settings.Folds), wrong/float64(n), time.Since(began), 1)
	return nil
}

// note adds to the record of an estimator.
func (e *estimatorStudy) note(name string, estimate float64, took time.Duration, retrained float64) {
	i := slices.IndexFunc(e.records, func(r *record) bool { return r.name == name })
	if i < 0 {
		i = len(e.records)
		e.records = append(e.records, &record{name: name})
	}
	r := e.records[i]
	r.estimate = append(r.estimate, estimate)
	r.seconds = append(r.seconds, took.Seconds())
	r.retrained = append(r.retrained, retrained)
}

// summarize averages over splits.
func (e *estimatorStudy) summarize() {
	n := float64(len(e.truth))
	e.result.Truth, e.result.TruthSE = meanSD(e.truth)
	e.result.TruthSE /= math.Sqrt(n)
	for _, r := range e.records {
		off := floats.SubTo(make([]float64, len(e.truth)), r.estimate, e.truth)
		score := EstimatorScore{
			Estimator: r.name, RMS: floats.Norm(off, 2) / math.Sqrt(n),
			Seconds: stat.Mean(r.seconds, nil), Retrained: stat.Mean(r.retrained, nil),
		}
		score.Mean, score.SD = meanSD(r.estimate)
		score.Bias, score.BiasSE = meanSD(off)
		score.BiasSE /= math.Sqrt(n)
		e.result.Estimators = append(e.result.Estimators, score)
	}
}

// meanSD is the mean and the standard deviation, 0 of a single value.
func meanSD(x []float64) (mean, sd float64) {
	if len(x) == 1 {
		return x[0], 0
	}
	return stat.MeanStdDev(x, nil)
}
