// Package bootbench tells how well a kernel machine (Gaussian process, support vector machine, logistic, ...)
// will predict, and how much its predictions would change with other data, without refitting it a thousand
// times: by the theory of Malzahn and Opper for the bootstrap, checked by resamples that are trained exactly.
//
//	data, err := bootbench.Load("houses.csv", bootbench.ReadOptions{})
//	spec, err := bootbench.Choose(ctx, data) // or a Spec with a Loss and a Kernel of your own
//	e, err := bootbench.Estimate(ctx, spec, bootbench.Options{})
//	fmt.Println(e.Error, e.SE)
//
// Defaults are the same as in the command bootbench, but copies of a row are drawn like other rows, not
// together. Errors name what is wrong with data or specification, and the cure; errors of bad input wrap
// ErrInput.
package bootbench

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// Data are N examples of D features, and what is predicted: numbers or classes, in one column or several.
// Load and New make them. The fields are:
//
//	Name, Source          string            // what was read, and where it comes from
//	X                     linalg.Matrix     // N x D features, empty if they are Sparse
//	Sparse                *linalg.CSR       // the features if most are zero, else nil
//	Features              []string          // their names
//	Columns               []Column          // targets: Name, Y, and of classes Levels, whose numbers Y has
//	RowNames              []string          // names of the examples, or nil
//	Groups, Strata, Folds []int             // parts of the examples, numbered from 0, or nil: see Options
//	Weights               []float64         // importance weights above 0 of the examples, nil for 1
//	Notes                 []string          // what Load detected, left out or encoded
//	Doubts                []dataset.Doubt   // what Load found on which a user may act
//
// N and D are their numbers, Targets(0) the targets of the first column, with -1 and +1 for two classes. The
// method Classify makes classes of numbers.
type Data = dataset.Set

// Column is what is predicted: numbers, or classes.
//
//	Name   string
//	Y      []float64 // a number for each example; of classes the place in Levels, from 0
//	Levels []string  // names of the classes in order; nil: numbers
//	Texts  bool      // the levels are texts in the file
//	Rest   bool      // of two levels the first means any other than the second
type Column = dataset.Column

// Inputs are new rows for a model, with targets or without: Data whose targets are optional. LoadInputs and
// NewInputs make them.
type Inputs = dataset.Inputs

// ReadOptions are options of reading a file. The zero value detects what it can. Columns are given by name or
// by number from 1.
//
//	Target                  string    // the columns that are predicted, with commas between; "": the last
//	Drop                    []string  // columns to leave out
//	Categorical             []string  // columns of numbers that name categories
//	Groups, Strata, Folds   string    // columns of the parts of the examples, which are no features
//	Weights, Counts         string    // columns of importance weights, and of numbers of equal rows
//	NoHeader                bool      // the first line is an example
//	As                      As        // "regression" or "classification"; "": detected
//	TaskKnown               bool      // few whole numbers as targets are not asked about
//	Positive                string    // the label that becomes +1, against all others
//	Missing                 Missing   // of cells: "drop", "mean" or "indicator"; "": they are an error
//	NA                      []string  // further codes of missing cells
//	UnseenZero              bool      // categories that the training data lack are zeros, not an error
//	MaxBytes                int64     // limit of the memory; 0: 2 GiB
//	Stdin                   io.Reader // what the path "-" reads
type ReadOptions = dataset.Options

// Spec specifies a model. NewSpec has the defaults, Choose and Tune find one.
//
//	Set             *Data
//	Loss            Loss
//	Kernel          Kernel
//	Bias            bool    // an unpenalised constant in the predictor
//	Standardize     bool    // features to mean 0 and standard deviation 1
//	FitsAlone       bool    // exact fits follow, without the theory; Auto chooses the storage for these
//	NormalizeTarget bool    // centre numbers; their variance is the Amplitude of the kernel if that is 0
//	Chosen          []string // what Choose or Tune chose; "scales": if features share a length scale
//	                         // errors are corrected for it
//	Measure         Measure  // by what models of two labels are chosen and judged, and their labels decided
//	Pairs           bool    // pairs of several classes vote, instead of each class against the others
//	Storage         Storage // form of the kernel matrix: Exact, LowRank or Auto
//	RankTol         float64 // of a low rank: tolerance of the mean residual, relative to the kernel's mean
//	RankError       float64 // of a low rank: largest relative change of the left-out error; 0: 1%
//	MaxRank         int     // of a low rank; 0: what fits into memory
//	MaxBytes        int64   // limit of the memory; 0: what is free
//	Then            func(*model.Model) int64 // memory of what follows, to refuse it early; nil: unknown
//	Servants        *scalapack.Servants      // the other processes of a kernel matrix spread over MPI
//	Block           int                      // edge of its blocks
type Spec = model.Spec

// Storage of the kernel matrix: whole, as a low-rank factor, or as a factor if that is faster or only it fits
// into memory.
const (
	Exact   = model.Exact
	LowRank = model.LowRank
	Auto    = model.Auto
)

// Kernel is a covariance function, by kind and parameters: see bootbench/kernel.
type Kernel = kernel.Spec

// Loss is a training loss: one of those below, another one of bootbench/loss, or the caller's own.
type Loss = loss.Loss

