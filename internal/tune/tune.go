// Package tune chooses hyperparameters by the gradient of the bootstrap error: the estimate of
// .632+ or of the left-out error that the theory makes of a model is a smooth function of all
// of them, without the noise of folds, and its gradient costs about as much as itself. Leave-one-out
// and the evidence, for the square loss from one fit, stand beside them to compare with.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// By is what models are chosen by.
type By int

// The objectives. Leave-one-out is exact for the square loss; for others it is the left-out error
// of the theory under cross-validation with as many folds as examples.
const (
	Plus632     By = iota // .632+ of the theory, see adjoint.Err632Plus
	LeftOut               // left-out error of the theory
	LeaveOneOut           // mean left-out loss of one fit to all but one
	Evidence              // negative log marginal likelihood per example, for the square loss
)

var byNames = []string{"632plus", "leftout", "loo", "evidence"}

// Names lists the objectives' names on the command line.
func Names() []string { return slices.Clone(byNames) }

func (b By) String() string { return byNames[b] }

// ByName is the objective of that name.
func ByName(name string) (By, error) {
	if at := slices.Index(byNames, name); at >= 0 {
		return By(at), nil
	}
	return 0, fmt.Errorf("there is no objective %q", name)
}

// Axis is a hyperparameter to be chosen, by the name of its flag: length-scale stands for all
// that the model has.
type Axis struct {
	Name     string
	From, To float64 // default: see ranges
}

// Problem says what is chosen, and by what.
type Problem struct {
	// Spec has the data, the kernel and the loss. The values of what is chosen are the first
	// start; of the kernel's, 0 stands for a default. The kernel matrix is held whole.
	Spec model.Spec
	Over []Axis
	By   By
	Test loss.Test // not looked at by Evidence
	// how n examples are redrawn; not for LeaveOneOut and Evidence
	Scheme func(n int) (resample.CountDistribution, error)
}

// Settings steer the search. The zero value means the defaults.
type Settings struct {
	Starts    int     // descents, the first from the values of Problem.Spec; default DefaultStarts
	Seed      uint64  // of the other starts; default 0
	Tolerance float64 // of the last solve; default solver.DefaultTolerance
	// Progress, if set, is told of every model that is judged, and of the least value so far of
	// the same descent.
	Progress func(e Evaluation, least float64)
	// Do, if set, does a start by compute, or says what a Run of the same Problem and Settings has
	// judged there. An error, that of ctx, says that the start is not complete.
	Do func(name string, compute func() (Part, error)) (Part, error)
}

// Part is what a start has judged.
type Part struct {
	Path     []Evaluation
	Failures int
}

// DefaultStarts is the Starts of zero Settings.
const DefaultStarts = 4

// Evaluation is a model that was judged.
type Evaluation struct {
	Start    int       `json:"start"`             // number of the start, from 1; 0 after the starts
	Examples int       `json:"examples"`          // that it was judged on
	Values   []float64 `json:"values"`            // of Result.Over
	Value    float64   `json:"value"`             // of the objective; 0 where it failed
	Failure  string    `json:"failure,omitempty"` // why it failed
}

// Result is the choice.
type Result struct {
	Spec          model.Spec             // the model that was chosen, rounded to four digits
	Over          []model.Hyperparameter // what was chosen, one for each length scale
	Value         float64                // of the objective
	Path          []Evaluation
	Ends          []float64 // values of the objective at which the starts ended, on StartExamples
	StartExamples int
	Failures      int
	Bounds        []string // hyperparameters whose value lies on a bound, and on which
	Cancelled     bool     // the search ended early, with ctx

	// The theory's answer for the model that was chosen, unless the search was cancelled.
	Model         *model.Model
	Solution      *solver.Solution
	TestError     float64 // left-out error
	StandardError float64 // of TestError over examples
}

// ErrNone says that no model could be judged.
var ErrNone = errors.New("no model could be judged")

// Run chooses.
func Run(ctx context.Context, p Problem, settings Settings) (*Result, error) {
	settings.Starts = cmp.Or(settings.Starts, DefaultStarts)
	settings.Tolerance = cmp.Or(settings.Tolerance, solver.DefaultTolerance)
	s, err := newSearch(p, settings)
	if err != nil {
		return nil, err
	}
	best, err := s.run(ctx)
	if err == nil {
		err = s.choose(best)
	}
	if err != nil {
		return nil, err
	}
	r := &s.result
	s.noteBounds(s.values(&r.Spec))
	if r.Cancelled = ctx.Err() != nil; !r.Cancelled {
		err = s.conclude(ctx)
	}
	return r, err
}

