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

// ErrorEstimates are bootstrap estimates of the test error (Efron and Tibshirani 1997).
//
// The combinations are for the bootstrap of ratio 1: 0.632 = 1 - 1/e is the probability that an example is in
// the resample, and a resample has 0.632 N distinct examples, so that LeftOut is about as much too high as
// Apparent is too low. They also suit subsampling at a rate near 0.632. At larger ratios, and under K-fold,
// LeftOut needs no correction. See Is632Applicable.
type ErrorEstimates struct {
	LeftOut       float64 // mean left-out loss
	Apparent      float64 // loss of the full-data fit on its own examples
	NoInformation float64 // loss of the full-data fit on targets shuffled over the inputs
	Err632        float64 // 0.368 Apparent + 0.632 LeftOut
	Err632Plus    float64 // with a weight of LeftOut that grows with overfitting
}

// Is632Applicable reports whether .632 and .632+ suit a law: whether an example is left out with probability
// 1/e = 0.368 within 0.03, as for the bootstrap of ratio 1 and subsampling at rates from 0.61 to 0.66.
func Is632Applicable(law resample.CountDistribution) bool {
	return math.Abs(law.Absent()-1/math.E) <= 0.03
}

// Combine632 combines a left-out error, from the theory or from retraining, with the errors of one fit to all
// data: y are the targets of the N >= 1 examples, and fit is the predictor there. If leftOut is NaN, Apparent
// and NoInformation are still set. weights are the examples' weights, nil for 1.
func Combine632(leftOut float64, test loss.Test, y, fit, weights []float64) ErrorEstimates {
	e := ErrorEstimates{LeftOut: leftOut, NoInformation: noInformation(test, y, fit, weights)}
	e.Apparent = meanLoss(fit, y, weights, test)
	e.Err632 = 0.368*e.Apparent + 0.632*e.LeftOut
	e.Err632Plus = err632plus(e)
	return e
}

// err632plus corrects .632 for overfitting (Efron and Tibshirani 1997, equations 29 to 32):
//
//	.632+ = .632 + (err' - Apparent) 0.368 0.632 R/(1 - 0.368 R),
//
// with err' the lesser of LeftOut and NoInformation, and R in [0, 1] the relative overfitting rate (err' -
// Apparent)/(NoInformation - Apparent). For 0 < R < 1 LeftOut has weight 0.632/(1 - 0.368 R).
func err632plus(e ErrorEstimates) float64 {
	above := math.Min(e.LeftOut, e.NoInformation) - e.Apparent
	if above <= 0 {
		return e.Err632
	}
	rate := above / (e.NoInformation - e.Apparent)
	return e.Err632 + above*0.368*0.632*rate/(1-0.368*rate)
}

// Limits of noInformation: distinct values of the targets, and pairs of values.
const (
	mostTargets = 2000
	mostPairs   = 20_000_000
)

// noInformation is the mean of test(f_i, y_j) over all pairs of examples. For the square loss that is var f +
// var y + (mean f - mean y)^2. For other losses with more than mostPairs pairs, neighbouring values are
// replaced by their mean, an error below 0.1%.
func noInformation(test loss.Test, y, fit, weights []float64) float64 {
	if loss.TraitsOf(test).Quadratic {
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

// shared is a value and the number, or weight, of the examples with it.
type shared struct{ value, count float64 }

// distinctValues are the distinct values of v. If there are more than most, groups of neighbours are replaced
// by their mean.
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
