package tune

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/loss"
)

// span is the bounds of a hyperparameter, its values in a grid, and the number of its axis.
type span struct {
	from, to float64
	grid     []float64
	axis     int
}

// ranges are the default spans. Gamma is in units of one over half the mean squared distance between
// examples, the number of features that vary where these are standardised; the others, for a regression, are
// in units of the targets. Weights of rows multiply C and divide the noise, which are in units of their mean.
func ranges(spec *model.Spec) map[string]span {
	unit, variance, cost := 1/halfDistance(spec.Set, spec.Standardize), 1.0, 1.0
	if spec.Set.AreNumbers() {
		if v := stat.PopVariance(spec.Set.Columns[0].Y, spec.Set.Weights); v > 0 {
			variance, cost = v, 1/v
		}
		if loss.TraitsOf(spec.Loss).Degree != 2 { // C times a distance
			cost = math.Sqrt(cost)
		}
	}
	times := func(scale, from, to float64, grid ...float64) span {
		floats.Scale(scale, grid)
		return span{from: from * scale, to: to * scale, grid: grid}
	}
	weight := 1.0
	if w := spec.Set.Weights; w != nil {
		weight = stat.Mean(w, nil)
	}
	length := 1 / math.Sqrt(2*unit)                     // of gamma = unit
	epsilon := times(math.Sqrt(variance), 1e-3, 3, 0.1) // of the tube
	if spec.Loss != nil && spec.Loss.Name() == (loss.Huber{}).Name() {
		epsilon = times(math.Sqrt(variance), 0.01, 10, 0.5)
	}
	return map[string]span{
		"gamma":        times(unit, 1e-4, 100, 0.05, 0.126, 0.316, 0.8, 2),
		"length-scale": times(length, 0.06, 120, 4.47, 2.82, 1.78, 1.12, 0.707),
		"coef0":        times(1, 0.01, 100, 1),
		"amplitude":    times(variance, 0.01, 1000, 1),
		"constant":     times(variance, 0.001, 1000, 0.1),
		"jitter":       times(variance, 1e-6, 10, 0.01),
		"noise":        times(variance*weight, 1e-4, 10, 0.5, 0.19, 0.07, 0.027, 0.01),
		"C":            times(cost/weight, 1e-3, 1e5, 0.1, 1, 10, 100),
		"epsilon":      epsilon,
		"class-weight": times(1, 0.01, 100, 1),
	}
}

// Grid has the initial values of the search of a hyperparameter.
func Grid(spec *model.Spec, name string) []float64 { return ranges(spec)[name].grid }

// Start is the middle of Grid.
func Start(spec *model.Spec, name string) float64 {
	grid := Grid(spec, name)
	return grid[len(grid)/2]
}

// halfDistance is half the mean squared distance between examples, the sum of the variances
// of the features; 1 where all examples are equal.
func halfDistance(set *dataset.Set, standardized bool) float64 {
	sum := 0.0
	if set.Sparse != nil {
		mean := make([]float64, set.D())
		for at, v := range set.Sparse.Value {
			mean[set.Sparse.Index[at]] += v / float64(set.N())
			sum += v * v / float64(set.N())
		}
		sum -= floats.Dot(mean, mean)
	} else {
		for _, sd := range set.Standardizer().SD {
			if standardized && sd > 0 {
				sd = 1
			}
			sum += sd * sd
		}
	}
	if !(sum > 0) {
		return 1
	}
	return sum
}

// logs are the middle and half the width of a span on a logarithmic scale, on which the descent moves.
func (s span) logs() (middle, half float64) {
	return (math.Log(s.to) + math.Log(s.from)) / 2, (math.Log(s.to) - math.Log(s.from)) / 2
}

// inside maps the real line to the span, with slope 1 of the logarithm in the middle; outside is its inverse.
func (s span) inside(z float64) (value, slope float64) {
	middle, half := s.logs()
	t := math.Tanh(z / half)
	return math.Exp(middle + half*t), 1 - t*t
}

func (s span) outside(value float64) float64 {
	const most = 0.99 // a start on a bound could not leave it
	middle, half := s.logs()
	return half * math.Atanh(math.Max(-most, math.Min(most, (math.Log(value)-middle)/half)))
}

// onBound is the distance from a bound, as a logarithm, below which a value lies on it.
const onBound = 0.05

// noteBounds lists the chosen values on a bound, without the length scales of features that tell nothing.
func (s *search) noteBounds() {
	for k, h := range s.result.Over {
		at, value := s.spans[k], h.Value(&s.result.Spec)
		for i, bound := range []float64{at.from, at.to} {
			unused := i == 1 && h.Name == "length-scale" && len(s.result.Spec.Kernel.LengthScale) > 1
			if math.Abs(math.Log(value/bound)) < onBound && !unused {
				s.result.Bounds = append(s.result.Bounds, Bound{value,
					fmt.Sprintf("%v is on its %s bound %.4g", h, []string{"lower", "upper"}[i], bound)})
			}
		}
	}
}

// Default names the hyperparameters chosen by default: the kernel's scale and the loss's parameters.
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
