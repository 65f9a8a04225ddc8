// Package tune chooses hyperparameters, for every command and the library alike: by a small grid on a part of
// the examples, and from its best model by gradient descent. The theory's error on examples that a fold or a
// resample leaves out is a smooth function of all hyperparameters, without the noise of random folds, and its
// gradient costs about as much as its value. Other objectives are for comparison.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"bootbench/internal/calibration"
	"bootbench/internal/model"
	"bootbench/loss"
	"bootbench/resample"
)

// By is an objective.
type By int

// The objectives. Leave-one-out is exact for the square loss; for others it is the left-out error
// of the theory under cross-validation with as many folds as examples.
const (
	Folds       By = iota // error of cross-validation by the theory, averaged over all partitions of the data
	LeftOut               // left-out error of the theory
	Plain632              // .632 of the theory, see adjoint.Err632
	Plus632               // .632+ of the theory, see adjoint.Err632Plus
	LeaveOneOut           // mean leave-one-out loss
	Evidence              // negative log marginal likelihood per example, for the square loss
)

var byNames = []string{"cv", "leftout", "632", "632plus", "loo", "evidence"}

// words name the objectives in a sentence.
var words = []string{"cross-validation by the theory", "left-out error of the theory",
	".632 of the theory", ".632+ of the theory", "leave-one-out error", "evidence"}

func (b By) String() string { return byNames[b] }

// Axis is a hyperparameter to be chosen, by its name: length-scale means all length scales.
type Axis struct {
	Name     string
	From, To float64 // default: see ranges
	Given    bool    // the search begins at the specification's value, not with a grid
}

// Problem is the model, the hyperparameters to choose and the objective.
type Problem struct {
	// Spec has the data, the kernel and the loss; a nil loss means the square loss, or for labels the hinge
	// loss. Kernel matrices are dense. Its Measure, unless it is the error, judges the models of two labels
	// by exact fits without each of Folds folds, on the grid alone.
	Spec   model.Spec
	Over   []Axis // default: Default
	By     By
	Folds  int       // of By Folds; default DefaultFolds
	Test   loss.Test // ignored by Evidence; default: square, or for labels zero-one
	Scales Scales
	Rows   int // that judge a model at most, a fixed random part; default DefaultRows
	// resampling of n examples, for LeftOut, Plain632 and Plus632; default: Poisson of ratio 1
	Scheme func(n int) (resample.Scheme, error)

	leads bool // to a search for length scales
}

// scaled reports whether features have length scales of their own, or shall have them: it takes a gradient.
func (p *Problem) scaled() bool { return p.leads || len(p.Spec.Kernel.LengthScale) > 1 }

// Settings of the search. The zero value means the defaults.
type Settings struct {
	// Progress, if set, is called with every evaluation and the least value so far.
	Progress func(e Evaluation, least float64)
	// Do, if set, computes a part of the search by compute, or returns the same part of an earlier Run with
	// this Problem and these Settings. The error of ctx means that the part is incomplete.
	Do func(name string, compute func() (Part, error)) (Part, error)

	before string // the names of parts
}

// DefaultRows is the default of Problem.Rows. A solve takes some Rows^3 operations.
const DefaultRows = 500

// DefaultFolds is the default of Problem.Folds, the best in doc/tuning.md.
const DefaultFolds = 5

// Part is the evaluations of a part of the search.
type Part struct {
	Path     []Evaluation
	Failures int
}

// Evaluation is a model with its objective.
type Evaluation struct {
	Examples int       `json:"examples"` // of the objective
	Values   []float64 `json:"values"`   // of Result.Over
	Value    float64   `json:"value"`    // of the objective; 0 if it failed
	Failure  string    `json:"failure,omitempty"`

	err error // the failure, unless the evaluation is from Settings.Do
}

// Result is the choice.
type Result struct {
	Spec      model.Spec // the chosen model, rounded to four digits
	By        By
	Folds     int                    // of By Folds
	Over      []model.Hyperparameter // the chosen ones, one for each length scale
	Value     float64                // of the objective
	RunnerUp  float64                // relative difference of the grid's second best value; NaN without one
	Path      []Evaluation
	Failures  int
	Bounds    []Bound // hyperparameters whose value lies on a bound
	Cancelled bool    // the search ended early, with ctx
	// Narrowed is the fraction of the error on more examples that a narrower kernel gains; 0: it was not
	// narrowed.
	Narrowed float64
	// Alternative has one length scale for all features if Spec has one for each, or conversely; nil if it
	// was not tried. Its error is Times as high.
	Alternative *Result
	Times       float64
	Undecided   bool // between the two, see Either

	measure calibration.Measure // by which models were judged
	spans   []span              // of Over
}

