package model

import (
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/kernel"
)

// centre does what NormalizeTarget says, and returns the mean of the targets: s takes a copy of the set with
// centred targets, and the amplitude from their variance where none is given. Targets of
// a regression alone are normalised: labels are not.
func (s *Spec) centre() (mean float64) {
	if !s.NormalizeTarget || s.Set.Task != dataset.Regression {
		return 0
	}
	centred := *s.Set
	centred.Y = make([]float64, len(s.Set.Y))
	mean, variance := stat.PopMeanVariance(s.Set.Y, s.Set.Weights)
	for i, y := range s.Set.Y {
		centred.Y[i] = y - mean
	}
	s.Set = &centred
	if s.Kernel.Amplitude == 0 && s.Kernel.Kind != kernel.Precomputed {
		s.Kernel.Amplitude = variance
	}
	return mean
}
