package calibration

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
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
// of each other: what one example does to the predictions for the others is not in it. noise is a variance of
// the mean that comes on top.
func Compare(a, b []float64, noise, level float64) Paired {
	d := make([]float64, len(a))
	floats.SubTo(d, a, b)
	mean, sd := stat.MeanStdDev(d, nil)
	return student(mean, math.Sqrt(sd*sd/float64(len(d))+noise), len(d)-1, level)
}

// Errors are left-out errors of the examples, and what a comparison by the jackknife needs to know of them.
type Errors struct {
	Each      []float64
	Influence []float64 // of the examples on the mean; see solver.Influence
	// Interactions are the derivatives of error j by the weight of example i; see solver.Interactions. Without
	// data the correction is left out.
	Interactions blas64.General
	Noise        float64 // variance of the mean by Monte Carlo; 0 for the theory's
}

// CompareByInfluence is Compare with the infinitesimal jackknife's variance, the sum of the squared
// differences D_i of the examples' influences on the two errors, corrected for what it counts twice.
//
// The difference is a function of the data with parts that depend on one example and parts that depend
// on two: one in training, the other left out. The jackknife counts the variance of the latter twice
// (Efron and Stein 1981). It is sum_ij q_ij^2/n^2, q_ij the difference of the Interactions with the means of
// its rows and columns taken off. At least half of the jackknife's variance is left.
func CompareByInfluence(a, b Errors, level float64) Paired {
	n := len(a.Each)
	difference := (floats.Sum(a.Each) - floats.Sum(b.Each)) / float64(n)
	jackknife := math.Pow(floats.Distance(a.Influence, b.Influence, 2), 2)
	variance := math.Max(jackknife-pairs(a.Interactions, b.Interactions), jackknife/2)
	return student(difference, math.Sqrt(variance+a.Noise+b.Noise), n-1, level)
}

// pairs is the variance of the part of the difference that depends on pairs of examples.
func pairs(a, b blas64.General) float64 {
	n := a.Rows
	if n == 0 || b.Rows != n {
		return 0
	}
	rows, columns, squares := make([]float64, n), make([]float64, n), 0.0
	for i := range n {
		for j := range n {
			q := a.Data[i*a.Stride+j] - b.Data[i*b.Stride+j]
			rows[i] += q
			columns[j] += q
			squares += q * q
		}
	}
	// sum (q - r_i - c_j + m)^2 = sum q^2 - n sum r_i^2 - n sum c_j^2 + n^2 m^2 with the means r, c and m
	all, size := floats.Sum(rows), float64(n)
	squares += (all*all/size - floats.Dot(rows, rows) - floats.Dot(columns, columns)) / size
	return math.Max(0, squares) / (size * size)
}

// student makes interval and p-value of a mean with a standard error of dof degrees of freedom.
func student(mean, se float64, dof int, level float64) Paired {
	p, n := Paired{Difference: mean, StandardError: se, PValue: 1}, float64(dof)
	// P(|T| > t) = I_x(n/2, 1/2) at x = n/(n + t^2).
	x := mathext.InvRegIncBeta(n/2, 0.5, 1-level)
	half := se * math.Sqrt(n*(1-x)/x)
	p.Low, p.High = mean-half, mean+half
	if t := mean / se; mean != 0 && se > 0 {
		p.PValue = mathext.RegIncBeta(n/2, 0.5, n/(n+t*t))
	}
	return p
}
