package svm

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/train"
)

// Perceptron is a predictor found by the perceptron's rule (Rosenblatt 1958): in each
// pass over the examples, in their order, every one with y f <= 0 at its turn counts
// as a mistake and adds y K(x, .) to f (THEORY 9, the dual form). It has no bias, and f = 0 at
// first.
type Perceptron struct {
	// Alpha counts the mistakes on each example, length N.
	Alpha []float64
	// F is the predictor at the examples at the end, length N.
	F []float64
	// Mistakes counts those of each pass.
	Mistakes []int
	// Converged: the last pass made no mistake. Otherwise the limit was reached.
	Converged bool
}

// TrainPerceptron runs the perceptron with a kernel between the examples' sites, for at most passes passes:
// a mistake adds 1 to the example's weight Alpha, and f = sum_i Alpha_i y_i K(x_i, .).
func TrainPerceptron(k *Rows, site train.Sites, y []float64, passes int) (*Perceptron, error) {
	if err := site.Check(len(y), k.N()); err != nil {
		return nil, err
	}
	if passes < 1 {
		return nil, fmt.Errorf("the number of passes must be positive, got %d", passes)
	}
	for i, v := range y {
		if v != 1 && v != -1 {
			return nil, fmt.Errorf("the label of example %d is %v, must be -1 or +1", i+1, v)
		}
	}
	f := make([]float64, k.N())
	p := &Perceptron{Alpha: make([]float64, len(y)), F: make([]float64, len(y))}
	for len(p.Mistakes) < passes && !p.Converged {
		mistakes := 0
		for i, label := range y {
			if at := site.At(i); label*f[at] <= 0 {
				p.Alpha[i]++
				floats.AddScaled(f, label, k.Row(at))
				mistakes++
			}
		}
		p.Mistakes = append(p.Mistakes, mistakes)
		p.Converged = mistakes == 0
	}
	for i := range p.F {
		p.F[i] = f[site.At(i)]
	}
	return p, nil
}
