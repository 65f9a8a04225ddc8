package calibration

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/null"
)

// SizeError is the error of models that are trained on a share of the examples.
type SizeError struct {
	Ratio float64   // below 1
	Error float64   // mean over the examples
	SE    float64   // of Error, over subsamples
	Each  []float64 // left-out errors of the examples
}

// Growth is what more examples would do, by a power law fitted to the errors of fewer.
type Growth struct {
	Rows   int        `json:"rows"`    // more than there are
	Now    null.Float `json:"now"`     // expected error of a model that is trained on those there are
	Then   null.Float `json:"then"`    // on Rows
	Fall   null.Float `json:"fall"`    // Now - Then
	FallSE null.Float `json:"fall_se"` // of the shape of the law, and of the examples
}

// growthGroups are left out one at a time by the jackknife of a fall.
const growthGroups = 10

// NewGrowth reads a power law through errors at the sizes of parts of n examples at two numbers of rows. The
// standard error of the fall is that of the fit and, by a jackknife over groups of examples whose errors are
// left out, that of the examples by which models are judged. nil: the errors determine nothing, as those of
// few examples do not.
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

// discrepancy is by how much of itself the error at ratio r may be off the power law, times log 1/r: models
// are chosen for all rows, and curves are no power laws. doc/guide.md has what it was judged by.
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
