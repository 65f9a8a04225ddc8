package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/null"
)

// SizeError is the error of models trained on a fraction of the examples.
type SizeError struct {
	Ratio float64   // below 1
	Error float64   // mean over the examples
	SE    float64   // of Error, over subsamples
	Each  []float64 // left-out errors of the examples
}

// Growth extrapolates the error to more examples, by a power law fitted to the errors of fewer.
type Growth struct {
	Rows   int        `json:"rows"`    // of the extrapolation
	Now    null.Float `json:"now"`     // expected error of a model trained on all present rows
	Then   null.Float `json:"then"`    // on Rows
	Fall   null.Float `json:"fall"`    // Now - Then
	FallSE null.Float `json:"fall_se"` // by the shape of the law, and over examples
}

// growthGroups are left out one at a time by the jackknife of a fall.
const growthGroups = 10

// NewGrowth evaluates a power law through errors of parts of n examples at two numbers of rows. The standard
// error of the fall combines that of the fit and, by a jackknife over groups of examples, that over test
// examples. It is nil if the errors do not determine the law, as for few examples.
func NewGrowth(sizes []SizeError, n, from, to int) *Growth {
	const fewest = 20
	if n < fewest {
		return nil
	}
	now, then := float64(from)/float64(n), float64(to)/float64(n)
	expected, fall, variance := fitPowerLaw(sizes, now, then)
	relative := make([]float64, growthGroups) // falls
	for g := range relative {
		some := slices.Clone(sizes)
		for i, s := range sizes {
			some[i].Error += withoutGroup(s.Each, g) - stat.Mean(s.Each, nil)
		}
		at, by, _ := fitPowerLaw(some, now, then)
		relative[g] = by / at
	}
	jackknife := (growthGroups - 1) * stat.PopVariance(relative, nil)
	se := math.Sqrt(variance + expected*expected*jackknife)
	if sum := expected + se; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	return &Growth{Rows: to, Now: null.Float(expected), Then: null.Float(expected - fall),
		Fall: null.Float(fall), FallSE: null.Float(se)}
}

// withoutGroup is the mean of all values except those of group g.
func withoutGroup(values []float64, g int) float64 {
	sum, count := 0.0, 0.0
	for i, v := range values {
		if i%growthGroups != g {
			sum, count = sum+v, count+1
		}
	}
	return sum / count
}

// discrepancy times log 1/r is the relative deviation of the error at ratio r from the power law: models are
// chosen for all rows, and curves are not exact power laws. doc/guide.md has the evidence.
const discrepancy = 0.1

// fitPowerLaw is the error at ratio from, its fall to ratio to, and the variance of the fall. It averages a +
// b r^-p by likelihood, over a grid of a from 0 to the least error and of log p; b is that of weighted least
// squares.
func fitPowerLaw(sizes []SizeError, from, to float64) (now, fall, variance float64) {
	least := math.Inf(1)
	for _, s := range sizes {
		least = math.Min(least, s.Error)
	}
	var laws []powerLaw
	best := math.Inf(1)
	for p := 0.02; p < 3; p *= 1.2 {
		for part := 0.0; part < 1; part += 0.025 {
			law := newPowerLaw(sizes, part*least, p)
			laws, best = append(laws, law), math.Min(best, law.chi2)
		}
	}
	sum, square := 0.0, 0.0
	for _, l := range laws {
		w, x := math.Exp((best-l.chi2)/2), math.Pow(from, -l.p)
		less := x - math.Pow(to, -l.p)
		sum, now, fall = sum+w, now+w*(l.a+l.b*x), fall+w*l.b*less
		square += w * (l.b*l.b + l.bVar) * less * less
	}
	now, fall = now/sum, fall/sum
	return now, fall, math.Max(square/sum-fall*fall, 0)
}

// powerLaw is a + b r^-p, with the variance of b.
type powerLaw struct{ a, b, p, bVar, chi2 float64 }

func newPowerLaw(sizes []SizeError, a, p float64) powerLaw {
	var xx, xy, yy float64 // weighted products of x = r^-p and y = error - a
	for _, s := range sizes {
		w := 1 / (s.SE*s.SE + math.Pow(discrepancy*s.Error*math.Log(s.Ratio), 2))
		x, y := math.Pow(s.Ratio, -p), s.Error-a
		xx, xy, yy = xx+w*x*x, xy+w*x*y, yy+w*y*y
	}
	b := math.Max(xy/xx, 0)
	return powerLaw{a: a, b: b, p: p, bVar: 1 / xx, chi2: yy - 2*b*xy + b*b*xx}
}
