package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/kernel"
)

// centre implements NormalizeTarget for a regression and returns the mean of the targets: s gets a copy of
// the set with centred targets, and their variance as the amplitude unless one is given.
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

// Retarget is the model of another target of a regression, on the same kernel matrix, with the amplitude of
// the first. With NormalizeTarget the target is centred and multiplied by scale, which gives it the variance
// of the first; else scale is 1. TargetMean is that of the scaled target.
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
