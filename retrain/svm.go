package retrain

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/svm"
	"bootbench/train"
)

// SVM is the support vector classifier as a learning method: hard
// margin, where an example counts once however often it is drawn, or soft
// margin, where it counts k times in the box k C.
type SVM struct {
	// Kernel is the kernel matrix over the sites. Trainers share its rows in full,
	// beside it.
	Kernel *linalg.Sym
	// C is the cost of margin violation; +Inf for a hard margin.
	C float64
	// ClassWeights multiply C of the examples of a class.
	ClassWeights loss.ClassWeights
	// Bias adds a constant that costs nothing.
	Bias bool
	// Tolerance is that of svm.Settings; 0 means svm.DefaultTolerance.
	Tolerance float64
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes. A resample with
// one class only trains like any other: its predictor has that class's sign
// wherever the kernel is positive, and with a bias it is that class's label everywhere.
func (v SVM) Trainers(p Problem) func() (Trainer, error) {
	first := sync.OnceValues(func() (*svm.Trainer, error) { return svm.NewTrainer(v.Kernel) })
	return p.weighted(v.Kernel, v.Cross, func(p Problem, weight []float64) (weightedFit, error) {
		shared, err := first()
		if err != nil {
			return nil, err
		}
		trainer, box := shared.Clone(), make([]float64, len(weight))
		return func() (fitted, error) {
			for i, w := range weight {
				box[i] = 0
				if w > 0 {
					box[i] = w * (v.C * v.ClassWeights.ClassWeight(p.Y[i]))
				}
			}
			r, err := trainer.Train(svm.Problem{Y: p.Y, Site: p.Site, C: box, Bias: v.Bias},
				svm.Settings{Tolerance: v.Tolerance})
			if err != nil {
				return fitted{}, err
			}
			if r.Status == train.Diverged {
				return fitted{}, r.Status.Err()
			}
			return fitted{r.F, r.Beta, r.Bias}, unconverged(r.Status.Err())
		}, nil
	})
}