// Bound says that a hyperparameter lies on a bound of its range, where the best value may be outside.
type Bound struct {
	Value float64
	Text  string
}

// ErrNone: no model could be evaluated.
var ErrNone = errors.New("no model could be judged")

// Run chooses. With nothing to choose it is the specification.
func Run(ctx context.Context, p Problem, settings Settings) (*Result, error) {
	r, err := choose(ctx, p, settings)
	if err == nil && !r.Cancelled && p.complete() == nil {
		r = reconsider(ctx, &p, r)
		r.Cancelled = ctx.Err() != nil
	}
	return r, err
}

// choose is Run on at most so many examples.
func choose(ctx context.Context, p Problem, settings Settings) (*Result, error) {
	if p.Scales != AsGiven {
		return runScales(ctx, p, settings)
	}
	s, err := newSearch(p, settings)
	if err != nil {
		return nil, err
	}
	if r := &s.result; len(r.Over) == 0 {
		r.Spec = s.given
		return r, nil
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	if err := s.choose(ctx); err != nil {
		return nil, err
	}
	s.noteBounds()
	s.result.spans, s.result.Cancelled = s.spans, ctx.Err() != nil
	return &s.result, nil
}

// choose sets the best model on the largest number of examples that can be trained on them.
func (s *search) choose(ctx context.Context) (err error) {
	r := &s.result
	for _, e := range ranked(r.Path) {
		r.Spec, r.Value, err = s.given, e.Value, nil
		for k, h := range r.Over {
			err = cmp.Or(err, h.Set(&r.Spec, fourDigits(e.Values[k])))
		}
		r.Spec.Chosen = chosen(&r.Spec, r.Over)
		on := r.Spec
		on.Set = s.subset(s.problem.Rows).Set
		if err = cmp.Or(err, canTrain(ctx, on)); err == nil || ctx.Err() != nil {
			return nil
		}
		r.Failures++
	}
	return fmt.Errorf("%w: the last one cannot be trained: %w", ErrNone, err)
}

// chosen names the hyperparameters of a specification that this or an earlier search has chosen.
func chosen(spec *model.Spec, over []model.Hyperparameter) (names []string) {
	for _, name := range spec.Chosen {
		if _, err := spec.Hyperparameters(name); err == nil {
			names = append(names, name)
		}
	}
	for _, h := range over {
		if !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

// canTrain is the failure of a training, nil for the closed form of the square loss.
func canTrain(ctx context.Context, spec model.Spec) error {
	if loss.TraitsOf(spec.Loss).Quadratic {
		return nil
	}
	first, err := model.Build(ctx, spec)
	if err != nil {
		return err
	}
	return eachPart(len(first.Functions), func(k int) error {
		m, err := partOf(ctx, first, k)
		if err != nil {
			return err
		}
		fit, err := m.Fit(ctx, 0)
		if err != nil {
			return err
		}
		return fit.Status.Err()
	})
}

// String describes the search: "" if there was nothing to choose.
func (r *Result) String() string {
	if len(r.Path) == 0 {
		return ""
	}
	by := words[r.By]
	if r.By == Folds {
		if r.Spec.Set.Groups != nil {
			by = "cross-validation by exact fits, whole groups left out"
		} else if len(r.Spec.Set.Levels()) > 2 && len(r.Spec.Kernel.LengthScale) <= 1 {
			by = "cross-validation by exact fits"
		} else if !r.measure.IsError() {
			by = fmt.Sprintf("cross-validation by exact fits, judged by %v", r.measure)
		}
		by = fmt.Sprintf("%d-fold %s", r.Folds, by)
	}
	text := fmt.Sprintf("%s: the best of %d models, judged on %d rows", by, r.Evaluations(), r.judgedOn())
	if r.RunnerUp >= 0 {
		text += fmt.Sprintf("; the second best of the grid is %.2g%% worse", 100*r.RunnerUp)
	}
	if r.Narrowed > 0 {
		text += fmt.Sprintf("; exact fits to more rows chose a narrower kernel, which lowers their error "+
			"by %.2g%%", 100*r.Narrowed)
	}
	if r.Alternative != nil {
		other := "a length scale for each feature"
		if len(r.Spec.Kernel.LengthScale) > 1 {
			other = "one length scale for all features"
		}
		text += fmt.Sprintf("; with %s the error is %.3g times as high", other, r.Times)
		if r.Times < 1 {
			text += ", which may be chance"
		}
	}
	return text
}

// Evaluations is the number of evaluations.
func (r *Result) Evaluations() int {
	if r.Alternative != nil {
		return len(r.Path) + len(r.Alternative.Path)
	}
	return len(r.Path)
}

// Value is the objective of one model, Problem.Spec; Over is ignored.
func Value(ctx context.Context, p Problem, tolerance float64) (float64, error) {
	if err := p.complete(); err != nil {
		return 0, err
	}
	v, err := (&judge{problem: &p, tolerance: tolerance}).value(ctx, p.Spec)
	return v.value, err
}

// fourDigits rounds, so that the printed value is the value used.
func fourDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
}

// complete sets the defaults of a problem.
func (p *Problem) complete() error {
	spec := &p.Spec
	if spec.Set == nil || spec.Set.N() < 2 {
		return fmt.Errorf("%w: there are too few examples to choose by", model.ErrInput)
	}
	if spec.Loss == nil && spec.Set.AreNumbers() {
		spec.Loss = loss.Square{Noise: 1}
	} else if spec.Loss == nil {
		spec.Loss = loss.Hinge{C: 1}
	}
	if p.Test == nil {
		p.Test = model.DefaultTest(spec.Set)
	}
	if p.Scheme == nil {
		p.Scheme = func(int) (resample.Scheme, error) { return resample.Poisson{Ratio: 1}, nil }
	}
	p.Folds, p.Rows = min(cmp.Or(p.Folds, DefaultFolds), spec.Set.N()), cmp.Or(p.Rows, DefaultRows)
	if err := p.Check(); err != nil {
		return err
	}
	spec.Storage, spec.RankTol, spec.MaxRank, spec.Pairs = model.Exact, 0, 0, false
	spec.Kernel.Amplitude = cmp.Or(spec.Amplitude(), 1)
	return nil
}

// Check refuses objectives that do not apply to the model.
func (p *Problem) Check() error {
	square, test := loss.TraitsOf(p.Spec.Loss).Quadratic, loss.TraitsOf(p.Test)
	exact := square && (p.By == LeaveOneOut || p.By == Evidence)
	refused := ""
	switch {
	case !p.Spec.Measure.IsError() && len(p.Spec.Set.Levels()) != 2:
		refused = fmt.Sprintf("models are judged by %v on two labels", p.Spec.Measure)
	case !p.Spec.Measure.IsError() && p.By != Folds:
		refused = fmt.Sprintf("models are judged by %v on rows that exact fits leave out: choose by cv",
			p.Spec.Measure)
	case p.By == Evidence && !square:
		refused = fmt.Sprintf("the evidence is for the square loss, not for %s: choose by cv or leftout",
			p.Spec.Loss.Name())
	case p.By == LeaveOneOut && test.Steps:
		refused = "the zero-one loss of leave-one-out is no smooth function: choose by cv or leftout, or " +
			"with the test loss square"
	case p.By == LeaveOneOut && square && !test.Quadratic:
		refused = fmt.Sprintf("exact leave-one-out is of the test loss square, not of %s", p.Test.Name())
	case (p.By == Plain632 || p.By == Plus632) && !test.Steps && !test.Quadratic:
		refused = fmt.Sprintf("a smooth .632 is for the test losses square and zero-one, not for %s: "+
			"choose by cv or leftout", p.Test.Name())
	case exact && p.Spec.Set.Weights != nil:
		refused = "exact leave-one-out and the evidence are of examples without weights: choose by cv or " +
			"leftout"
	case exact && p.Spec.Bias:
		refused = "exact leave-one-out and the evidence are of models without bias: give Spec.Bias false, " +
			"or choose by cv or leftout"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", model.ErrInput, refused)
}
