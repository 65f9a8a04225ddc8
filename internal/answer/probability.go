package answer

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
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
