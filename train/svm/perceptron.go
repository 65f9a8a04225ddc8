package svm

import (
	"context"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train"
)

// Perceptron is a predictor trained by the perceptron rule (Rosenblatt 1958): in each pass over the examples,
// in their order, an example with y f <= 0 counts as a mistake and adds y K(x, .) to f (theory 9, the dual
// form). It has no bias.
type Perceptron struct {
	train.Result       // its weights sum the labels of the mistakes at each site
	Mistakes     []int // of each pass
	// The primal form is f = W.x + Constant; W is nil for the dual form.
	W        []float64
	Constant float64
}

// Converged reports whether the last pass made no mistake.
func (p *Perceptron) Converged() bool { return p.Mistakes[len(p.Mistakes)-1] == 0 }

// TrainPerceptron runs the rule from f = 0 until a pass makes no mistake, for at most passes >= 1 passes. y
// are the labels -1 and +1 of the examples. It ends with ctx, too, which is looked at after every pass.
func TrainPerceptron(ctx context.Context, k *Rows, site train.Sites, y []float64, passes int) *Perceptron {
	p := &Perceptron{Result: train.Result{Weight: make([]float64, k.N()), F: make([]float64, k.N())}}
	p.run(ctx, site, y, passes, func(s int) float64 { return p.F[s] }, func(s int, label float64) {
		floats.AddScaled(p.F, label, k.Row(s))
	})
	return p
}

// TrainPrimal is TrainPerceptron in the primal form, for the kernel amplitude x.x' + constant of the rows x
// of the sites: without a kernel matrix, in a time that is proportional to the nonzeros of x in each pass.
func TrainPrimal(ctx context.Context, x *linalg.CSR, amplitude, constant float64, site train.Sites,
	y []float64, passes int) *Perceptron {
	p := &Perceptron{Result: train.Result{Weight: make([]float64, x.Rows), F: make([]float64, x.Rows)},
		W: make([]float64, x.Cols)}
	f := func(s int) float64 {
		index, value := x.Row(s)
		sum := p.Constant
		for k, j := range index {
			sum += p.W[j] * value[k]
		}
		return sum
	}
	p.run(ctx, site, y, passes, f, func(s int, label float64) {
		index, value := x.Row(s)
		for k, j := range index {
			p.W[j] += label * amplitude * value[k]
		}
		p.Constant += label * constant
	})
	for s := range p.F {
		p.F[s] = f(s)
	}
	return p
}

// run makes the passes: f is the predictor at a site, and add adds a label times the kernel with the site.
func (p *Perceptron) run(ctx context.Context, site train.Sites, y []float64, passes int,
	f func(s int) float64, add func(s int, label float64)) {
	for range passes {
		mistakes := 0
		for i, label := range y {
			if s := site.At(i); label*f(s) <= 0 {
				p.Weight[s] += label
				add(s, label)
				mistakes++
			}
		}
		p.Mistakes = append(p.Mistakes, mistakes)
		if mistakes == 0 || ctx.Err() != nil {
			break
		}
	}
}
