package solver

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// ErrorEstimates is the bootstrap's view of the test error (Efron and Tibshirani 1997).
//
// The combinations are made for the bootstrap of ratio 1: there 0.632 = 1 - 1/e is the probability that an
// example is in the resample, and LeftOut is too high by about as much as Apparent is too low, since a
// resample has 0.632 N distinct examples to learn from. They carry over to subsampling at a rate near 0.632.
// Elsewhere the weights have no ground: at larger ratios, and under K-fold, where LeftOut needs no correction
// to speak of, report it alone. See Is632Applicable.
type ErrorEstimates struct {
	LeftOut       float64 // mean left-out loss
	Apparent      float64 // loss of the full-data fit on its own examples
	NoInformation float64 // loss of the full-data fit on targets shuffled over the inputs
	Err632        float64 // 0.368 Apparent + 0.632 LeftOut
	Err632Plus    float64 // the same with a weight that grows with overfitting
}

// Is632Applicable says whether .632 and .632+ are meant for a law: whether an example is
// left out with probability 1/e = 0.368, to within 0.03. So it is for the
// bootstrap of ratio 1, and for subsampling at rates from 0.61 to 0.66.
func Is632Applicable(law resample.CountDistribution) bool {
	return math.Abs(law.Absent()-1/math.E) <= 0.03
}

// Combine632 combines a left-out error, from the theory or from retraining, with what one fit to all data
// tells: y are the targets of the N >= 1 examples and fit the predictor there, trained on all of them. No
// refits are made. A left-out error that is NaN leaves Apparent and NoInformation known. weights are those of
// the examples, nil for 1.
func Combine632(leftOut float64, test loss.Test, y, fit, weights []float64) ErrorEstimates {
	e := ErrorEstimates{LeftOut: leftOut, NoInformation: noInformation(test, y, fit, weights)}
	e.Apparent, _ = meanLoss(fit, y, weights, test)
	e.Err632 = 0.368*e.Apparent + 0.632*e.LeftOut
	e.Err632Plus = err632plus(e)
	return e
}

// err632plus adds to .632 what an overfitting predictor deserves (Efron and
// Tibshirani 1997, equations 29 to 32):
//
//	.632+ = .632 + (err' - Apparent) 0.368 0.632 R/(1 - 0.368 R),
//
// with err' the lesser of LeftOut and NoInformation, and R in [0, 1] the relative overfitting rate (err' -
// Apparent)/(NoInformation - Apparent). In between this is LeftOut with weight 0.632/(1 - 0.368 R).
func err632plus(e ErrorEstimates) float64 {
	above := math.Min(e.LeftOut, e.NoInformation) - e.Apparent
	if above <= 0 {
		return e.Err632
	}
	rate := above / (e.NoInformation - e.Apparent)
	return e.Err632 + above*0.368*0.632*rate/(1-0.368*rate)
}

// Limits of noInformation: values that the targets are gathered to, and pairs of values.
const (
	mostTargets = 2000
	mostPairs   = 20_000_000
)

// noInformation is the mean of test(f_i, y_j) over all pairs of examples. Of the square
// loss that is var f + var y + (mean f - mean y)^2. Of other losses, where there are more than
// mostPairs, neighbours count at their mean, which moves it by less than a thousandth.
func noInformation(test loss.Test, y, fit, weights []float64) float64 {
	if _, square := test.(loss.SquareTest); square {
		meanF, varF := stat.PopMeanVariance(fit, weights)
		meanY, varY := stat.PopMeanVariance(y, weights)
		return varF + varY + (meanF-meanY)*(meanF-meanY)
	}
	targets := distinctValues(y, weights, mostTargets)
	fits := distinctValues(fit, weights, mostPairs/len(targets))
	perFit, total := make([]float64, len(fits)), 0.0
	for _, t := range targets {
		total += t.count
	}
	linalg.Parallel(len(fits), func(i int) {
		for _, t := range targets {
			perFit[i] += fits[i].count * t.count * test.Value(fits[i].value, t.value)
		}
	})
	return floats.Sum(perFit) / (total * total)
}

// shared is a value and the number, or weight, of the examples that have it.
type shared struct{ value, count float64 }

// distinctValues are the distinct ones of v, however often each is there: two for labels. Where there are
// more than most, as many neighbours as it takes are one value, their mean.
func distinctValues(v, weights []float64, most int) (distinct []shared) {
	all := make([]shared, len(v))
	for i, x := range v {
		all[i] = shared{x, 1}
		if weights != nil {
			all[i].count = weights[i]
		}
	}
	slices.SortStableFunc(all, func(a, b shared) int { return cmp.Compare(a.value, b.value) })
	for _, x := range all {
		if k := len(distinct) - 1; k >= 0 && distinct[k].value == x.value {
			distinct[k].count += x.count
		} else {
			distinct = append(distinct, x)
		}
	}
	if len(distinct) <= most {
		return distinct
	}
	var merged []shared
	for group := range slices.Chunk(distinct, (len(distinct)+most-1)/most) {
		var sum shared
		for _, x := range group {
			sum.count += x.count
			sum.value += x.count * x.value
		}
		merged = append(merged, shared{sum.value / sum.count, sum.count})
	}
	return merged
}
