package model

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/fits"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
)

// training chooses the trainers of a model.
type training struct{ *Model }

// FitSettings are the settings of Fit.
type FitSettings struct {
	// Tolerance is that of train.Settings; 0 means the default of the loss's trainer. The square loss is solved
	// directly.
	Tolerance float64
	// Weight is the weight of each example in training, 0 for an absent one; nil: the set's weights.
	Weight []float64
}

// Fit trains once on all data and, unlike FullFit, returns the weights of the predictor, in units of the
// target without TargetMean. It uses the dense kernel matrix, and a factor of it, or the low-rank factor, on
// which the predictor is a sum over the pivots; a
// support vector machine, for which the trainer on a factor is slow, the dense matrix if that fits.
func (m *Model) Fit(ctx context.Context, settings FitSettings) (*fits.Learned, error) {
	l, onFactor := m.TrainedOnFactor()
	if onFactor && loss.TraitsOf(m.Loss).Margin {
		_, err := m.Dense()
		onFactor = err != nil
	}
	if onFactor {
		factor := m.Factor()
		fit, err := training{m}.fit(ctx, fits.Proximal(factor, l, m.Bias, settings.Tolerance),
			settings.Weight)
		if err == nil && factor.Rank() > 0 { // the same function as a sum over the pivots
			atPivots := factor.PivotWeights(fit.Weight)
			clear(fit.Weight)
			for k, site := range factor.Pivots() {
				fit.Weight[site] = atPivots[k]
			}
		}
		return fit, err
	}
	learners, err := training{m}.onWhole(settings.Tolerance)
	if err != nil {
		return nil, err
	}
	return training{m}.fit(ctx, learners, settings.Weight)
}

// FullFit trains once on all data and returns the predictor at the sites. It
// overwrites the scratch triangle of the kernel matrix.
func (m *Model) FullFit(ctx context.Context) ([]float64, error) {
	fits, err := FullFits(ctx, []*Model{m})
	if err != nil {
		return nil, err
	}
	return fits[0], nil
}

// FullFits is FullFit of models that differ only in their targets: for the square loss on a dense matrix by
// one factorisation.
func FullFits(ctx context.Context, same []*Model) (fits [][]float64, err error) {
	m := same[0]
	t := loss.TraitsOf(m.Loss)
	if t.Quadratic && m.Form() == Exact {
		count, targets := []float64(nil), make([][]float64, len(same))
		for k, other := range same {
			count, targets[k] = siteTargets(other)
		}
		return gp.FitFull(m.Gram(), t.Noise, m.Bias, count, targets...)
	}
	what := fmt.Sprintf("one fit to all of %d sites", m.Sites())
	if err := m.Forecast().CheckBeside(m.Forecast().Fit(), what); err != nil {
		return nil, err
	}
	for _, other := range same {
		var f []float64
		switch {
		case t.Quadratic:
			count, mean := siteTargets(other)
			f, _, err = gp.FitByEngine(m.Matrix(), t.Noise, count, mean)
		case m.Form() == ScaLAPACK:
			f, err = training{other}.fitSpread(ctx)
		default:
			f, err = training{other}.fitSites(ctx)
		}
		if err != nil {
			return nil, err
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// Trainers makes trainers for the model's loss that predict at all sites and, by cross, at new inputs.
func (m *Model) Trainers(ctx context.Context, cross blas64.General) (func() (train.Trainer, error), error) {
	learners, err := training{m}.learners()
	if err != nil {
		return nil, err
	}
	return fits.Predicting(learners, train.Set{Site: m.Site, Stop: train.Until(ctx)}, m.Sites(), cross),
		nil
}

// Learner trains with the model's loss, as a worker of a retraining does.
func (m *Model) Learner() (fits.Learner, error) {
	learners, err := training{m}.learners()
	if err != nil {
		return nil, err
	}
	return learners()
}

// TrainedOnFactor is the loss if trainers work on the low-rank factor, in O(M rank^2) per step: a loss given
// by its proximal map. A hard margin, which would be softened only by the residuals, is trained with the
// dense matrix.
func (m *Model) TrainedOnFactor() (l loss.Proximal, ok bool) {
	t := loss.TraitsOf(m.Loss)
	return t.Proximal, t.Proximal != nil && !t.Dense && m.Form() == LowRank
}

// learners are learners for predictions only: on the factor if there is one.
func (m training) learners() (fits.Learners, error) {
	if l, ok := m.TrainedOnFactor(); ok {
		return fits.Proximal(m.Factor(), l, m.Bias, 0), nil
	}
	return m.onWhole(0)
}

// onWhole are the learners for the model's loss on the dense kernel matrix: Gaussian-process regression for
// the square loss, support vector machines for margins, expectation propagation for a likelihood, proximal
// Newton for every other loss given by its proximal map.
func (m training) onWhole(tolerance float64) (fits.Learners, error) {
	k, err := m.Dense()
	if err != nil {
		return nil, err
	}
	likelihood, posterior := m.Loss.(gp.Likelihood)
	switch t := loss.TraitsOf(m.Loss); {
	case t.Quadratic:
		return fits.Square(k, t.Noise, m.Bias), nil
	case posterior:
		return fits.Posterior(k, likelihood, tolerance), nil
	case t.Margin:
		p, _ := loss.ParametersOf(m.Loss)
		return fits.Margin(k, t.C, p.ClassWeights, m.Bias, tolerance), nil
	case t.Proximal != nil:
		return fits.Proximal(k, t.Proximal, m.Bias, tolerance), nil
	}
	return nil, InputError(fmt.Errorf("there is no trainer for loss %q", m.Loss.Name()))
}

// fit trains once on all data.
func (m training) fit(ctx context.Context, learners fits.Learners, weight []float64) (*fits.Learned,
	error) {
	learn, err := learners()
	if err != nil {
		return nil, InputError(err)
	}
	all := train.Set{Y: m.Y, Site: m.Site, Weight: weight, Stop: train.Until(ctx)}
	if all.Weight == nil {
		all.Weight = m.Set.Weights
	}
	if all.Weight == nil {
		all.Weight = slices.Repeat([]float64{1}, len(m.Y))
	}
	fit, err := learn(all)
	if err != nil && loss.TraitsOf(m.Loss).Margin {
		return nil, InputError(err)
	}
	return &fit, err
}

// fitSites is FullFit by the trainers of a loss.
func (m training) fitSites(ctx context.Context) ([]float64, error) {
	learners, err := m.learners()
	if err != nil {
		return nil, err
	}
	fit, err := m.fit(ctx, learners, nil)
	if err != nil {
		return nil, err
	}
	return fit.F, fit.Status.Err()
}

// fitSpread is fitSites on a distributed matrix: on the dense K, if that fits into this machine's memory.
func (m training) fitSpread(ctx context.Context) ([]float64, error) {
	whole := m.on((*linalg.Sym)(nil))
	what := fmt.Sprintf("the fit to all data, which needs the whole kernel matrix of %d distinct inputs for "+
		"this loss,", m.Sites())
	if err := linalg.CheckMemory(whole.Forecast().Held(), m.MaxBytes, what); err != nil {
		return nil, err
	}
	k, err := choice{whole}.whole(ctx)
	if err != nil {
		return nil, err
	}
	return training{m.on(k)}.fitSites(ctx)
}
