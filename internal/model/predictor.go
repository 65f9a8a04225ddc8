package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// Predictor is a trained model that needs no training data:
//
//	f(x) = sum_s Weight_s K(x, x_s) + Bias + TargetMean
//
// in units of the target, where x_s are the sites of Support. It is the content of a model file; see Write
// and ReadPredictor.
type Predictor struct {
	Program    string             `json:"program,omitempty"` // version that trained it
	Loss       string             `json:"loss"`
	Parameters map[string]float64 `json:"parameters,omitempty"` // of a loss of the catalogue
	// defaults written out; the jitter is the jitter of training
	Kernel kernel.Spec `json:"kernel"`
	// Encoding maps the columns of files to features; Scales, nil without standardising, standardises these.
	Encoding   *dataset.Encoding     `json:"encoding"`
	Scales     *dataset.Standardizer `json:"scales,omitempty"`
	TargetMean float64               `json:"target_mean"`
	Bias       float64               `json:"bias"`
	Weight     []float64             `json:"weight"` // of the sites of Support
	Support    Support               `json:"support"`
	Training   TrainingSummary       `json:"training"`
	LeftOut    *LeftOut              `json:"left_out,omitempty"` // nil: no intervals
	// Others are the predictors of the second and later classes against the others, if Encoding has several
	// classes, or of the targets after the first; this one is then of the first.
	Others []*Predictor `json:"others,omitempty"`
	// Pairs, if set, means that the predictors are of pairs of classes instead, fits.PairsOf this order.
	Pairs []int `json:"pairs,omitempty"`

	kernel *inputKernel
	once   func() (*Refits, error)
}

// All are the predictors of all classes, pairs or targets.
func (p *Predictor) All() []*Predictor { return append([]*Predictor{p}, p.Others...) }

// Support holds the sites of a predictor's sum, in units of the data set: as dense rows, concatenated, as
// sparse rows, or for a precomputed kernel as numbers of examples, from 0. The two others are nil.
type Support struct {
	Dense    []float64   `json:"dense,omitempty"`
	Sparse   *linalg.CSR `json:"sparse,omitempty"`
	Examples []int       `json:"examples,omitempty"`
}

// TrainingSummary describes a predictor's training.
type TrainingSummary struct {
	Examples int    `json:"examples"`
	Sites    int    `json:"sites"` // distinct inputs
	Status   string `json:"status"`
	// Apparent is the mean TestLoss on the training examples.
	TestLoss string  `json:"test_loss"`
	Apparent float64 `json:"apparent_error"`
}

// LeftOut describes the errors of models on examples that they were trained without.
type LeftOut struct {
	Examples int `json:"examples"` // left out and predicted
	// of numbers: quantiles of |y - f|; of labels, for the first function: of the largest other score less
	// the true class's. They are as many as the effective number of examples or groups, at most
	// mostResiduals; without weights and groups they are all of them
	Residuals []float64 `json:"residuals,omitempty"`
	// of numbers in groups: the errors of few groups
	Groups *calibration.GroupErrors `json:"groups,omitempty"`
	// of the square loss instead of these: the rows, without which the model is known in closed form (Refits)
	Rows *TrainingRows `json:"rows,omitempty"`
	// of labels: the probability of +1 as a function of f
	Curve *calibration.Logistic `json:"curve,omitempty"`
	// the probability from which on +1 is predicted; nil: the sign of f decides
	Threshold *float64 `json:"threshold,omitempty"`
}

// mostResiduals is the number of quantiles that replace more residuals.
const mostResiduals = 1000

// NewLeftOut takes the targets of a set, and predictions of models trained without them. Labels need examples
// of both classes.
func NewLeftOut(y, f []float64, set *dataset.Set) (l *LeftOut, err error) {
	l = &LeftOut{Examples: len(y)}
	if !set.AreNumbers() {
		curve, err := calibration.FitLogistic(f, y, set.Weights)
		if err != nil {
			return nil, err
		}
		l.Curve = &curve
		return l, nil
	}
	residuals := make([]float64, len(y))
	for i, v := range y {
		residuals[i] = v - f[i]
	}
	if set.Groups != nil {
		l.Groups = calibration.NewGroupErrors(residuals, set.Weights, set.Groups)
	}
	for i, r := range residuals {
		residuals[i] = math.Abs(r)
	}
	l.SetResiduals(residuals, set)
	return l, nil
}

