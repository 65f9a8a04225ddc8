package fits

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// MostJackknifed is the largest number of examples for which a standard error over data sets is jackknifed.
// Of more, the standard error over examples is as good: the errors of two of them have little in common.
const MostJackknifed = 50

// jackknife estimates the standard error of a mean left-out error over data sets: the losses of a fit without
// examples i and j are losses of the data without i, too, so that the left-out error without each example
// follows from the same fits (Efron 1992, jackknife after bootstrap). Unlike the spread of the losses over
// examples it has the part of the training rows, which all examples share. Independent fits alternate
// between two halves: the covariance of the errors of both has no bias from the number of fits.
type jackknife struct {
	weights    []float64 // of the examples; nil: 1
	done       int
	sum, count [2][][]float64 // by half: of the losses of j in fits without i and j
}

// newJackknife is nil, which adds and estimates nothing, for many examples and for dependent fits.
func newJackknife(examples int, weights []float64, period int) *jackknife {
	if examples > MostJackknifed || period > 1 {
		return nil
	}
	k := &jackknife{weights: weights}
	for half := range k.sum {
		for range examples {
			k.sum[half] = append(k.sum[half], make([]float64, examples))
			k.count[half] = append(k.count[half], make([]float64, examples))
		}
	}
	return k
}

// add adds a fit of these weights, given the loss of an example that it lacks.
func (k *jackknife) add(weight []float64, loss func(example int) float64) {
	if k == nil {
		return
	}
	half := k.done % len(k.sum)
	k.done++
	for j, w := range weight {
		if w != 0 {
			continue
		}
		value := loss(j)
		for i, v := range weight {
			if v == 0 {
				k.sum[half][i][j] += value
				k.count[half][i][j]++
			}
		}
	}
}

// se is the standard error, 0 if it is unknown.
func (k *jackknife) se() float64 {
	if k == nil {
		return 0
	}
	var without [2][]float64 // the error of the data without each example
	for half := range without {
		for i, sums := range k.sum[half] {
			sum, total := 0.0, 0.0
			for j, s := range sums {
				if count := k.count[half][i][j]; i != j && count > 0 {
					w := weightOf(k.weights, j)
					sum, total = sum+w*s/count, total+w
				}
			}
			without[half] = append(without[half], sum/total)
		}
	}
	n, c := float64(len(without[0])), stat.Covariance(without[0], without[1], nil)
	if !(c > 0) { // or an example has too few fits
		return 0
	}
	return (n - 1) * math.Sqrt(c/n)
}