// choose sets the model of an evaluation.
func (s *search) choose(e Evaluation) error {
	r := &s.result
	r.Spec, r.Value = s.spec, e.Value
	for k, h := range r.Over {
		if err := h.Set(&r.Spec, fourDigits(e.Values[k])); err != nil {
			return err
		}
	}
	return nil
}

// Alike is the number of starts that ended within ten tolerances of the best end.
func (r *Result) Alike() (alike int) {
	for _, v := range r.Ends {
		if least := slices.Min(r.Ends); v-least <= 10*tolerance*math.Abs(least) {
			alike++
		}
	}
	return alike
}

// Value is the objective of one model, Problem.Spec; Over is not looked at.
func Value(ctx context.Context, p Problem, tolerance float64) (float64, error) {
	if err := p.complete(); err != nil {
		return 0, err
	}
	v, err := (&judge{problem: &p, tolerance: tolerance}).value(ctx, p.Spec)
	return v.value, err
}

// fourDigits rounds, so that what is printed is what was used.
func fourDigits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return v
}

// conclude solves for the model that was chosen.
func (s *search) conclude(ctx context.Context) error {
	r := &s.result
	scheme, err := s.problem.Scheme(r.Spec.Set.N())
	if err != nil {
		return err
	}
	if r.Model, err = model.Build(r.Spec); err != nil {
		return err
	}
	r.Solution, err = r.Model.Solve(ctx, scheme, solver.Settings{Tolerance: s.settings.Tolerance})
	if err != nil {
		return err
	}
	test := s.problem.Test
	var each []float64
	r.TestError, each = r.Solution.LeftOut(test)
	r.StandardError = stat.StdErr(stat.StdDev(each, nil), float64(len(each)))
	return nil
}

// complete fills in what a model must have before it is searched.
func (p *Problem) complete() error {
	spec := &p.Spec
	if spec.Set == nil || spec.Set.N() < 2 || spec.Loss == nil {
		return fmt.Errorf("%w: there is no loss, or there are too few examples to choose by", model.ErrInput)
	}
	if p.Test == nil {
		p.Test = loss.SquareTest{}
		if spec.Set.Task == dataset.Classification {
			p.Test = loss.ZeroOne{}
		}
	}
	if p.Scheme == nil {
		p.Scheme = func(int) (resample.CountDistribution, error) { return resample.Poisson{Ratio: 1}, nil }
	}
	_, square := spec.Loss.(loss.Square)
	exact := square && (p.By == LeaveOneOut || p.By == Evidence)
	_, zeroOne := p.Test.(loss.ZeroOne)
	_, squares := p.Test.(loss.SquareTest)
	switch {
	case p.By == Evidence && !square:
		return fmt.Errorf("%w: the evidence is for the square loss, not for %s: choose by 632plus or leftout",
			model.ErrInput, spec.Loss.Name())
	case p.By == LeaveOneOut && zeroOne:
		return fmt.Errorf("%w: the zero-one loss of leave-one-out is no smooth function: choose by 632plus or "+
			"leftout, or with the test loss square", model.ErrInput)
	case p.By == LeaveOneOut && square && !squares:
		return fmt.Errorf("%w: exact leave-one-out is of the test loss square, not of %s", model.ErrInput,
			p.Test.Name())
	case p.By == Plus632 && !zeroOne && !squares:
		return fmt.Errorf("%w: a smooth .632+ is for the test losses square and zero-one, not for %s: choose "+
			"by leftout", model.ErrInput, p.Test.Name())
	case spec.Storage == model.ScaLAPACK || spec.Storage == model.LowRank:
		return fmt.Errorf("%w: the gradient needs the whole kernel matrix: take the exact engine, or fewer "+
			"examples",
			model.ErrInput)
	case exact && spec.Bias:
		return fmt.Errorf("%w: exact leave-one-out and the evidence are of models without bias: give "+
			"--no-bias, or choose by 632plus or leftout", model.ErrInput)
	}
	spec.Storage, spec.RankTol, spec.MaxRank = model.Exact, 0, 0
	if spec.Kernel.Amplitude == 0 {
		if spec.Kernel.Amplitude = 1; spec.NormalizeTarget && spec.Set.Task == dataset.Regression &&
			spec.Kernel.Kind != kernel.Precomputed {
			spec.Kernel.Amplitude = math.Max(stat.PopVariance(spec.Set.Y, nil), math.SmallestNonzeroFloat64)
		}
	}
	return nil
}