// SetResiduals sets the quantiles of left-out residuals of the rows of a set, which it sorts.
func (l *LeftOut) SetResiduals(residuals []float64, set *dataset.Set) {
	scores := calibration.NewScores(len(residuals), set.Weights, set.Groups)
	scores.Weights = slices.Clone(scores.Weights)
	stat.SortWeighted(residuals, scores.Weights)
	count := min(math.Floor(scores.Effective+1e-9), mostResiduals)
	for k := range int(count) {
		l.Residuals = append(l.Residuals, scores.Bound(residuals, float64(k+1)/(count+1)))
	}
}

// Scores are the scores of the residuals.
func (l *LeftOut) Scores() calibration.Scores {
	s := calibration.NewScores(len(l.Residuals), nil, nil)
	if len(l.Residuals) < min(l.Examples, mostResiduals) {
		s.Units = "effective examples or groups"
	}
	return s
}

// HalfWidth is the half width of an interval about a prediction that contains a new target with probability
// level: the residual of rank ceil(level (n+1)) of n (Vovk, Gammerman and Shafer 2005, with left-out
// residuals as in CV+), infinite for too few examples.
func (l *LeftOut) HalfWidth(level float64) float64 {
	return l.Scores().Bound(slices.Clone(l.Residuals), level)
}

// Predictor is the predictor of a Fit of this model, without the sites of weight 0.
func (m *Model) Predictor(fit *train.Result) (*Predictor, error) {
	if len(fit.Weight) != m.Sites() || len(fit.F) != m.Sites() {
		return nil, InputError(errors.New("the fit is not one of this model"))
	}
	p := &Predictor{Loss: m.Loss.Name(), Parameters: parametersByName(m.Loss), Kernel: m.Kernel,
		Encoding: m.Set.Encoding(), Scales: m.transform, TargetMean: m.Mean, Bias: fit.Bias * m.Unit,
		Training: summaryOf(m, fit)}
	p.Encoding.Targets = []dataset.Column{column(m)}
	var rows []int
	for site, w := range fit.Weight {
		if w != 0 || site == m.Sites()-1 && rows == nil {
			rows, p.Weight = append(rows, m.First[site]), append(p.Weight, w*m.Unit)
		}
	}
	switch {
	case m.Kernel.Kind == kernel.Precomputed:
		p.Support.Examples = rows
	case m.Set.Sparse != nil:
		p.Support.Sparse = m.Set.Sparse.Gather(rows)
	default:
		p.Support.Dense = m.Set.X.Gather(rows).Data
	}
	if err := p.prepare(); err != nil {
		return nil, InputError(err)
	}
	return p, nil
}

// column describes what the function of the view predicts.
func column(m *Model) dataset.Column {
	c := m.Set.Columns[0]
	if c.Y = nil; c.Levels == nil {
		c.Name = m.Name
	} else if len(c.Levels) > 2 {
		c.Levels, c.Rest, c.Texts = []string{"not " + m.Name, m.Name}, true, true
	}
	return c
}

// parametersByName are the parameters of a loss of the catalogue, and its class weights if it has any.
func parametersByName(l loss.Loss) map[string]float64 {
	p, _ := loss.ParametersOf(l)
	byName := map[string]float64{}
	about, _ := loss.About(l.Name())
	for _, name := range about.Takes {
		byName[name] = *p.Named(name)
	}
	if w := p.ClassWeights; w != (loss.ClassWeights{}) {
		byName["negative_weight"], byName["positive_weight"] = w.Negative, w.Positive
	}
	return byName
}

func summaryOf(m *Model, fit *train.Result) TrainingSummary {
	test := DefaultTest(m.Set)
	t := TrainingSummary{Examples: m.Set.N(), Sites: m.Sites(), Status: fit.Status.String(),
		TestLoss: test.Name()}
	each := make([]float64, m.Set.N())
	for i, y := range m.Y {
		each[i] = test.Value(fit.F[m.Site[i]], y)
	}
	t.Apparent = stat.Mean(each, m.Set.Weights) * m.Unit * m.Unit
	return t
}

