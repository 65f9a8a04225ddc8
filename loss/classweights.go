package loss

import "fmt"

// ClassWeights multiply C of the examples of a class, e.g. if one class is rare or its errors cost more: C
// Negative for the label -1 and C Positive for +1. The zero value means 1 and 1.
type ClassWeights struct {
	Negative float64 `json:"negative"`
	Positive float64 `json:"positive"`
}

// Balanced are n/(2 n_class) for n labels, n_class of them of the class: both classes have equal total
// weight, and the mean weight is 1 (the convention of scikit-learn). Zero if a class has no example.
func Balanced(labels []float64) ClassWeights {
	n, positive := float64(len(labels)), 0.0
	for _, y := range labels {
		if y > 0 {
			positive++
		}
	}
	if positive == 0 || positive == n {
		return ClassWeights{}
	}
	return ClassWeights{Negative: n / (2 * (n - positive)), Positive: n / (2 * positive)}
}

// ClassWeight is the weight of a label.
func (w ClassWeights) ClassWeight(y float64) float64 {
	switch {
	case w == ClassWeights{}:
		return 1
	case y > 0:
		return w.Positive
	}
	return w.Negative
}

// checkCosts refuses C, or a product of C and a weight, outside (0, maxParameter].
func (w ClassWeights) checkCosts(c float64) error {
	if err := checkPositive("C", c); err != nil || w == (ClassWeights{}) {
		return err
	}
	for _, v := range []float64{w.Negative, w.Positive} {
		if !(v > 0 && c*v > 0 && c*v <= maxParameter) {
			return fmt.Errorf("loss: class weights must be positive and C times them at most %g, "+
				"got %g and %g",
				float64(maxParameter), w.Negative, w.Positive)
		}
	}
	return nil
}
