package model

import (
	"errors"
	"fmt"
	"slices"

	"bootbench/internal/erm"
	"bootbench/internal/gp"
	"bootbench/internal/retrain"
	"bootbench/internal/train"
	"bootbench/loss"
)

// FitSettings say how to train once on all data.
type FitSettings struct {
	// Tolerance is that of the trainer of the loss (svm.Settings, erm.Settings,
	// gp.EPSettings); 0 means its default. The square loss is solved directly.
	Tolerance float64
}

// Fit trains once on all data, with the weights that prediction needs and FullFit does not
// give, in units of the target except for TargetMean. It takes the whole kernel matrix, and a factor of it
// beside.
func (m *Model) Fit(settings FitSettings) (*retrain.Learned, error) {
	learners, err := m.learners(settings.Tolerance)
	if err != nil {
		return nil, err
	}
	return m.fit(learners)
}

// fit trains once on all data.
func (m *Model) fit(learners retrain.Learners) (*retrain.Learned, error) {
	learn, err := learners()
	if err != nil {
		return nil, InputError(err)
	}
	all := train.Set{Y: m.Set.Y, Site: m.Site, Weight: slices.Repeat([]float64{1}, len(m.Set.Y))}
	fit, err := learn(all)
	var infeasible *erm.InfeasibleError
	if _, margin := marginCost(m.Loss); err != nil && (margin || errors.As(err, &infeasible)) {
		return nil, InputError(err)
	}
	return &fit, err
}

// FullFit trains once on all data and returns the predictor at the sites. It
// overwrites the scratch triangle of the kernel matrix.
func (m *Model) FullFit() ([]float64, error) {
	if m.Form() == ScaLAPACK {
		return m.fitSpread()
	}
	if square, ok := m.Loss.(loss.Square); ok {
		count, mean := m.targets()
		switch {
		case m.Form() == LowRank:
			return gp.FitByEngine(m.Matrix(), square.Noise, count, mean)
		case m.Bias:
			return gp.FitFullWithBias(m.Gram(), square.Noise, count, mean)
		}
		return gp.FitFull(m.Gram(), square.Noise, count, mean)
	}
	if err := m.Forecast().CheckBeside(m.Forecast().Fit(), fmt.Sprintf("one fit to all of %d sites",
		m.Sites())); err != nil {
		return nil, err
	}
	return m.fitted()
}

// fitted is the predictor at the sites of a training that has converged.
func (m *Model) fitted() ([]float64, error) {
	learners, err := m.resampleLearners()
	if err != nil {
		return nil, err
	}
	fit, err := m.fit(learners)
	if err != nil {
		return nil, err
	}
	return fit.F, fit.Err
}
