package retrain

import (
	"math"
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
	var once sync.Once
	var first *svm.Trainer
	var failed error
	return func() (Trainer, error) {
		p, err := p.withDefaults()
		if err != nil {
			return nil, err
		}
		if err := p.checkKernel(v.Kernel, v.Cross); err != nil {
			return nil, err
		}
		once.Do(func() { first, failed = svm.NewTrainer(v.Kernel) })
		if failed != nil {
			return nil, failed
		}
		return &svmTrainer{
			method: v, trainer: first.Clone(), sites: p.Sites,
			problem: svm.Problem{Y: p.Y, Site: p.Site, C: make([]float64, len(p.Y))},
		}, nil
	}
}

// svmTrainer turns counts into boxes.
type svmTrainer struct {
	method  SVM
	trainer *svm.Trainer
	problem svm.Problem
	sites   int
}

// Fit is Trainer.Fit.
func (t *svmTrainer) Fit(counts []int, f []float64) error {
	for i, k := range counts {
		switch {
		case k == 0:
			t.problem.C[i] = 0
		case math.IsInf(t.method.C, 1):
			t.problem.C[i] = t.method.C
		default:
			t.problem.C[i] = float64(k) * t.method.C
		}
	}
	r, err := t.trainer.Train(t.problem, svm.Settings{Tolerance: t.method.Tolerance})
	if err != nil {
		return err
	}
	if r.Status == train.Diverged {
		return r.Status.Err()
	}
	if err := unconverged(r.Status.Err()); err != nil {
		return err
	}
	copy(f, r.F)
	for p := range t.method.Cross.Rows {
		row := t.method.Cross.Data[p*t.method.Cross.Stride:]
		sum := 0.0
		for s, beta := range r.Beta {
			if beta != 0 {
				sum += beta * row[s]
			}
		}
		f[t.sites+p] = sum
	}
	return nil
}
