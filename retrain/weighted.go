package retrain

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// weightedFit trains on the examples with the weights that its maker was given.
type weightedFit func() (fitted, error)

// fitted is a predictor: f at the sites, and its coefficients in the kernel with them and
// its bias elsewhere.
type fitted struct {
	f, coefficients []float64
	bias            float64
}

// weighted is the maker of trainers for a method in which an example that is drawn
// k times has weight k. newFit binds the method to p and to the weights.
func (p Problem) weighted(kernel linalg.Kernel, cross blas64.General,
	newFit func(p Problem, weight []float64) (weightedFit, error)) func() (Trainer, error) {
	return func() (Trainer, error) {
		p, err := p.withDefaults()
		if err != nil {
			return nil, err
		}
		if err := p.checkKernel(kernel, cross); err != nil {
			return nil, err
		}
		t := &weightedTrainer{weight: make([]float64, len(p.Y)), cross: cross, sites: p.Sites}
		if t.fit, err = newFit(p, t.weight); err != nil {
			return nil, err
		}
		return t, nil
	}
}

// weightedTrainer turns counts into weights.
type weightedTrainer struct {
	weight []float64
	fit    weightedFit
	cross  blas64.General
	sites  int
}

// Fit is Trainer.Fit.
func (t *weightedTrainer) Fit(counts []int, f []float64) error {
	for i, k := range counts {
		t.weight[i] = float64(k)
	}
	fit, err := t.fit()
	if err != nil {
		return err
	}
	copy(f, fit.f)
	predict(f[t.sites:], t.cross, fit.coefficients, fit.bias)
	return nil
}

// predict is dst = cross coefficients + bias.
func predict(dst []float64, cross blas64.General, coefficients []float64, bias float64) {
	if cross.Rows == 0 {
		return
	}
	blas64.Gemv(blas.NoTrans, 1, cross,
		blas64.Vector{N: cross.Cols, Data: coefficients, Inc: 1}, 0,
		blas64.Vector{N: cross.Rows, Data: dst, Inc: 1})
	floats.AddConst(bias, dst)
}
