package retrain

import (
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/svm"
	"bootbench/train"
)

// SVM is the support vector classifier without bias as a learning method: hard
// margin, where an example counts once however often it is drawn, or soft
// margin, where it counts k times in the box k C.
type SVM struct {
	// Kernel is the kernel matrix over the sites. Trainers share its rows in full,
	// beside it.
	Kernel *linalg.Sym
	// C is the cost of margin violation; +Inf for a hard margin.
	C float64
	// Tolerance is that of svm.Settings; 0 means svm.DefaultTolerance.
	Tolerance float64
	// Cross is the kernel between the P extra inputs and the M sites, P x M; the
	// zero value means no extra inputs.
	Cross blas64.General
}

// Trainers returns the maker of trainers for p that Run takes. A resample with
// one class only trains like any other: its predictor has that class's sign
// wherever the kernel is positive.
func (v SVM) Trainers(p Problem) func() (Trainer, error) {
	first := sync.OnceValues(func() (*svm.Trainer, error) { return svm.NewTrainer(v.Kernel) })
	return p.weighted(v.Kernel, v.Cross, func(p Problem, weight []float64) (weightedFit, error) {
		shared, err := first()
		if err != nil {
			return nil, err
		}
		trainer, box := shared.Clone(), make([]float64, len(weight))
		return func() (f, coefficients []float64, err error) {
			for i, w := range weight {
				box[i] = 0
				if w > 0 {
					box[i] = w * v.C
				}
			}
			r, err := trainer.Train(svm.Problem{Y: p.Y, Site: p.Site, C: box}, svm.Settings{Tolerance: v.Tolerance})
			if err != nil {
				return nil, nil, err
			}
			if r.Status == train.Diverged {
				return nil, nil, r.Status.Err()
			}
			return r.F, r.Beta, unconverged(r.Status.Err())
		}, nil
	})
}
