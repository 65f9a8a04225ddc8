package calibration

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Nested are the errors of a nested cross-validation (Bates, Hastie and Tibshirani 2024) of K folds of one
// partition: means over the rows of a fold, weighted if the rows are.
type Nested struct {
	// Outer[j] is the mean error on fold j of the fit without it, and Variance[j] the variance of that mean
	// over the rows of the fold.
	Outer, Variance []float64
	// Inner[j][l] is the mean error on fold l of the fit without folds j and l; Inner[j][j] is ignored.
	Inner [][]float64
	// Share[j] is the share of fold j in the weight of all rows.
	Share []float64
	// Others is the same for the losses of the rows by the other partitions, the mean of each row:
	// Inner[j][l] is Outer[l]. Naive is the standard error over the rows of these means. Nil, and 0: there
	// are no others.
	Others *Nested
	Naive  float64
}

// square is the mean square of in_j - out_j less the variance of out_j over the rows.
func (n *Nested) square() (mean float64) {
	for j, out := range n.Outer {
		mean += (math.Pow(n.inner(j)-out, 2) - n.Variance[j]) / float64(len(n.Outer))
	}
	return mean
}

// inner is the error that cross-validation finds in the data without fold j.
func (n *Nested) inner(j int) float64 {
	sum, total := 0.0, 0.0
	for l, e := range n.Inner[j] {
		if l != j {
			sum, total = sum+n.Share[l]*e, total+n.Share[l]
		}
	}
	return sum / total
}

// NestedError is the standard error of the error of cross-validation, by partitions of the same rows into K
// folds. With in_j the error that cross-validation finds in the data without fold j, and out_j the error on
// the fold, which is new to those data,
//
//	MSE = mean (in_j - out_j)^2 - mean var(out_j),   se^2 = (K-1)/K max(MSE, 0):
//
// the mean square distance of an error by cross-validation from the risk of its model. MSE is the mean
// product of the deviations of two rows of a fold, and much of its noise is which rows are together. The same
// for the means that the rows have in the other partitions, which do not know the fold, has this noise, too,
// and the expectation K/(K-1) naive^2 over partitions: it is subtracted, and its expectation added (a control
// variate). se is between naive, the standard error over the rows, and K^1/2 naive. Models of (K-1)/K of
// the rows err less than models of (K-2)/K by mean in - mean out; with an error of a + b/n, models of all
// rows err less by another (K-2)/K of that, the fall.
func NestedError(partitions []Nested, naive float64) (se, fall float64) {
	folds, square, count := float64(len(partitions[0].Outer)), 0.0, float64(len(partitions))
	for _, n := range partitions {
		for j, out := range n.Outer {
			fall += (folds - 2) / folds * n.Share[j] * (n.inner(j) - out) / count
		}
		mean := n.square()
		if n.Others != nil {
			mean += n.Naive*n.Naive*folds/(folds-1) - n.Others.square()
		}
		square += (folds - 1) / folds * mean / count
	}
	se = math.Sqrt(math.Max(0, square))
	if !(se > naive) { // also where a variance is unknown
		return naive, fall
	}
	return math.Min(math.Sqrt(folds)*naive, se), fall
}

// NestedFreedom is the degrees of freedom of a nested standard error of ten folds. In simulations it varies
// by about a quarter, and with these degrees intervals of coins, whose errors depend most on the folds,
// hold 95%.
const NestedFreedom = 18

// fewestFreedom is the least degrees of freedom of a standard error, which a few rows may make up.
const fewestFreedom = 3

// Freedom is the degrees of freedom of the standard error of the weighted mean of losses, over rows or
// groups: those by their fourth moment (Satterthwaite 1946), with the deviations u of the units,
//
//	2 (sum u^2)^2/(sum u^4 - (sum u^2)^2/units),
//
// and of losses above 0 one less than the effective number (sum v)^2/sum v^2 of the units that make them up,
// if that is less; at least three.
func Freedom(each, weights []float64, group []int) float64 {
	n := len(each)
	off, sums := make([]float64, n), make([]float64, n)
	mean, unit := stat.Mean(each, weights), 0
	for i, e := range each {
		if unit = i; group != nil {
			unit = group[i]
		}
		off[unit] += WeightOf(weights, i) * (e - mean)
		sums[unit] += WeightOf(weights, i) * e
	}
	square := floats.Dot(off, off)
	floats.Mul(off, off)
	freedom := 2 * square * square / (floats.Dot(off, off) - square*square/Effective(n, weights, group))
	if !(freedom > 0) { // all are equal
		freedom = math.Inf(1)
	}
	if total := floats.Sum(sums); floats.Min(each) >= 0 && total > 0 {
		freedom = math.Min(freedom, total*total/floats.Dot(sums, sums)-1)
	}
	return math.Max(fewestFreedom, freedom)
}

// quantile is the number of standard errors to each side of an interval: by the normal law, or by Student's
// with as many degrees of freedom, if these are above 0.
func quantile(level, freedom float64) float64 {
	if freedom > 0 {
		return distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile((1 + level) / 2)
	}
	return distuv.UnitNormal.Quantile((1 + level) / 2)
}

// ErrorInterval is the interval of a mean loss e above 0 with standard error se: symmetric on the logarithmic
// scale, e exp(-+ q se/e), since losses without a bound err by factors. se counts up to e, the standard error
// of a mean that one unit makes up: the losses of choices that are made again may have a larger one.
func ErrorInterval(e, se, level, freedom float64) (lower, upper float64) {
	if !(e > 0) {
		q := quantile(level, freedom) * se
		return e - q, e + q
	}
	factor := math.Exp(quantile(level, freedom) * math.Min(1, se/e))
	return e / factor, e * factor
}

// ShareInterval is the interval of an error rate p of n independent rows, with standard error se: the score
// interval (Wilson 1927) of as many rows as have this standard error, at most n. Where no row errs, or all
// do, it is one-sided: up to 1 - (1 - level)^(1/units), units the effective number of rows or groups.
func ShareInterval(p, se, n, units, level, freedom float64) (lower, upper float64) {
	switch {
	case p <= 0:
		return 0, 1 - math.Pow(1-level, 1/units)
	case p >= 1:
		return math.Pow(1-level, 1/units), 1
	}
	if rows := p * (1 - p) / (se * se); rows < n { // false for NaN
		n = rows
	}
	q := quantile(level, freedom)
	middle, spread := (p+q*q/(2*n))/(1+q*q/n), q*math.Sqrt(p*(1-p)/n+q*q/(4*n*n))/(1+q*q/n)
	return math.Max(0, middle-spread), math.Min(1, middle+spread)
}
