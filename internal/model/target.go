package model

import (
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/kernel"
)

// normalizeTarget does what Spec.NormalizeTarget says: it takes a copy of the set with
// centred targets, and the amplitude from their variance where none is given. Targets of
// a regression alone are normalised: labels are not.
func (m *Model) normalizeTarget() {
	if !m.NormalizeTarget || m.Set.Task != dataset.Regression {
		return
	}
	centred := *m.Set
	centred.Y = make([]float64, len(m.Set.Y))
	mean, variance := stat.PopMeanVariance(m.Set.Y, nil)
	for i, y := range m.Set.Y {
		centred.Y[i] = y - mean
	}
	m.Set, m.TargetMean = &centred, mean
	if m.Kernel.Amplitude == 0 && m.Kernel.Kind != kernel.Precomputed {
		m.Kernel.Amplitude = variance
	}
}
