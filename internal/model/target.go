package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
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
	mean, variance := stat.PopMeanVariance(s.Set.Y, s.Set.Weights)
	centred.Y = slices.Clone(s.Set.Y)
	floats.AddConst(-mean, centred.Y)
	s.Set = &centred
	if s.Kernel.Amplitude == 0 && s.Kernel.Kind != kernel.Precomputed {
		s.Kernel.Amplitude = variance
	}
	return mean
}

// Retarget is the same model of another target of a regression, on the same kernel matrix, which has the
// amplitude of the first. With NormalizeTarget it takes the target less its mean, times scale, which gives it
// the variance of the first; else scale is 1. TargetMean is of the scaled target, too.
func (m *Model) Retarget(target dataset.Target) (other *Model, scale float64) {
	copied, set, y := *m, *m.Set, slices.Clone(target.Y)
	scale, copied.TargetMean = 1, 0
	if m.NormalizeTarget {
		mean, variance := stat.PopMeanVariance(y, set.Weights)
		scale = math.Sqrt(stat.PopVariance(set.Y, set.Weights) / variance)
		floats.AddConst(-mean, y)
		floats.Scale(scale, y)
		copied.TargetMean = mean * scale
	}
	set.Y, set.Target, set.Further = y, target.Name, nil
	copied.Spec.Set = &set
	return &copied, scale
}
