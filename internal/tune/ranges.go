package tune

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/loss"
)

// span is where a hyperparameter may lie, and where its search begins where nothing else is
// said.
type span struct{ from, start, to float64 }

// ranges are the default spans. Gamma is in units of one over half the mean squared distance
// between examples, the number of features where these are standardised; of a regression the
// others are in units of the targets.
func ranges(spec *model.Spec) map[string]span {
	unit, variance := 1/halfDistance(spec.Set, spec.Standardize), 1.0
	if spec.Set.Task == dataset.Regression {
		if v := stat.PopVariance(spec.Set.Y, nil); v > 0 {
			variance = v
		}
	}
	length := 1 / math.Sqrt(2*startGamma*unit)
	times := func(scale float64, s span) span { return span{s.from * scale, s.start * scale, s.to * scale} }
	return map[string]span{
		"gamma":        times(unit, span{1e-4, startGamma, 100}),
		"length-scale": times(length, span{0.05, 1, 100}),
		"coef0":        {0.01, 1, 100},
		"amplitude":    times(variance, span{0.01, 1, 1000}),
		"constant":     times(variance, span{0.001, 0.1, 1000}),
		"jitter":       times(variance, span{1e-6, 0.01, 10}),
		"noise":        times(variance, span{1e-4, 0.1, 10}),
		"C":            {1e-3 / variance, 3 / variance, 1e5 / variance},
		"epsilon":      times(math.Sqrt(variance), span{1e-3, 0.1, 3}),
		"delta":        times(math.Sqrt(variance), span{0.01, 0.5, 10}),
		"class-weight": {0.01, 1, 100},
	}
}

// startGamma is the middle of the grid of Quickly.
const startGamma = 0.316

// Start is the value at which the search of a hyperparameter begins where nothing else is
// said.
func Start(spec *model.Spec, name string) float64 { return ranges(spec)[name].start }

// coordinate is what the search moves: one hyperparameter, or several by a common factor. It is
// the logarithm of the factor by which the start is multiplied.
type coordinate struct {
	members []int // places in search.over
	lo, hi  float64
}

// coordinates are those of hyperparameters that start at values, one for each, or with tied
// length scales one for all of these.
func (s *search) coordinates(values []float64, tied bool) []coordinate {
	var all []coordinate
	for k, h := range s.result.Over {
		lo, hi := math.Log(s.spans[k].from)-math.Log(values[k]), math.Log(s.spans[k].to)-math.Log(values[k])
		if last := len(all) - 1; tied && h.Feature > 0 {
			all[last].members = append(all[last].members, k)
			all[last].lo, all[last].hi = math.Max(all[last].lo, lo), math.Min(all[last].hi, hi)
			continue
		}
		all = append(all, coordinate{[]int{k}, lo, hi})
	}
	return all
}

// inside maps the real line to (lo, hi), with slope 1 in the middle; outside is its inverse.
func (c *coordinate) inside(z float64) (x, slope float64) {
	middle, half := (c.lo+c.hi)/2, (c.hi-c.lo)/2
	t := math.Tanh(z / half)
	return middle + half*t, 1 - t*t
}

func (c *coordinate) outside(x float64) float64 {
	middle, half := (c.lo+c.hi)/2, (c.hi-c.lo)/2
	const most = 0.99 // a start on a bound could not leave it
	return half * math.Atanh(math.Max(-most, math.Min(most, (x-middle)/half)))
}

// onBound is the distance from a bound, as a logarithm, below which a value lies on it.
const onBound = 0.05

// noteBounds says which of the values lie on a bound.
func (s *search) noteBounds(values []float64) {
	for k, h := range s.result.Over {
		at := s.spans[k]
		if math.Log(values[k]/at.from) < onBound {
			s.result.Bounds = append(s.result.Bounds, fmt.Sprintf("%v is on its lower bound %.4g", h, at.from))
		}
		if math.Log(at.to/values[k]) < onBound {
			s.result.Bounds = append(s.result.Bounds, fmt.Sprintf("%v is on its upper bound %.4g", h, at.to))
		}
	}
}

// Default names what is chosen where nobody says: the scale of the kernel and what the loss takes.
func Default(spec *model.Spec) (names []string) {
	switch k := &spec.Kernel; {
	case len(k.LengthScale) > 0:
		names = []string{"length-scale"}
	case k.Scaled():
		names = []string{"gamma"}
	}
	about, _ := loss.About(spec.Loss.Name())
	return append(names, about.Takes...)
}
