package answer

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// Probabilities are of the label +1, never the fraction of votes, which measures stability, not accuracy.
type Probabilities struct {
	// Method is "posterior", or the curve fitted to the left-out fields, "logistic" or "constant".
	Method string
	// LeftOut are the probabilities of the examples, each by resamples and curves without it; nil if a class
	// has only one example.
	LeftOut []float64

	field func(mean, variance float64) float64 // of a prediction, for a curve
	curve *calibration.Logistic
	own   loss.Likelihood
}

// ProbabilitiesOf calibrates the probabilities of a classifier. For a likelihood they come from its
// posterior, averaged over resamples. For others a curve is fitted to the left-out fields
//
//	m/(V + mean V_c)^1/2,   m and V at m_c and V_c,
//
// and the labels (calibration.FitLogistic), and evaluated at the m and V of a new input: a larger variance
// makes predictions less certain.
func ProbabilitiesOf(m *model.Model, s *solver.Solution) (*Probabilities, error) {
	mean, variance := leftOutMoments(m, s)
	p := &Probabilities{}
	if likelihood, ok := m.Loss.(loss.Likelihood); ok && m.Kernel.Kind != kernel.Precomputed {
		p.Method, p.own, p.LeftOut = "posterior", likelihood, make([]float64, len(mean))
		for i := range mean {
			p.LeftOut[i] = p.posterior(mean[i], variance[i]+1/s.Cavity[m.Site[i]].C)
		}
		return p, nil
	}
	return p, p.fit(mean, variance, m.Y, m.Set.Weights)
}

// LeftOutProbabilities are Probabilities whose curve is fitted to fields of left-out examples with labels:
// mean predictions, and mean square losses, from which the variances are. Examples that were never left out
// are NaN, and so are their probabilities; it is nil if the others are of one class. Nil weights are 1.
func LeftOutProbabilities(label, weights, leftOut, square []float64) *Probabilities {
	var mean, variance, y, w []float64
	var known []int
	for i, f := range leftOut {
		if off := label[i] - f; !math.IsNaN(off + square[i]) {
			known, y, w = append(known, i), append(y, label[i]), append(w, calibration.WeightOf(weights, i))
			mean, variance = append(mean, f), append(variance, math.Max(0, square[i]-off*off))
		}
	}
	p := &Probabilities{}
	if p.fit(mean, variance, y, w) != nil {
		return nil
	}
	if p.LeftOut != nil {
		all := slices.Repeat([]float64{math.NaN()}, len(leftOut))
		for k, i := range known {
			all[i] = p.LeftOut[k]
		}
		p.LeftOut = all
	}
	return p
}

// probabilities are LeftOutProbabilities of exact fits, whose tests have the square loss for labels.
func (p *part) probabilities(r *fits.Averages) *Probabilities {
	square := r.Test(loss.SquareTest{}.Name())
	return LeftOutProbabilities(p.model.Y, p.model.Set.Weights, r.OutOfBag, square.Examples)
}

// fit fits the curve to left-out predictions and labels with weights.
func (p *Probabilities) fit(mean, variance, y, weights []float64) error {
	squares := make([]float64, len(mean))
	floats.MulTo(squares, mean, mean)
	typical, square := stat.Mean(variance, weights), stat.Mean(squares, weights)
	if typical <= negligibleVariance*square { // every resample is the same: the field is the mean, in a unit
		typical = square
	}
	p.field = func(mean, variance float64) float64 {
		if mean == 0 {
			return 0
		}
		return mean / math.Sqrt(variance+typical)
	}
	field := make([]float64, len(mean))
	for i := range mean {
		field[i] = p.field(mean[i], variance[i])
	}
	curve, err := calibration.FitLogistic(field, y, weights)
	if err != nil {
		return model.InputError(err)
	}
	p.Method, p.curve, p.LeftOut = curve.Name(), &curve, calibration.CrossFit(field, y, weights)
	return nil
}

// negligibleVariance is the variance over resamples, relative to the mean square, that is only rounding.
const negligibleVariance = 1e-12

// ByCurve are the probabilities at predictions; nil for a posterior.
func (p *Probabilities) ByCurve(mean, variance []float64) []float64 {
	if p.curve == nil {
		return nil
	}
	out := make([]float64, len(mean))
	for i, f := range mean {
		out[i] = p.curve.Probability(p.field(f, math.Max(0, variance[i])))
	}
	return out
}

// leftOutMoments are, for every example, mean and variance of the prediction over the resamples that lack it.
func leftOutMoments(m *model.Model, s *solver.Solution) (mean, variance []float64) {
	mean = s.OutOfBag().Mean
	_, variance = s.LeftOut(loss.SquareTest{})
	for i, f := range mean {
		off := m.Y[i] - f
		variance[i] = math.Max(0, variance[i]-off*off)
	}
	return mean, variance
}

// posterior is E p(+1|f) over f ~ N(mean, variance).
func (p *Probabilities) posterior(mean, variance float64) float64 {
	logZ, _, _ := p.own.TiltedMoments(1/variance, mean, []float64{1}, []float64{1})
	return math.Exp(logZ)
}

// AtInputs are the probabilities at new inputs with predictions at: the posterior's variance of f is the one
// over resamples plus the average of its variance (posteriorVariances).
func (p *Probabilities) AtInputs(m *model.Model, s *solver.Solution, in *dataset.Inputs,
	at *fits.Averages) ([]float64, error) {
	if p.own == nil {
		return p.ByCurve(at.Mean, at.Variance), nil
	}
	out, err := posteriorVariances(m, s, in)
	for i, v := range out {
		out[i] = p.posterior(at.Mean[i], at.Variance[i]+v)
	}
	return out, err
}

