package model

import (
	"errors"
	"slices"

	"bootbench/erm"
	"bootbench/gp"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/svm"
	"bootbench/train"
)

// FitSettings say how to train once on all data.
type FitSettings struct {
	// Tolerance is that of the trainer of the loss (svm.Settings, erm.Settings,
	// gp.EPSettings); 0 means its default. The square loss is solved directly.
	Tolerance float64
}

// Fit is a model trained once on all data. The predictor at an input x is
//
//	f(x) = sum_s Weight_s K(x, x_s) + Bias,
//
// in units of the target except for the model's TargetMean.
type Fit struct {
	Weight []float64 // of the sites
	Bias   float64
	F      []float64    // at the sites, where K has its jitter
	Status train.Status // of the trainer
	SVM    *svm.Result  // of a margin loss; nil for others

	err error
}

// Err is nil where the training has converged, and says why where not.
func (f *Fit) Err() error { return f.err }

// Fit trains once on all data, with the weights that prediction needs and FullFit does not
// give. It takes the whole kernel matrix, and a factor of it beside.
func (m *Model) Fit(settings FitSettings) (*Fit, error) {
	if c, ok := marginCost(m.Loss); ok {
		return m.fitMargin(c, settings)
	}
	k, err := m.Dense()
	if err != nil {
		return nil, err
	}
	set := m.trainingSet()
	switch l := m.Loss.(type) {
	case loss.Square:
		newTrainer := gp.NewTrainer
		if m.Bias {
			newTrainer = gp.NewBiasedTrainer
		}
		trainer, err := newTrainer(k, l.Noise)
		if err != nil {
			return nil, inputError(err)
		}
		if err := trainer.Fit(m.targets()); err != nil {
			return nil, err
		}
		f := make([]float64, m.Sites())
		return &Fit{Weight: trainer.Alpha(), Bias: trainer.Bias(), F: f}, trainer.Predict(f)
	case gp.Likelihood:
		trainer, err := gp.NewEP(k, l)
		if err != nil {
			return nil, inputError(err)
		}
		r, err := trainer.Fit(set, gp.EPSettings{Tolerance: settings.Tolerance})
		if err != nil {
			return nil, err
		}
		return &Fit{Weight: r.Alpha, F: r.Mean, Status: r.Status, err: r.Err()}, nil
	case loss.Proximal:
		return m.fitProximal(k, l, set, settings)
	}
	return nil, m.untrainable()
}

// fitMargin trains a support vector classifier of margin cost c.
func (m *Model) fitMargin(c float64, settings FitSettings) (*Fit, error) {
	k, err := m.Dense()
	if err != nil {
		return nil, err
	}
	trainer, err := svm.NewTrainer(k)
	if err != nil {
		return nil, err
	}
	problem := svm.Problem{Y: m.Set.Y, Site: m.Site, C: make([]float64, len(m.Set.Y)), Bias: m.Bias}
	for i, y := range m.Set.Y {
		problem.C[i] = c * loss.WeightsOf(m.Loss).ClassWeight(y)
	}
	r, err := trainer.Train(problem, svm.Settings{Tolerance: settings.Tolerance})
	if err != nil {
		return nil, inputError(err)
	}
	return &Fit{Weight: r.Beta, Bias: r.Bias, F: r.F, Status: r.Status, SVM: r, err: r.Status.Err()}, nil
}

// fitProximal trains on a kernel matrix, or on a factor of it, whose weights are then no
// predictor's at new inputs.
func (m *Model) fitProximal(k linalg.Kernel, l loss.Proximal, set train.Set, settings FitSettings) (*Fit,
	error) {
	trainer, err := erm.NewTrainer(k, l)
	if err != nil {
		return nil, inputError(err)
	}
	fit := trainer.Train
	if m.Bias {
		fit = trainer.TrainWithBias
	}
	r, err := fit(set, erm.Settings{Tolerance: settings.Tolerance})
	var infeasible *erm.InfeasibleError
	if errors.As(err, &infeasible) {
		return nil, inputError(err)
	}
	if err != nil {
		return nil, err
	}
	return &Fit{Weight: r.A, Bias: r.Bias, F: r.F, Status: r.Status, err: r.Status.Err()}, nil
}

// trainingSet holds every example once.
func (m *Model) trainingSet() train.Set {
	return train.Set{Y: m.Set.Y, Site: m.Site, Weight: slices.Repeat([]float64{1}, len(m.Set.Y))}
}

// fitted is the predictor at the sites of a training that has converged.
func (m *Model) fitted() ([]float64, error) {
	once := m.Fit
	if l, ok := m.trainedOnFactor(); ok {
		once = func(s FitSettings) (*Fit, error) { return m.fitProximal(m.Factor, l, m.trainingSet(), s) }
	}
	fit, err := once(FitSettings{})
	if err != nil {
		return nil, err
	}
	return fit.F, fit.Err()
}
