package calibration

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/internal/report"
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

// SizeError is the error of models trained on a fraction of the examples.
type SizeError struct {
	Ratio float64   // at most 1
	Error float64   // mean over the examples, above 0
	SE    float64   // of Error, over subsamples
	Each  []float64 // left-out errors of the examples
}

const (
	// growthGroups are left out one at a time by the jackknife of a fall.
	growthGroups = 10

	// fewestGrowing is the number of examples below which errors of subsamples say nothing.
	fewestGrowing = 20

	// A doubling of the rows lowers the logarithm of the error by nextFall of what the last one did, give or
	// take nextFallSD of that. In 60 splits of five sets (friedman1, magic, california, pumadyn8nm, blobs)
	// with 400 to 1600 rows the error with twice the rows was 0.0% higher on average, and off by 2.5% (root
	// mean square); by a power law through quarters, halves and all of the rows, with an asymptote, by 4.6%.
	// 95% were within two standard errors.
	// Below manyGrowing rows the fall varies more, by nextFallSD (manyGrowing/rows)^1/2: in 100 tables each
	// of 20, 30 and 50 rows of three functions and two classes it was 0.3 to 1.1 of the last one.
	nextFall, nextFallSD, manyGrowing = 0.75, 0.15, 200
)

// NewGrowth extrapolates errors of parts of n examples, by ascending size, to twice the examples. Parts
// support no more: how far the error falls in the end does not show in them. It is nil for few examples, and
// without a part of at most half of the largest.
func NewGrowth(sizes []SizeError, n int) *report.Growth {
	last := sizes[len(sizes)-1]
	if n < fewestGrowing || !(2*sizes[0].Ratio <= last.Ratio) || !(last.Error > 0) {
		return nil
	}
	rest := -math.Log2(last.Ratio) // doublings from the largest part to all examples
	at := func(fall, doublings float64) float64 {
		return math.Exp(-fall * nextFall * (1 - math.Pow(nextFall, doublings)) / (1 - nextFall))
	}
	fall, se := lastFall(sizes, func(s SizeError) float64 { return s.Error })
	sd := nextFallSD * math.Sqrt(max(1, manyGrowing/float64(n)))
	variance, falls := math.Pow(sd*fall, 2)+math.Pow(nextFall*se, 2), make([]float64, growthGroups)
	for g := range falls {
		falls[g], _ = lastFall(sizes, func(s SizeError) float64 {
			return s.Error + withoutGroup(s.Each, g) - stat.Mean(s.Each, nil)
		})
	}
	variance += nextFall * nextFall * (growthGroups - 1) * stat.PopVariance(falls, nil)
	now, then := last.Error*at(fall, rest), last.Error*at(fall, rest+1)
	if sum := now + then + variance; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	return &report.Growth{Rows: 2 * n, Now: report.Number(now), Then: report.Number(then),
		Fall: report.Number(now - then), FallSE: report.Number(then * math.Sqrt(variance))}
}

// lastFall is the fall of the logarithm of an error, at least 0, by the last doubling of the rows, and its
// standard error over subsamples. At half of the largest part log errors are interpolated.
func lastFall(sizes []SizeError, of func(SizeError) float64) (fall, se float64) {
	last, k := sizes[len(sizes)-1], 0
	for sizes[k+1].Ratio <= last.Ratio/2 {
		k++
	}
	below, above := sizes[k], sizes[k+1]
	share := math.Log(last.Ratio/2/below.Ratio) / math.Log(above.Ratio/below.Ratio)
	half := (1-share)*math.Log(of(below)) + share*math.Log(of(above))
	relative := func(s SizeError) float64 { return s.SE / s.Error }
	return math.Max(0, half-math.Log(of(last))),
		math.Hypot((1-share)*relative(below)+share*relative(above), relative(last))
}

// withoutGroup is the mean of all values that are not of group g.
func withoutGroup(values []float64, g int) float64 {
	sum, count := 0.0, 0.0
	for i, v := range values {
		if i%growthGroups != g {
			sum, count = sum+v, count+1
		}
	}
	return sum / count
}
