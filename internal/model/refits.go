package model

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/gp"
)

// Refits predicts new targets by a regression with the square loss, and by the same without each row, or each
// group, in units of the fit.
type Refits struct {
	*gp.LeftOut
	kernel *inputKernel
}

// errNoRefits: there is no closed form.
var errNoRefits = errors.New("only the square loss has predictions without each row in closed form")

// Refits are the regressions of the model without each row or group. It takes the scratch triangle of the
// kernel matrix until release is called.
func (m *Model) Refits() (r *Refits, release func(), err error) {
	t := loss.TraitsOf(m.Loss)
	if !t.Quadratic || !m.Set.AreNumbers() {
		return nil, nil, errNoRefits
	}
	if release, err = linalg.Reserve(m.K); err != nil {
		return nil, nil, err
	}
	of, err := gp.NewLeftOut(m.Matrix(), m.Site, m.Y, m.Set.Weights, m.Set.Groups, t.Noise)
	if err != nil {
		release()
		return nil, nil, InputError(err)
	}
	return &Refits{of, described(m)}, release, nil
}

// At calls f for every new input, several at a time, with the mean and the standard deviation of a new
// target, and with those without each unit, which f may overwrite. The standard deviations are NaN for a
// precomputed kernel, of which K(x, x) is unknown.
func (r *Refits) At(in *dataset.Inputs, f func(p int, mean, sd float64, means, sds []float64)) error {
	prior, err := r.kernel.priorVariances(in)
	if err != nil {
		return InputError(err)
	}
	return r.kernel.respond(r.Engine(), in, func(p int, k, t []float64) {
		means, sds := make([]float64, r.Units()), make([]float64, r.Units())
		mean, sd := r.LeftOut.At(k, t, prior[p], means, sds)
		f(p, mean, sd, means, sds)
	})
}

// priorVariances are the K(x, x) of observations at new inputs, the jitter included.
func (k *inputKernel) priorVariances(in *dataset.Inputs) ([]float64, error) {
	if k.spec.Kind == kernel.Precomputed {
		return slices.Repeat([]float64{math.NaN()}, in.N()), nil
	}
	prior, err := k.diagonal(in)
	floats.AddConst(k.spec.Jitter, prior)
	return prior, err
}

// TrainingRows are what a model file of the square loss remembers of its rows for Refits.
type TrainingRows struct {
	Site   []int     `json:"site,omitempty"`   // of each row, in Support; nil: row i is site i
	Target []float64 `json:"target"`           // in units of the fit, less the mean
	Weight []float64 `json:"weight,omitempty"` // nil: 1
	Group  []int     `json:"group,omitempty"`
	Noise  float64   `json:"noise"` // in units of the fit
	Unit   float64   `json:"unit"`  // of the fit, in units of the target
	// by which errors without a row are multiplied, for the choice of the model on all rows
	Choice float64 `json:"choice"`
	Bias   bool    `json:"bias"`
}

// TrainingRows are the rows of the model for a predictor of it; nil if there is no closed form, or if the
// predictor lacks sites: those are on a low-rank factor, where it is a sum over the pivots.
func (m *Model) TrainingRows(p *Predictor) *TrainingRows {
	t, site := loss.TraitsOf(m.Loss), m.Site
	if !t.Quadratic || !(t.Noise > 0) || !m.Set.AreNumbers() || m.Form() != Exact ||
		m.Kernel.Kind == kernel.Precomputed || len(p.Weight) != m.Sites() {
		return nil
	}
	if m.Merged() == 0 {
		site = nil
	}
	return &TrainingRows{site, m.Y, m.Set.Weights, m.Set.Groups, t.Noise, m.Unit, 1, m.Bias}
}

// check refuses rows that do not fit a number of sites.
func (r *TrainingRows) check(sites int) error {
	n := len(r.Target)
	switch {
	case r.Weight != nil && len(r.Weight) != n || r.Group != nil && len(r.Group) != n:
		return errors.New("the lists of rows differ in length")
	case slices.ContainsFunc(r.Group, func(g int) bool { return g < 0 || g >= n }) ||
		slices.ContainsFunc(r.Weight, func(w float64) bool { return !(w > 0) }):
		return errors.New("a row has no group or no weight")
	case !(r.Noise > 0) || !(r.Unit > 0) || !(r.Choice >= 1):
		return errors.New("the noise, the unit or the factor of the rows is out of range")
	}
	return train.Sites(r.Site).Check(n, sites)
}

// refits makes the Refits of a predictor from the rows of its file.
func (p *Predictor) refits() (*Refits, error) {
	rows := p.LeftOut.Rows
	err := linalg.CheckMemory(linalg.SymBytes(len(p.Weight)), 0, "the kernel matrix for models without a row")
	if err != nil {
		return nil, err
	}
	gram, err := p.kernel.inputs.Gram(context.Background())
	if err != nil {
		return nil, err
	}
	k := linalg.Kernel(gram)
	if rows.Bias {
		k = linalg.WithBias(k)
	}
	of, err := gp.NewLeftOut(k, rows.Site, rows.Target, rows.Weight, rows.Group, rows.Noise)
	if err != nil {
		return nil, err
	}
	return &Refits{of, p.kernel}, nil
}

// Refits are the regressions without each row or group of a predictor whose LeftOut has Rows. They are made
// at the first call, in (sites)^3 operations and 8 (sites)^2 bytes.
func (p *Predictor) Refits() (*Refits, error) { return p.once() }

// SupportOf is, for every new input x, the largest (K(x, x_i) - B)/(K(x, x) - B) over the sites, B the
// constant of the kernel: from 0, far from all of them, to 1, on one of them. It is nil for a kernel that
// does not fall with distance (linear, poly) or of which K(x, x) is unknown (precomputed).
func (m *Model) SupportOf(in *dataset.Inputs) ([]float64, error) {
	return withSites(m).support(in)
}

// SupportOf is Model.SupportOf; nil for a file with a part of the sites, such as the support vectors: others
// may be nearer.
func (p *Predictor) SupportOf(in *dataset.Inputs) ([]float64, error) {
	if len(p.kernel.chosen) < p.Training.Sites {
		return nil, nil
	}
	return p.kernel.support(in)
}

func (k *inputKernel) support(in *dataset.Inputs) ([]float64, error) {
	if !k.spec.Scaled() {
		return nil, nil
	}
	all, width := make([]float64, in.N()), len(k.chosen)
	return all, k.walk(in, func(first int, rows []float64) error {
		for p := range len(rows) / width {
			largest := slices.Max(rows[p*width:][:width])
			all[first+p] = min(1, max(0, largest-k.spec.Constant)/k.spec.Amplitude)
		}
		return nil
	})
}
