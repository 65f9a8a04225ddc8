// Package bootbench tells how well a kernel machine (Gaussian process, support vector machine, logistic, ...)
// will predict, and how much its predictions would change with other data, without refitting it a thousand
// times: by the theory of Malzahn and Opper for the bootstrap, checked by resamples that are trained exactly.
//
//	data, err := bootbench.Load("houses.csv", bootbench.ReadOptions{})
//	spec, err := bootbench.Choose(ctx, data) // or a Spec with a Loss and a Kernel of your own
//	e, err := bootbench.Estimate(ctx, spec, bootbench.Options{})
//	fmt.Println(e.Error, e.SE)
//
// Defaults are those of the command bootbench. Errors name what is wrong with data or specification, and the
// cure; those of bad input wrap ErrInput.
package bootbench

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// Types of data, models and schemes.
type (
	Data        = dataset.Set     // examples: features and a target each
	Inputs      = dataset.Inputs  // new rows, with targets or without
	ReadOptions = dataset.Options // options of reading a file

	Spec   = model.Spec  // a specification: data, loss, kernel, bias, preprocessing
	Kernel = kernel.Spec // a covariance function
	Loss   = loss.Loss   // a training loss

	Square         = loss.Square         // (f - y)^2/(2 noise): Gaussian-process regression
	EpsInsensitive = loss.EpsInsensitive // support vector regression
	Huber          = loss.Huber
	Hinge          = loss.Hinge      // support vector classification, soft margin
	HardMargin     = loss.HardMargin // the same, hard margin
	Logistic       = loss.Logistic

	Test   = loss.Test // a test loss of left-out predictions
	Scheme = resample.Scheme

	Poisson     = resample.Poisson     // the bootstrap, with a random number of draws
	Multinomial = resample.Multinomial // the bootstrap
	KFold       = resample.KFold       // cross-validation

	Trained = model.Predictor // a trained model without its data: Predict and Write
)

// ErrInput marks invalid data or an invalid specification.
var ErrInput = model.ErrInput

var (
	errNoData    = fmt.Errorf("%w: there is no data: Load or New make some", ErrInput)
	errNoInputs  = fmt.Errorf("%w: there are no new inputs: LoadInputs or NewInputs make some", ErrInput)
	errNoTrained = fmt.Errorf("%w: there is no trained model: Train or ReadModel make one", ErrInput)
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
// noise and the width of the kernel for numbers; hinge, its C and the width for labels.
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
// grid, and gradient descent from its best model. It chooses the width of the kernel and the parameters of
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

// Train trains on all data of spec: for several classes a model of each against the others, for several
// targets one of each. PredictBy reads them together.
func Train(ctx context.Context, spec Spec) (*Trained, error) {
	s, err := built(ctx, spec, Options{})
	if err != nil {
		return nil, err
	}
	return s.Train(ctx)
}

// Solved is a Gaussian-process regression that keeps its inverse: LeaveOut predicts examples from the others,
// and Append adds examples, without retraining.
type Solved = model.Solved

// Solve inverts the kernel matrix of a specification with the square loss and no bias.
func Solve(spec Spec) (*Solved, error) { return model.NewSolved(spec) }

// ReadModel reads a file of Trained.Write or the command train.
func ReadModel(r io.Reader) (*Trained, error) {
	if r == nil {
		return nil, errNoTrained
	}
	return model.ReadPredictor(r)
}
