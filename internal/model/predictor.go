package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/retrain"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// Predictor is a trained model that needs no training data:
//
//	f(x) = sum_s Weight_s K(x, x_s) + Bias + TargetMean
//
// in units of the target, where x_s are the sites of Support. It is what a model file holds;
// see Write and ReadPredictor.
type Predictor struct {
	Program    string             `json:"program,omitempty"` // version that trained it
	Loss       string             `json:"loss"`
	Parameters map[string]float64 `json:"parameters,omitempty"` // of the loss, where it is one of the catalogue
	// defaults written out; the jitter is that of training
	Kernel kernel.Spec `json:"kernel"`
	// Encoding says how the columns of files become features; Scales, nil without
	// standardising, what is done to these.
	Encoding   *dataset.Encoding     `json:"encoding"`
	Scales     *dataset.Standardizer `json:"scales,omitempty"`
	TargetMean float64               `json:"target_mean"`
	Bias       float64               `json:"bias"`
	Weight     []float64             `json:"weight"` // of the sites of Support
	Support    Support               `json:"support"`
	Training   TrainingSummary       `json:"training"`
	LeftOut    *LeftOut              `json:"left_out,omitempty"` // nil: intervals and probabilities are unknown
	// Others are of the second class and later ones against the others, where Encoding has several classes, or
	// of the targets after the first; this is then of the first.
	Others []*Predictor `json:"others,omitempty"`
	// Pairs, if set, says that these are of pairs of classes instead, PairsOf this order.
	Pairs []int `json:"pairs,omitempty"`

	kernel *inputKernel
}

// Support holds the sites of which a predictor is a sum, in units of the data set: as dense
// rows, one after the other, as sparse rows, or for a precomputed kernel as numbers of
// examples, from 0. The two others are nil.
type Support struct {
	Dense    []float64    `json:"dense,omitempty"`
	Sparse   *dataset.CSR `json:"sparse,omitempty"`
	Examples []int        `json:"examples,omitempty"`
}

// TrainingSummary says what a predictor was trained on, and how well.
type TrainingSummary struct {
	Examples int    `json:"examples"`
	Sites    int    `json:"sites"` // distinct inputs
	Status   string `json:"status"`
	// Apparent is the mean loss on the examples themselves, under TestLoss.
	TestLoss string  `json:"test_loss"`
	Apparent float64 `json:"apparent_error"`
}

// LeftOut is what models trained without a part of the examples say of new targets.
type LeftOut struct {
	Examples int `json:"examples"` // that were left out and predicted
	// of numbers: |y - f| in rising order, at most mostResiduals
	Residuals []float64 `json:"residuals,omitempty"`
	// of labels: the probability of +1 is that of this curve at f
	Curve *calibration.Logistic `json:"curve,omitempty"`
}

// mostResiduals is how many quantiles stand for more residuals than that.
const mostResiduals = 1000

// NewLeftOut takes targets and the predictions of models that were trained without them. Labels need examples
// of both classes, whose weights, nil for 1, their curve has.
func NewLeftOut(y, f, weights []float64, task dataset.Task) (l *LeftOut, err error) {
	l = &LeftOut{Examples: len(y)}
	if task == dataset.Classification {
		fit, err := calibration.FitCurve(f, y, weights)
		if err != nil {
			return nil, err
		}
		l.Curve = &fit.Logistic
		return l, nil
	}
	for i, v := range y {
		l.Residuals = append(l.Residuals, math.Abs(v-f[i]))
	}
	slices.Sort(l.Residuals)
	if n := len(y); n > mostResiduals { // rank (k+1)/(mostResiduals+1) of n+1
		for k := range mostResiduals {
			l.Residuals[k] = l.Residuals[min(n, (k+1)*(n+1)/(mostResiduals+1))-1]
		}
		l.Residuals = l.Residuals[:mostResiduals]
	}
	return l, nil
}

