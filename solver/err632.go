package solver

import (
	"math"

	"bootbench/linalg"
	"bootbench/loss"
)

// Error is the bootstrap's view of the test error (Efron and Tibshirani 1997).
type Error struct {
	LeftOut       float64 // mean left-out loss
	Apparent      float64 // loss of the full-data fit on its own examples
	NoInformation float64 // loss of the full-data fit on targets shuffled over the inputs
	Err632        float64 // 0.368 Apparent + 0.632 LeftOut
	Err632Plus    float64 // the same with a weight that grows with overfitting
}

// TestError combines the left-out error with the apparent error of fit, the
// predictor at the sites trained once on all data (length M).
func (s *Solution) TestError(test loss.Test, fit []float64) Error {
	e := Error{NoInformation: s.noInformation(test, fit)}
	e.LeftOut, _ = s.LeftOut(test)
	for example, y := range s.y {
		e.Apparent += test.Value(fit[s.siteOf(example)], y) / float64(len(s.y))
	}
	e.Err632 = 0.368*e.Apparent + 0.632*e.LeftOut
	e.Err632Plus = err632plus(e)
	return e
}

// err632plus adds to .632 what an overfitting predictor deserves (Efron and
// Tibshirani 1997, equations 29 to 32):
//
//	.632+ = .632 + (err' - Apparent) 0.368 0.632 R/(1 - 0.368 R),
//
// with err' the lesser of LeftOut and NoInformation, and R in [0, 1] the relative
// overfitting rate (err' - Apparent)/(NoInformation - Apparent). In between this
// is LeftOut with weight 0.632/(1 - 0.368 R).
func err632plus(e Error) float64 {
	above := math.Min(e.LeftOut, e.NoInformation) - e.Apparent
	if above <= 0 {
		return e.Err632
	}
	rate := above / (e.NoInformation - e.Apparent)
	return e.Err632 + above*0.368*0.632*rate/(1-0.368*rate)
}

// noInformation is the mean of test(f_i, y_j) over all pairs of examples.
func (s *Solution) noInformation(test loss.Test, fit []float64) float64 {
	copies := make([]float64, len(s.sites))
	for example := range s.y {
		copies[s.siteOf(example)]++
	}
	n := float64(len(s.y))
	perSite := make([]float64, len(s.sites))
	linalg.Parallel(len(perSite), func(i int) {
		for _, y := range s.y {
			perSite[i] += test.Value(fit[i], y)
		}
		perSite[i] *= copies[i] / n
	})
	sum := 0.0
	for _, v := range perSite {
		sum += v / n
	}
	return sum
}
