package retrain

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/erm"
	"bootbench/linalg"
	"bootbench/loss"
)

// ERM is training with any convex loss that is known by its proximal map (T1),
// without bias. GP and SVM are faster for the losses that they are for.
type ERM struct {
	// Kernel is the kernel matrix over the sites. Trainers only read it.
	Kernel *linalg.Sym
	// Loss is the training loss.
	Loss loss.Proximal
	// Tolerance is that of erm.Settings; 0 means erm.DefaultTolerance.
	Tolerance float64
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes. Every fit starts
// from nothing, so that the answer does not depend on which worker made it.
func (e ERM) Trainers(p Problem) func() (Trainer, error) {
	return func() (Trainer, error) {
		p, err := p.withDefaults()
		if err != nil {
			return nil, err
		}
		if err := p.checkKernel(e.Kernel, e.Cross); err != nil {
			return nil, err
		}
		trainer, err := erm.NewTrainer(e.Kernel, e.Loss)
		if err != nil {
			return nil, err
		}
		return &ermTrainer{
			method: e, trainer: trainer, sites: p.Sites,
			problem: erm.Problem{Y: p.Y, Site: p.Site, Weight: make([]float64, len(p.Y))},
		}, nil
	}
}

// ermTrainer turns counts into weights.
type ermTrainer struct {
	method  ERM
	trainer *erm.Trainer
	problem erm.Problem
	sites   int
}

// Fit is Trainer.Fit.
func (t *ermTrainer) Fit(counts []int, f []float64) error {
	for i, k := range counts {
		t.problem.Weight[i] = float64(k)
	}
	r, err := t.trainer.Train(t.problem, erm.Settings{Tolerance: t.method.Tolerance})
	if err != nil {
		return err
	}
	if err := r.Status.Err(); err != nil {
		return err
	}
	copy(f, r.F)
	weigh(t.method.Cross, r.A, f[t.sites:])
	return nil
}

// weigh is dst = cross weights.
func weigh(cross blas64.General, weights, dst []float64) {
	if cross.Rows == 0 {
		return
	}
	blas64.Gemv(blas.NoTrans, 1, cross,
		blas64.Vector{N: cross.Cols, Data: weights, Inc: 1}, 0,
		blas64.Vector{N: cross.Rows, Data: dst, Inc: 1})
}