// Losses; bootbench/loss has others.
type (
	Square         = loss.Square         // (f - y)^2/(2 Noise): Gaussian-process regression
	EpsInsensitive = loss.EpsInsensitive // C max(0, |f - y| - Epsilon): support vector regression
	Huber          = loss.Huber          // C times a square that is linear beyond Delta
	Hinge          = loss.Hinge          // C max(0, 1 - y f): support vector classification, soft margin
	HardMargin     = loss.HardMargin     // the same, hard margin
	Logistic       = loss.Logistic       // C log(1 + exp(-y f))
)

// Measure is by what models of two labels are chosen, judged and used, instead of the error: the zero value.
//
//	Name               string  // "error", "log-loss", "auc", "balanced" or "cost"
//	Negative, Positive float64 // of "cost": what a wrong label costs for a row of -1, and of +1
type Measure = calibration.Measure

// Test is a test loss of left-out predictions, such as loss.ZeroOne{} or loss.Absolute{}.
type Test = loss.Test

// Scheme says how training sets are drawn: one of those below, or another one of bootbench/resample, whose
// Design makes schemes over groups, strata and blocks of time.
type Scheme = resample.Scheme

// Schemes; bootbench/resample has others.
type (
	Poisson     = resample.Poisson     // the bootstrap, with a random number of draws
	Multinomial = resample.Multinomial // the bootstrap
	KFold       = resample.KFold       // cross-validation
	Design      = resample.Design      // groups, strata and blocks of dependent examples
)

// ErrInput marks invalid data or an invalid specification.
var ErrInput = model.ErrInput

var (
	errNoData   = fmt.Errorf("%w: there is no data: Load or New make some", ErrInput)
	errNoInputs = fmt.Errorf("%w: there are no new inputs: LoadInputs or NewInputs make some", ErrInput)
)

// given refuses a missing context or data.
func given(ctx context.Context, data *Data) error {
	switch {
	case ctx == nil:
		return fmt.Errorf("%w: the context is nil: context.Background() is one", ErrInput)
	case data == nil:
		return errNoData
	}
	return nil
}

// Load reads a file (.csv, .tsv, .svm, .npy, .npz, .parquet, also compressed), an embedded set ("boston",
// "sonar", ...) or a generated one ("synthetic:friedman1,n=200").
func Load(path string, o ReadOptions) (*Data, error) {
	return dataset.Load(path, o)
}

// New makes data of N x D inputs and N targets, and copies them.
func New(x mat.Matrix, y []float64) (*Data, error) { return dataset.New(x, y) }

// LoadInputs reads new inputs for models of data: its columns by name.
func LoadInputs(path string, data *Data, o ReadOptions) (*Inputs, error) {
	if data == nil {
		return nil, errNoData
	}
	return data.Encoding().LoadInputs(path, o)
}

// NewInputs makes new inputs of a matrix, and copies it.
func NewInputs(x mat.Matrix) (*Inputs, error) { return dataset.NewInputs(x) }

// NewSpec is a model with this loss and the defaults of the command: standardised features, centred targets,
// a bias for labels, the kernel exp(-|x-x'|^2/(2d)), d the number of features that vary.
func NewSpec(data *Data, l Loss) Spec { return model.NewSpec(data, l) }

// Choose finds a model by a small deterministic search: the preset of an embedded set; the square loss, its
// noise and the width of the kernel for numbers; hinge, its C and the width for labels. Two numbers are
// labels if they are -1 and 1, or by ReadOptions.As.
func Choose(ctx context.Context, data *Data) (Spec, error) {
	if err := given(ctx, data); err != nil {
		return Spec{}, err
	}
	spec := model.NewSpec(data, nil)
	if preset, known := model.PresetFor(data); known {
		spec.Kernel, spec.Loss, spec.Standardize = preset.Kernel, preset.Loss, preset.Standardize
		spec.NormalizeTarget, spec.Bias = false, false
		return spec, nil
	}
	return Tune(ctx, spec)
}

// Tune chooses hyperparameters by the theory's cross-validation, on at most 500 of the examples: by a small
// grid, and gradient descent from its best model; with Spec.Measure by exact fits, and the grid alone. It
// chooses the width of the kernel and the parameters of
// the loss (a nil Loss means Choose's), for numbers a length scale for each feature if that is significantly
// better, or those that over names ("gamma", "C", "noise", "length-scale", ...).
func Tune(ctx context.Context, spec Spec, over ...string) (Spec, error) {
	if err := given(ctx, spec.Set); err != nil {
		return spec, err
	}
	p := tune.Problem{Spec: spec}
	for _, name := range over {
		p.Over = append(p.Over, tune.Axis{Name: name})
	}
	if len(over) == 0 {
		p.Scales = tune.DefaultScales(&spec)
	}
	r, err := tune.Run(ctx, p, tune.Settings{})
	if err != nil {
		return spec, err
	}
	return r.Spec, ctx.Err()
}

// Inverse is a Gaussian-process regression that keeps its inverse, so that examples are left out and added
// without retraining:
//
//	func (*Inverse) N() int
//	func (*Inverse) LeaveOut(rows ...int) ([]float64, error) // predicts these examples by the others
//	func (*Inverse) Append(ctx context.Context, more *Data) error // adds examples at the end
type Inverse = model.Solved

// Invert inverts the kernel matrix of a specification with the square loss, no bias, and dense inputs that
// all differ, in N^3 operations and 16 N^2 bytes. Others are refused.
func Invert(ctx context.Context, spec Spec) (*Inverse, error) {
	if err := given(ctx, spec.Set); err != nil {
		return nil, err
	}
	return model.NewSolved(ctx, spec)
}
