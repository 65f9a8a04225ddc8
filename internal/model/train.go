package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/gp"
	"bootbench/internal/retrain"
	"bootbench/internal/train"
	"bootbench/loss"
)

// learners are the trainers for the model's loss on the whole kernel matrix: Gaussian-process regression for
// the square loss, support vectors for margins, expectation propagation for a likelihood, proximal Newton for
// every other loss that is known by its proximal map.
func (m *Model) learners(tolerance float64) (retrain.Learners, error) {
	k, err := m.Dense()
	if err != nil {
		return nil, err
	}
	c, margin := marginCost(m.Loss)
	switch l := m.Loss.(type) {
	case loss.Square:
		return retrain.Square(k, l.Noise, m.Bias), nil
	case gp.Likelihood:
		return retrain.Posterior(k, l, tolerance), nil
	case loss.Proximal:
		if margin {
			return retrain.Margin(k, c, loss.WeightsOf(l), m.Bias, tolerance), nil
		}
		return retrain.Proximal(k, l, m.Bias, tolerance), nil
	}
	return nil, m.untrainable()
}

// resampleLearners are those for predictions alone: on the factor where there is one.
func (m *Model) resampleLearners() (retrain.Learners, error) {
	if l, ok := m.TrainedOnFactor(); ok {
		return retrain.Proximal(m.Factor(), l, m.Bias, 0), nil
	}
	return m.learners(0)
}

// Trainers makes trainers for the model's loss that predict at all sites and, by cross, at new inputs.
func (m *Model) Trainers(cross blas64.General) (func() (train.Trainer, error), error) {
	learners, err := m.resampleLearners()
	if err != nil {
		return nil, err
	}
	return retrain.Predicting(learners, m.Site, m.Sites(), cross), nil
}

// TrainedOnFactor is the loss where trainers work on the low-rank factor, in O(M rank^2) a
// step: a loss that is known by its proximal map. A hard margin, which nothing softens
// but the residuals, is trained with the whole matrix.
func (m *Model) TrainedOnFactor() (l loss.Proximal, ok bool) {
	if m.Form() != LowRank || m.dense != nil {
		return nil, false
	}
	return m.proximal()
}

// proximal is the loss where a factor can be what it is trained on.
func (m *Model) proximal() (l loss.Proximal, ok bool) {
	if _, hard := m.Loss.(loss.HardMargin); hard {
		return nil, false
	}
	l, ok = m.Loss.(loss.Proximal)
	return l, ok
}

// NewTrainer makes a trainer for the model's loss, as retraining uses one per
// worker: repeated rows merged, predictions at all sites.
func (m *Model) NewTrainer() (train.Trainer, error) {
	trainers, err := m.Trainers(blas64.General{})
	if err != nil {
		return nil, err
	}
	return trainers()
}

// marginCost is the cost C of margin violation of a classifier's loss, without class
// weights; +Inf for a hard margin.
func marginCost(l loss.Loss) (c float64, ok bool) {
	switch l := l.(type) {
	case loss.HardMargin:
		return math.Inf(1), true
	case loss.Hinge:
		return l.C, true
	}
	return 0, false
}

func (m *Model) untrainable() error {
	return InputError(fmt.Errorf("there is no trainer for loss %q", m.Loss.Name()))
}
