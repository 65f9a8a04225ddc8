package calibration

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// Paired is the difference of the errors of two models on the same examples.
type Paired struct {
	Difference, StandardError float64 // mean over examples, and its standard error
	Low, High                 float64 // interval
	PValue                    float64 // of no difference, two-sided
}

// Compare computes the paired difference of errors a - b per example, with Student's interval
// of a level in (0, 1) and the p-value of his test. It takes examples' differences as independent
// of each other: what one example does to the predictions for the others is not in it.
func Compare(a, b []float64, level float64) Paired {
	d := make([]float64, len(a))
	floats.SubTo(d, a, b)
	mean, sd := stat.MeanStdDev(d, nil)
	return student(mean, stat.StdErr(sd, float64(len(d))), len(d)-1, level)
}

// CompareByInfluence is Compare with the infinitesimal jackknife's standard error: the norm of
// the difference of the examples' influences on the two errors.
func CompareByInfluence(difference float64, a, b []float64, level float64) Paired {
	return student(difference, floats.Distance(a, b, 2), len(a)-1, level)
}

// student makes interval and p-value of a mean with a standard error of dof degrees of freedom.
func student(mean, se float64, dof int, level float64) Paired {
	p, n := Paired{Difference: mean, StandardError: se, PValue: 1}, float64(dof)
	// P(|T| > t) = I_x(n/2, 1/2) at x = n/(n + t^2).
	x := mathext.InvRegIncBeta(n/2, 0.5, 1-level)
	half := se * math.Sqrt(n*(1-x)/x)
	p.Low, p.High = mean-half, mean+half
	if mean != 0 {
		t := mean / se
		p.PValue = mathext.RegIncBeta(n/2, 0.5, n/(n+t*t))
	}
	return p
}