// HasScores reports whether the model is of classes and knows left-out scores of them.
func (p *Predictor) HasScores() bool {
	return p.Encoding.Targets[0].Levels != nil && p.LeftOut != nil && p.LeftOut.Residuals != nil
}

// Decision is the decision between several classes; nil for others.
func (p *Predictor) Decision() fits.Decision {
	switch classes := len(p.Encoding.Targets[0].Levels); {
	case classes <= 2:
		return nil
	case p.Pairs != nil:
		return fits.Votes(p.Pairs)
	default:
		return fits.Largest(classes)
	}
}

// prepare checks that p, which may come from a file, is consistent, and prepares it for new inputs.
func (p *Predictor) prepare() error {
	if p == nil || p.Encoding == nil {
		return errors.New("there is no encoding of features")
	}
	if err := p.Encoding.Check(); err != nil {
		return err
	}
	if len(p.Others)+1 != p.parts() {
		return fmt.Errorf("%d predictors, where classes or targets need %d", len(p.Others)+1, p.parts())
	}
	for _, other := range p.Others {
		if err := other.prepare(); err != nil {
			return err
		}
	}
	d := p.Encoding.Features
	if s := p.Scales; s != nil && (len(s.Mean) != d || len(s.SD) != d) {
		return fmt.Errorf("%d means and %d scales do not fit %d features", len(s.Mean), len(s.SD), d)
	}
	p.kernel = &inputKernel{spec: p.Kernel, transform: p.Scales, examples: d}
	if err := p.prepareSupport(); err != nil {
		return err
	}
	width := len(p.kernel.chosen)
	if width == 0 || width != len(p.Weight) {
		return fmt.Errorf("%d weights of %d sites", len(p.Weight), width)
	}
	p.once = sync.OnceValues(p.refits)
	if l := p.LeftOut; l != nil && l.Rows != nil {
		if p.Kernel.Kind == kernel.Precomputed {
			return errNoRefits
		}
		return l.Rows.check(width)
	}
	return nil
}

// prepareSupport prepares the sites for the kernel with new inputs.
func (p *Predictor) prepareSupport() error {
	d, support := p.Encoding.Features, linalg.Design{Sparse: p.Support.Sparse}
	if p.Kernel.Kind == kernel.Precomputed {
		p.kernel.chosen = p.Support.Examples
		for _, i := range p.Support.Examples {
			if i < 0 || i >= d {
				return fmt.Errorf("example %d of %d", i+1, d)
			}
		}
		return p.Kernel.Validate(d)
	}
	if support.Sparse == nil {
		support.X = linalg.Matrix{Rows: len(p.Support.Dense) / d, Cols: d, Stride: d, Data: p.Support.Dense}
	}
	if err := support.Check(); err != nil {
		return err
	}
	x, err := standardized(support, p.Scales)
	if err != nil {
		return err
	}
	p.kernel.chosen = make([]int, x.N())
	p.kernel.inputs, err = p.Kernel.Prepare(x)
	return err
}

// parts is the number of predictors for classes, their pairs, or targets: this one and Others.
func (p *Predictor) parts() int {
	targets := p.Encoding.Targets
	switch classes := len(targets[0].Levels); {
	case classes <= 2:
		return len(targets)
	case p.Pairs != nil:
		return classes * (classes - 1) / 2
	default:
		return classes
	}
}

// Predict is f at new inputs, in units of the target; its sign is the class of a classifier. It works in
// batches of a few MiB.
func (p *Predictor) Predict(in *dataset.Inputs) ([]float64, error) {
	if p.kernel == nil {
		return nil, InputError(errors.New("a predictor comes from Model.Predictor or ReadPredictor"))
	}
	f, s := make([]float64, in.N()), len(p.Weight)
	weight := blas64.Vector{N: s, Inc: 1, Data: p.Weight}
	err := p.kernel.walk(in, func(first int, rows []float64) error {
		part := f[first : first+len(rows)/s]
		for i := range part {
			part[i] = p.Bias + p.TargetMean
		}
		matrix := blas64.General{Rows: len(part), Cols: s, Stride: s, Data: rows}
		blas64.Gemv(blas.NoTrans, 1, matrix, weight, 1, blas64.Vector{N: len(part), Inc: 1, Data: part})
		return nil
	})
	return f, err
}
