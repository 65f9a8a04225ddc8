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
// of each other: that is so up to what one example does to the predictions for the others.
func Compare(a, b []float64, level float64) Paired {
	d := make([]float64, len(a))
	floats.SubTo(d, a, b)
	mean, sd := stat.MeanStdDev(d, nil)
	p := Paired{Difference: mean, StandardError: stat.StdErr(sd, float64(len(d))), PValue: 1}
	dof := float64(len(d) - 1)
	// P(|T| > t) = I_x(dof/2, 1/2) at x = dof/(dof + t^2).
	x := mathext.InvRegIncBeta(dof/2, 0.5, 1-level)
	half := p.StandardError * math.Sqrt(dof*(1-x)/x)
	p.Low, p.High = mean-half, mean+half
	if mean != 0 {
		t := mean / p.StandardError
		p.PValue = mathext.RegIncBeta(dof/2, 0.5, dof/(dof+t*t))
	}
	return p
}
