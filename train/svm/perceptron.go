package svm

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"bootbench/train"
)

// Perceptron is a predictor trained by the perceptron rule (Rosenblatt 1958): in each pass over the examples,
// in their order, an example with y f <= 0 counts as a mistake and adds y K(x, .) to f (theory 9, the dual
// form). It has no bias.
type Perceptron struct {
	train.Result       // its weights sum the labels of the mistakes at each site
	Mistakes     []int // of each pass
}

// Converged reports whether the last pass made no mistake.
func (p *Perceptron) Converged() bool { return p.Mistakes[len(p.Mistakes)-1] == 0 }

// TrainPerceptron runs the rule from f = 0 until a pass makes no mistake, for at most passes >= 1 passes. y
// are the labels -1 and +1 of the examples. It ends with ctx, too, which is looked at after every pass.
func TrainPerceptron(ctx context.Context, k *Rows, site train.Sites, y []float64, passes int) *Perceptron {
	p := &Perceptron{Result: train.Result{Weight: make([]float64, k.N()), F: make([]float64, k.N())}}
	for range passes {
		mistakes := 0
		for i, label := range y {
			if s := site.At(i); label*p.F[s] <= 0 {
				p.Weight[s] += label
				floats.AddScaled(p.F, label, k.Row(s))
				mistakes++
			}
		}
		p.Mistakes = append(p.Mistakes, mistakes)
		if mistakes == 0 || ctx.Err() != nil {
			break
		}
	}
	return p
}
