package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/report"
)

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
