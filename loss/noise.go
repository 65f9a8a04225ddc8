package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// noiseValues is the number of quantiles that stand for a noise.
const noiseValues = 1000

// NoiseOf is the noise of numbers of which a regression loss is minus the log likelihood, of density
// proportional to exp(-l(e, 0)): of Square a Gaussian of variance Noise. It is a list of equally likely
// values, quantiles moved away from 0 so that the variance is the density's; nil for other losses.
func NoiseOf(l Loss) (values []float64) {
	if l == nil {
		return nil
	}
	if about, err := About(l.Name()); err != nil || about.Task == Classification {
		return nil
	}
	const negligible, points = 37, 1 << 16 // e^-37 = 1e-16
	reach := 1.0
	for l.Value(reach, 0) < negligible {
		reach *= 2
	}
	for l.Value(reach/2, 0) > negligible {
		reach /= 2
	}
	step, mass, variance := reach/points, make([]float64, points), 0.0
	for k := range mass { // of the midpoints above 0
		e := (float64(k) + 0.5) * step
		mass[k] = math.Exp(-l.Value(e, 0))
		variance += mass[k] * e * e
	}
	total := floats.Sum(mass)
	variance /= total
	sum, k := 0.0, 0
	for j := range noiseValues / 2 { // quantile (j + 1/2)/(noiseValues/2) of |e|
		goal := (float64(j) + 0.5) / (noiseValues / 2) * total
		for ; sum+mass[k] < goal; k++ {
			sum += mass[k]
		}
		e := (float64(k) + (goal-sum)/mass[k]) * step
		values = append(values, e, -e)
	}
	floats.Scale(math.Sqrt(variance/stat.PopVariance(values, nil)), values)
	return values
}