// check refuses what no NewLeftOut makes.
func (l *LeftOut) check(task dataset.Task) error {
	switch {
	case l == nil:
		return nil
	case task != dataset.Regression && (l.Curve == nil || l.Curve.Slope-l.Curve.Slope != 0 ||
		l.Curve.Offset-l.Curve.Offset != 0):
		return errors.New("there is no curve for probabilities")
	case task == dataset.Regression && (len(l.Residuals) == 0 || !slices.IsSorted(l.Residuals)):
		return errors.New("the left-out residuals do not ascend")
	}
	return nil
}

// HalfWidth is the half width of an interval about a prediction that holds a new target with probability
// level: the residual of rank ceil(level (n+1)) of n (Vovk, Gammerman and Shafer 2005, with left-out
// residuals as in CV+). It is an error if the examples are too few for the level.
func (l *LeftOut) HalfWidth(level float64) (float64, error) {
	n := len(l.Residuals)
	if err := calibration.CheckLevel(level, n); err != nil {
		return 0, err
	}
	return l.Residuals[min(n, int(math.Ceil(level*float64(n+1)-1e-9)))-1], nil
}

// Predictor keeps of a Fit of this model what prediction needs: sites of weight 0 go.
func (m *Model) Predictor(fit *retrain.Learned) (*Predictor, error) {
	if len(fit.Weight) != m.Sites() || len(fit.F) != m.Sites() {
		return nil, InputError(errors.New("the fit is not one of this model"))
	}
	p := &Predictor{
		Loss: m.Loss.Name(), Kernel: m.Kernel.WithDefaults(m.Set.D()), Encoding: m.Set.Encoding(),
		Scales:     m.transform,
		TargetMean: m.TargetMean, Bias: fit.Bias, Training: summaryOf(m, fit),
	}
	if of, known := loss.ParametersOf(m.Loss); known {
		p.Parameters = parametersByName(m.Loss, of)
	}
	var rows []int
	for site, w := range fit.Weight {
		if w != 0 || site == m.Sites()-1 && rows == nil {
			rows, p.Weight = append(rows, m.First[site]), append(p.Weight, w)
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

// parametersByName are what a loss takes, and class weights if it has any.
func parametersByName(l loss.Loss, p loss.Parameters) map[string]float64 {
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

func summaryOf(m *Model, fit *retrain.Learned) TrainingSummary {
	var test loss.Test = loss.SquareTest{}
	if m.Set.Task == dataset.Classification {
		test = loss.ZeroOne{}
	}
	t := TrainingSummary{Examples: m.Set.N(), Sites: m.Sites(), Status: fit.Status.String(),
		TestLoss: test.Name()}
	each := make([]float64, m.Set.N())
	for i, y := range m.Set.Y {
		each[i] = test.Value(fit.F[m.Site[i]], y)
	}
	t.Apparent = stat.Mean(each, m.Set.Weights)
	return t
}

// prepare checks p, which may come from a file, and readies it for new inputs.
func (p *Predictor) prepare() error {
	if p.Encoding == nil {
		return errors.New("there is no encoding of features")
	}
	if err := p.Encoding.Check(); err != nil {
		return err
	}
	if err := p.LeftOut.check(p.Encoding.Task); err != nil {
		return err
	}
	if err := p.checkClasses(); err != nil {
		return err
	}
	for _, other := range p.Others {
		if other == nil || len(other.Others) > 0 {
			return errors.New("a class has no predictor")
		}
		if err := other.prepare(); err != nil {
			return err
		}
	}
	d, count := p.Encoding.Features, len(p.Weight)
	if count == 0 {
		return errors.New("there is no weight")
	}
	for _, list := range [][]float64{p.Weight, {p.Bias, p.TargetMean}} {
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return errors.New("a weight, the bias or the target's mean is not finite")
			}
		}
	}
	p.kernel = &inputKernel{spec: p.Kernel, transform: p.Scales, examples: d}
	if s := p.Scales; s != nil && (p.Support.Dense == nil || len(s.Mean) != d || len(s.SD) != d ||
		slices.Min(s.SD) < 0) {
		return fmt.Errorf("%d means and %d scales do not fit %d dense features", len(s.Mean), len(s.SD), d)
	}
	switch {
	case p.Kernel.Kind == kernel.Precomputed:
		return p.prepareExamples(d, count)
	case p.Support.Sparse != nil:
		return p.prepareSparse(d, count)
	}
	return p.prepareDense(d, count)
}

// PairsOf are the pairs of classes in an order, as LIBSVM numbers them.
func PairsOf(order []int) (pairs [][2]int) {
	for i, first := range order {
		for _, second := range order[i+1:] {
			pairs = append(pairs, [2]int{first, second})
		}
	}
	return pairs
}

// checkClasses refuses another number of predictors than the classes, or their pairs, need.
func (p *Predictor) checkClasses() error {
	classes := len(p.Encoding.Classes)
	needed := classes
	if p.Pairs != nil {
		needed = classes * (classes - 1) / 2
		for rank, k := range slices.Sorted(slices.Values(p.Pairs)) {
			if k != rank || len(p.Pairs) != classes {
				return fmt.Errorf("%v is no order of %d classes", p.Pairs, classes)
			}
		}
	}
	if classes > 0 && 1+len(p.Others) != needed {
		return fmt.Errorf("%d predictors do not fit %d classes", 1+len(p.Others), classes)
	}
	if further := len(p.Encoding.Further); classes == 0 && len(p.Others) != further {
		return fmt.Errorf("%d predictors do not fit %d targets", 1+len(p.Others), 1+further)
	}
	return nil
}

// Rescale takes a regression to a target that is by times as large.
func (p *Predictor) Rescale(by float64) {
	floats.Scale(by, p.Weight)
	p.Bias, p.TargetMean, p.Training.Apparent = p.Bias*by, p.TargetMean*by, p.Training.Apparent*by*by
	if p.LeftOut != nil {
		floats.Scale(by, p.LeftOut.Residuals)
	}
}

func (p *Predictor) prepareDense(d, count int) (err error) {
	if p.Support.Sparse != nil || p.Support.Examples != nil || p.Encoding.Sparse() ||
		len(p.Support.Dense) != d*count {
		return fmt.Errorf("%d numbers do not hold %d sites of %d features", len(p.Support.Dense), count, d)
	}
	x := dataset.Matrix{Rows: count, Cols: d, Stride: d, Data: p.Support.Dense}
	if p.Scales != nil {
		if x, err = p.Scales.Apply(x); err != nil {
			return err
		}
	}
	p.kernel.chosen = make([]int, count)
	p.kernel.inputs, err = p.Kernel.Prepare(blas64.General(x))
	return err
}

func (p *Predictor) prepareSparse(d, count int) (err error) {
	x := p.Support.Sparse
	if p.Support.Dense != nil || p.Support.Examples != nil || !p.Encoding.Sparse() || x.Rows != count ||
		x.Cols != d {
		return fmt.Errorf("%d sparse rows of %d do not hold %d sites of %d features", x.Rows, x.Cols, count, d)
	}
	if err := linalg.CheckMemory(16*int64(d)+32*int64(len(x.Value)), 0, fmt.Sprintf("%d sites of %d features",
		count, d)); err != nil {
		return err
	}
	p.kernel.chosen = make([]int, count)
	p.kernel.sparse = true
	p.kernel.inputs, err = p.Kernel.PrepareSparse(kernel.CSR(*x))
	return err
}

func (p *Predictor) prepareExamples(d, count int) error {
	if p.Support.Dense != nil || p.Support.Sparse != nil || len(p.Support.Examples) != count {
		return fmt.Errorf("%d examples for %d weights of a precomputed kernel", len(p.Support.Examples), count)
	}
	for _, i := range p.Support.Examples {
		if i < 0 || i >= d {
			return fmt.Errorf("example %d of %d", i+1, d)
		}
	}
	p.kernel.chosen = p.Support.Examples
	return p.Kernel.Validate(d)
}

// Predict is f at new inputs, in units of the target; of a classifier the sign says the
// class. It works in batches: beside the inputs it takes some 32 MiB.
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
		blas64.Gemv(blas.NoTrans, 1, blas64.General{Rows: len(part), Cols: s, Stride: s, Data: rows}, weight, 1,
			blas64.Vector{N: len(part), Inc: 1, Data: part})
		return nil
	})
	return f, err
}