// decide sets the classes of rows by the threshold of the study's measure, if it has one, for probabilities
// of +1, and reports whether it did.
func (p *part) decide(class []string, probability []float64) bool {
	m := p.study.Measure
	if !m.ByProbability() || probability == nil {
		return false
	}
	copy(class, p.labelsOf(decided(probability, m.Threshold())))
	return true
}

func decided(probability []float64, threshold float64) []float64 {
	labels := make([]float64, len(probability))
	for i, p := range probability {
		if labels[i] = -1; p >= threshold {
			labels[i] = 1
		}
	}
	return labels
}

// classWeighted is a plan whose rows have further weights, by fit.
type classWeighted struct {
	resample.Without
	of [][]float64
}

// Fit implements resample.Plan.
func (p classWeighted) Fit(r int, weight []float64) []float64 {
	y := p.Without.Fit(r, weight)
	floats.Mul(weight, p.of[r])
	return y
}

// The path of class weights has the weight of +1 over the weight of -1 in factors of 2, from 1/widestWeight
// to widestWeight times the ratio that gives both classes the same weight, beyond which one class is all that
// is predicted; and 1, the model as it is.
const widestWeight = 16

// CheckROC refuses models that have no ROC by class weights.
func CheckROC(spec *model.Spec) error {
	if t := loss.TraitsOf(spec.Loss); t.Proximal == nil || math.IsInf(t.C, 1) || len(spec.Set.Levels()) != 2 {
		return model.InputError(errors.New("the ROC is of two labels and a loss with weights of rows (not " +
			"hard, probit, logit)"))
	}
	return nil
}

// AddROC adds the sensitivity and the specificity of the model along a path of class weights, by exact fits
// without each of ten folds: the receiver operating characteristic by training again, whose models differ,
// where thresholds of one model only shift its decision. The mean weight of a row is 1.
func (s *Study) AddROC(ctx context.Context, a *report.Answer, seed uint64, level float64) {
	if a.Status != Complete || ctx.Err() != nil {
		return
	}
	if roc, err := s.roc(ctx, seed, level); !missing(ctx, a, err, "no ROC") {
		a.ROC = roc
	}
}

func (s *Study) roc(ctx context.Context, seed uint64, level float64) (*report.ROC, error) {
	if err := CheckROC(&s.Model.Spec); err != nil {
		return nil, err
	}
	set, v, y := s.Model.Set, tenFolds(s.Model.Set), s.Model.Y
	v.Seed, v.Repeats, v.ErrorsAlone = seed, min(measuredPartitions, partitionsOf(set.N())), true
	left, err := s.folded(v)
	if err != nil {
		return nil, err
	}
	wider, err := s.wider(ctx, seed)
	if err != nil {
		return nil, err
	}
	var rows [2][]int // of -1 and +1
	for i, label := range y {
		class := int(math.Max(0, label))
		rows[class] = append(rows[class], i)
	}
	ratios := []float64{1}
	for r := 1.0 / widestWeight; r <= widestWeight; r *= 2 {
		ratios = append(ratios, r*float64(len(rows[0]))/float64(len(rows[1])))
	}
	slices.Sort(ratios)
	ratios = slices.Compact(ratios)
	var plan classWeighted
	n, positive := float64(len(y)), float64(len(rows[1]))
	for _, ratio := range ratios {
		negative, of := n/(n-positive+ratio*positive), make([]float64, len(y))
		for i, label := range y {
			if of[i] = negative; label > 0 {
				of[i] *= ratio
			}
		}
		for _, out := range left.rows {
			plan.Rows, plan.Y, plan.of = append(plan.Rows, out), append(plan.Y, y), append(plan.of, of)
		}
	}
	right := zeros(len(ratios), len(y)) // share of the partitions, by row
	p, settings := s.part(0), model.RetrainSettings{Plan: plan}
	settings.Resamples, settings.Progress = len(plan.Rows), s.counting("fit of the ROC")
	settings.OnFit = func(r int, _, f []float64) {
		for _, i := range plan.Rows[r] {
			wrong := loss.ZeroOne{}.Value(f[s.Model.Site[i]], y[i])
			right[r/len(left.rows)][i] += (1 - wrong) / float64(v.Repeats)
		}
	}
	if loss.TraitsOf(s.Model.Loss).Quadratic { // downdates have one weight of all rows
		v.Method = model.Single
	}
	if _, err := v.fits(ctx, p, riskFolds, settings, nil); err != nil || ctx.Err() != nil {
		return nil, err
	}
	roc := &report.ROC{Weights: ratios}
	for _, each := range right {
		for class, to := range []*report.Shares{&roc.Specificity, &roc.Sensitivity} {
			x := riskOf(set.Subset(rows[class]), at(each, rows[class]))
			x.se *= wider
			lower, upper := math.NaN(), math.NaN()
			if x.of.each = left.each; x.hasInterval() {
				q := x.quoteOf(loss.ZeroOne{}.Name(), level)
				lower, upper = float64(*q.Lower), float64(*q.Upper)
			}
			to.Value, to.SE = append(to.Value, x.error), append(to.SE, x.se)
			to.Lower, to.Upper = append(to.Lower, lower), append(to.Upper, upper)
		}
	}
	x, z := []float64{0}, []float64{0}
	for k := range ratios {
		x, z = append(x, math.Max(x[k], 1-roc.Specificity.Value[k])), append(z, roc.Sensitivity.Value[k])
	}
	roc.Area = report.Number(integrate.Trapezoidal(append(x, 1), append(z, 1)))
	return roc, nil
}
