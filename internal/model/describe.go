package model

import (
	"fmt"
	"math"

	"bootbench/fits"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train/erm"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// Training describes how a method trains a resample, and its tolerance.
func Training(m *Model, method RetrainMethod) string {
	if method == Batch {
		return fmt.Sprintf("products with the theory's G, optimality conditions to %g standard deviations",
			fits.DefaultBlockTolerance)
	}
	if method == Downdate {
		return "one inverse for all fits, from which each forgets what it leaves out"
	}
	newton := fmt.Sprintf("proximal Newton, optimality conditions to %g of the objective's terms",
		erm.DefaultTolerance)
	if _, ok := m.TrainedOnFactor(); ok {
		return newton + ", on the low-rank factor"
	}
	_, likelihood := m.Loss.(gp.Likelihood)
	switch t := loss.TraitsOf(m.Loss); {
	case t.Quadratic:
		return "Cholesky factorisation"
	case t.Margin:
		return fmt.Sprintf("dual solver, Kuhn-Tucker conditions of y f to %g", svm.DefaultTolerance)
	case likelihood:
		return "expectation propagation"
	}
	return newton
}

// EmptyShare is the probability of a resample without examples, which predicts the prior mean 0 in theory and
// in retraining. It is 0 for schemes of fixed size.
func EmptyShare(m *Model, scheme resample.Scheme) float64 {
	switch scheme.(type) {
	case resample.Poisson, resample.Bernoulli:
		return resample.ProbZero(scheme, len(m.Y))
	}
	return 0
}

// MissingClass is the probability that a resample lacks one of the two classes (or both), for independent
// counts; 0 for regression, and for designs.
func MissingClass(m *Model, law resample.CountDistribution) float64 {
	needed, _ := NeedsLabels(m.Loss)
	if _, designed := law.(resample.Designed); designed || !needed {
		return 0
	}
	absent := resample.ProbZero(law, 1)
	present := 1.0
	for _, label := range []float64{-1, 1} {
		count := 0.0
		for _, y := range m.Y {
			if y == label {
				count++
			}
		}
		present *= 1 - math.Pow(absent, count)
	}
	return 1 - present
}
