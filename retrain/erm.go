package retrain

import (
	"errors"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/erm"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
)

// ERM is training with any convex loss that is known by its proximal map (T1). GP and SVM
// are faster for the losses that they are for.
type ERM struct {
	// Kernel is the kernel matrix over the sites, held whole or as a low-rank factor.
	// Trainers only read it.
	Kernel linalg.Kernel
	// Loss is the training loss.
	Loss loss.Proximal
	// Bias adds a constant that costs nothing. A resample whose best bias is not finite, that of a
	// logistic loss on one class, is an *UnconvergedError.
	Bias bool
	// Tolerance is that of erm.Settings; 0 means erm.DefaultTolerance.
	Tolerance float64
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes. Every fit starts
// from nothing, so that the answer does not depend on which worker made it.
func (e ERM) Trainers(p Problem) func() (Trainer, error) {
	return p.weighted(e.Kernel, e.Cross, func(p Problem, weight []float64) (weightedFit, error) {
		trainer, err := erm.NewTrainer(e.Kernel, e.Loss)
		fit := trainer.Train
		if e.Bias {
			fit = trainer.TrainWithBias
		}
		problem := train.Set{Y: p.Y, Site: p.Site, Weight: weight}
		return func() (fitted, error) {
			r, err := fit(problem, erm.Settings{Tolerance: e.Tolerance})
			if errors.Is(err, train.ErrNoFiniteBias) {
				return fitted{}, unconverged(err)
			}
			if err != nil {
				return fitted{}, err
			}
			if r.Status == train.Diverged {
				return fitted{}, r.Status.Err()
			}
			return fitted{r.F, r.A, r.Bias}, unconverged(r.Status.Err())
		}, err
	})
}
