// Package machine trains the kernel machine of any loss of package loss: it chooses, by the loss and the form
// of the kernel matrix, between Gaussian-process regression and expectation propagation (package gp), support
// vector machines (svm), and proximal Newton (erm).
//
//	trainers, err := machine.For(loss.Hinge{C: 1}, k, true, train.Settings{})
//	trainer, err := trainers.Trainer()
//	r, err := trainer(train.Set{Y: y, Weight: w}) // r.Weight, r.Bias, r.F, r.SVM.Alpha
package machine

import (
	"errors"
	"fmt"
	"sync"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/gp"
	"bootbench/train/svm"
)

// Algorithm trains the machines of some losses.
type Algorithm string

// The algorithms.
const (
	Regression Algorithm = "gp"  // Gaussian-process regression, of the square loss, by Cholesky factorisation
	Margin     Algorithm = "svm" // support vector classifiers, by decomposition and active sets
	Posterior  Algorithm = "ep"  // the posterior mean under a likelihood, by expectation propagation
	Proximal   Algorithm = "erm" // any other convex loss, by proximal Newton
)

// Result is a trained machine, with the certificate of its algorithm; the others are nil.
type Result struct {
	train.Result
	SVM *svm.Result  // of Margin: dual variables and violation
	ERM *erm.Result  // of Proximal: objective and duality gap
	EP  *gp.EPResult // of Posterior: distance of the moments
}

// Trainer trains one weighted set after another, for one goroutine: an example of weight w counts w times.
// What it returns holds until it trains again. The error is bad input, or a set without a solution.
type Trainer func(set train.Set) (Result, error)

// Trainers make trainers of one loss, which only read the kernel matrix and may run at the same time.
type Trainers struct {
	Algorithm Algorithm
	make      func() (Trainer, error)
	downdates func(set train.Set, count int) (*svm.Downdates, error) // nil except of Margin
}

// trainers are Trainers without downdates.
func trainers(by Algorithm, make func() (Trainer, error)) *Trainers {
	return &Trainers{Algorithm: by, make: make}
}

// Trainer makes a trainer. Its error is a kernel matrix or a parameter that is invalid.
func (t *Trainers) Trainer() (Trainer, error) {
	if t == nil || t.make == nil {
		return nil, errors.New("there are no trainers: For makes some")
	}
	return t.make()
}

// Downdates trains a support vector machine on a set, from which trainings without one of its examples
// follow, of which there will be count. Other algorithms have none.
func (t *Trainers) Downdates(set train.Set, count int) (*svm.Downdates, error) {
	if t == nil || t.downdates == nil {
		return nil, errors.New("only support vector machines have downdates")
	}
	return t.downdates(set, count)
}

// For returns the trainers of loss l over the M sites of kernel matrix k, with an unpenalised bias or
// without. k is a *linalg.Sym; a *linalg.LowRankPlusDiag is for losses with a proximal map, except for a hard
// margin. Then Weight is the weight of the kernel of the factor, R R' + diag(residual).
func For(l loss.Loss, k linalg.Kernel, bias bool, s train.Settings) (*Trainers, error) {
	if l == nil {
		return nil, errors.New("there is no loss to train with")
	}
	t := loss.TraitsOf(l)
	dense, whole := k.(*linalg.Sym)
	likelihood, posterior := l.(gp.Likelihood)
	switch {
	case whole && dense == nil:
		return nil, errors.New("there is no kernel matrix to train on")
	case whole && t.Quadratic:
		return trainers(Regression, func() (Trainer, error) { return regression(dense, t.Noise, bias) }), nil
	case whole && posterior && bias:
		return nil, fmt.Errorf("a posterior mean, as of %s, has no bias", l.Name())
	case whole && posterior:
		return trainers(Posterior, func() (Trainer, error) { return expectation(dense, likelihood, s) }), nil
	case whole && t.Margin:
		p, _ := loss.ParametersOf(l)
		rows := sync.OnceValues(func() (*svm.Rows, error) { return svm.NewRows(dense) })
		return margin(rows, t.C, p.ClassWeights, bias, s), nil
	case t.Proximal != nil && (whole || !t.Dense):
		return trainers(Proximal, func() (Trainer, error) { return proximal(k, t.Proximal, bias, s) }), nil
	}
	return nil, fmt.Errorf("there is no trainer for loss %q on a kernel matrix in the form %T", l.Name(), k)
}

// by is a Trainer by one of another package, with its result as of describes it.
func by[R any](fit func(train.Set) (*R, error), of func(r *R) Result) Trainer {
	return func(set train.Set) (Result, error) {
		r, err := fit(set)
		if err != nil {
			return Result{}, err
		}
		return of(r), nil
	}
}

// regression trains with the square loss (f - y)^2/(2 noise), by one Cholesky factorisation of the kernel
// between the sites of positive weight.
func regression(k *linalg.Sym, noise float64, bias bool) (Trainer, error) {
	t, err := gp.NewTrainer(k, noise)
	return by(func(set train.Set) (*train.Result, error) {
		set.Bias = bias
		return t.Train(set)
	}, func(r *train.Result) Result { return Result{Result: *r} }), err
}

// margin trains support vector classifiers with box w c times the class's weight for an example of weight w;
// for a hard margin, c = +Inf, only w > 0 matters. Trainers share the full rows of k.
func margin(rows func() (*svm.Rows, error), c float64, classes loss.ClassWeights, bias bool,
	s train.Settings) *Trainers {
	one := func() (*svm.Trainer, func(set train.Set) (*svm.Result, error), error) {
		shared, err := rows()
		if err != nil {
			return nil, nil, err
		}
		t, box := svm.NewTrainer(shared), []float64(nil)
		return t, func(set train.Set) (*svm.Result, error) {
			if len(set.Weight) != len(set.Y) {
				return nil, set.Check(shared.N(), true)
			}
			box = box[:0]
			for i, w := range set.Weight {
				box = append(box, svm.Box(c, w, set.Y[i], classes))
			}
			set.Weight, set.Bias = box, bias
			return t.Train(set, s)
		}, nil
	}
	return &Trainers{Algorithm: Margin, make: func() (Trainer, error) {
		_, fit, err := one()
		return by(fit, func(r *svm.Result) Result { return Result{Result: r.Result, SVM: r} }), err
	}, downdates: func(set train.Set, count int) (*svm.Downdates, error) {
		t, fit, err := one()
		if err != nil {
			return nil, err
		}
		r, err := fit(set)
		if err != nil {
			return nil, err
		}
		return t.Downdates(count), r.Status.Err()
	}}
}

// proximal trains with a convex loss given by its proximal map (T1).
func proximal(k linalg.Kernel, l loss.Proximal, bias bool, s train.Settings) (Trainer, error) {
	t, err := erm.NewTrainer(k, l)
	return by(func(set train.Set) (*erm.Result, error) {
		set.Bias = bias
		return t.Train(set, s)
	}, func(r *erm.Result) Result { return Result{Result: r.Result, ERM: r} }), err
}

// expectation computes the posterior mean of a Gaussian process under a likelihood: the mean of exp(-loss)
// instead of proximal's minimiser (M03-37..40).
func expectation(k *linalg.Sym, l gp.Likelihood, s train.Settings) (Trainer, error) {
	t, err := gp.NewEP(k, l)
	return by(func(set train.Set) (*gp.EPResult, error) { return t.Train(set, s) },
		func(r *gp.EPResult) Result { return Result{Result: r.Result, EP: r} }), err
}
