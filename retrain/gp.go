package retrain

import (
	"bootbench/gp"
	"bootbench/linalg"

	"gonum.org/v1/gonum/blas/blas64"
)

// GP is exact Gaussian-process regression as a learning method: square loss
// (f - y)^2/(2 Noise). Repeated rows are merged, which is exact.
type GP struct {
	// Kernel is the kernel matrix over the sites. Trainers only read it.
	Kernel *linalg.Sym
	// Noise is the noise variance, >= 0.
	Noise float64
	// Bias adds a constant that costs nothing.
	Bias bool
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes.
func (g GP) Trainers(p Problem) func() (Trainer, error) {
	return func() (Trainer, error) {
		p, err := p.withDefaults()
		if err != nil {
			return nil, err
		}
		if err := p.checkKernel(g.Kernel, g.Cross); err != nil {
			return nil, err
		}
		newTrainer := gp.NewTrainer
		if g.Bias {
			newTrainer = gp.NewBiasedTrainer
		}
		trainer, err := newTrainer(g.Kernel, g.Noise)
		if err != nil {
			return nil, err
		}
		return &gpTrainer{
			problem: &p, cross: g.Cross, trainer: trainer,
			count: make([]int, p.Sites), target: make([]float64, p.Sites),
		}, nil
	}
}

// gpTrainer merges the drawn copies of each site and hands them to a gp.Trainer.
type gpTrainer struct {
	problem *Problem
	cross   blas64.General
	trainer *gp.Trainer
	count   []int     // drawn copies per site
	target  []float64 // their mean target
}

// Fit is Trainer.Fit.
func (t *gpTrainer) Fit(counts []int, f []float64) error {
	t.problem.Site.Merge(t.problem.Y, counts, t.count, t.target)
	if err := t.trainer.Fit(t.count, t.target); err != nil {
		return err
	}
	m := t.problem.Sites
	if err := t.trainer.Predict(f[:m]); err != nil {
		return err
	}
	predict(f[m:], t.cross, t.trainer.Alpha(), t.trainer.Bias())
	return nil
}
