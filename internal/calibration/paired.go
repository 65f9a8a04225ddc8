package calibration

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/internal/report"
)

// Compare is the paired difference of errors a - b, with Student's interval of a level and p-value.
//
// Without influences it treats the examples' differences as independent and neglects an example's effect on
// the predictions for others. With both it uses the infinitesimal jackknife's variance, the sum of the
// squared differences D_i of the examples' influences on the two errors, corrected for double counting.
//
// The difference is a function of the data with parts that depend on one example and parts that depend on
// two: one in training, the other left out. The jackknife counts the variance of the latter twice (Efron and
// Stein 1981). It is sum_ij q_ij^2/n^2, q_ij the doubly centred difference of the Interactions. The result is
// at least half of the jackknife's variance.
func Compare(a, b report.Examples, level float64) *report.Difference {
	d := make([]float64, len(a.Each))
	floats.SubTo(d, a.Each, b.Each)
	mean, by := stat.Mean(d, a.Weights), "examples"
	se, _ := StandardError(d, a.Weights, nil)
	variance := math.Pow(float64(se), 2)
	if a.Influence != nil && b.Influence != nil {
		jackknife := math.Pow(floats.Distance(a.Influence, b.Influence, 2), 2)
		variance = math.Max(jackknife-pairs(a.Interactions, b.Interactions), jackknife/2)
		by = report.Jackknife
	}
	difference := Student(mean, math.Sqrt(variance+a.Noise+b.Noise), float64(len(d)-1), level)
	difference.By = by
	return difference
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

// Student computes the interval and p-value of a mean with a standard error of dof degrees of freedom.
func Student(mean, se, dof, level float64) *report.Difference {
	t := distuv.StudentsT{Sigma: 1, Nu: dof}
	half := se * t.Quantile((1+level)/2)
	d := &report.Difference{Value: report.Number(mean), StandardError: report.Number(se),
		Low: report.Number(mean - half), High: report.Number(mean + half), PValue: 1}
	if mean != 0 && se > 0 {
		d.PValue = report.Number(2 * t.CDF(-math.Abs(mean/se)))
	}
	return d
}
