package svm

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"bootbench/train"
)

// Perceptron is a predictor found by the perceptron's rule (Rosenblatt 1958): in each
// pass over the examples, in their order, every one with y f <= 0 at its turn counts
// as a mistake and adds y x to the weights (THEORY 9). It has no bias, and f = 0 at
// first.
type Perceptron struct {
	// Alpha counts the mistakes on each example, length N.
	Alpha []float64
	// Weights are sum_i Alpha_i y_i x_i, length D; nil from TrainDualPerceptron.
	Weights []float64
	// F is the predictor at the examples at the end, length N.
	F []float64
	// Mistakes counts those of each pass.
	Mistakes []int
	// Converged: the last pass made no mistake. Otherwise the limit was reached.
	Converged bool
}

// TrainPerceptron runs the perceptron on feature vectors, for at most passes
// passes.
func TrainPerceptron(x Features, y []float64, passes int) (*Perceptron, error) {
	if err := checkPerceptron(x.N(), y, passes); err != nil {
		return nil, err
	}
	w := make([]float64, x.D())
	p := learn(y, passes,
		func(i int) float64 { return x.Dot(i, w) },
		func(i int) { x.AddTo(w, i, y[i]) })
	p.Weights = w
	return p, nil
}

// TrainDualPerceptron is TrainPerceptron with a kernel between the examples' sites:
// a mistake adds 1 to the example's weight Alpha, and f = sum_i Alpha_i y_i K(x_i, .).
func TrainDualPerceptron(k *Rows, site train.Sites, y []float64, passes int) (*Perceptron, error) {
	if err := site.Check(len(y), k.N()); err != nil {
		return nil, err
	}
	if err := checkPerceptron(len(y), y, passes); err != nil {
		return nil, err
	}
	f := make([]float64, k.N())
	return learn(y, passes,
		func(i int) float64 { return f[site.At(i)] },
		func(i int) { floats.AddScaled(f, y[i], k.Row(site.At(i))) }), nil
}

// learn makes the passes. at is the predictor, add makes it learn an example.
func learn(y []float64, passes int, at func(i int) float64, add func(i int)) *Perceptron {
	p := &Perceptron{Alpha: make([]float64, len(y)), F: make([]float64, len(y))}
	for len(p.Mistakes) < passes && !p.Converged {
		mistakes := 0
		for i, label := range y {
			if label*at(i) <= 0 {
				p.Alpha[i]++
				add(i)
				mistakes++
			}
		}
		p.Mistakes = append(p.Mistakes, mistakes)
		p.Converged = mistakes == 0
	}
	for i := range p.F {
		p.F[i] = at(i)
	}
	return p
}

func checkPerceptron(n int, y []float64, passes int) error {
	if len(y) != n {
		return fmt.Errorf("%d labels do not fit %d inputs", len(y), n)
	}
	if passes < 1 {
		return fmt.Errorf("the number of passes must be positive, got %d", passes)
	}
	for i, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("the label of example %d is %v, must be -1 or +1", i+1, v)
		}
	}
	return nil
}
