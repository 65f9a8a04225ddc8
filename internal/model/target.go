package model

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/kernel"
)

// functions are the functions of the columns, and with Pairs the order of the classes.
func (s *Spec) functions() (all []fits.Function, order []int) {
	first := &s.Set.Columns[0]
	add := func(name string, y []float64) *fits.Function {
		all = append(all, fits.Function{Name: name, Y: y, Unit: 1})
		return &all[len(all)-1]
	}
	switch levels := first.Levels; {
	case levels == nil:
		for _, c := range s.Set.Columns {
			if f := add(c.Name, c.Y); s.NormalizeTarget {
				centre(f, all[0].Y, s.Set.Weights)
			}
		}
	case len(levels) == 2:
		add(first.Name, first.Signs(1))
	case s.Pairs:
		order = appearance(first.Y)
		for _, pair := range fits.PairsOf(order) {
			f := add(levels[pair[0]]+" and "+levels[pair[1]], first.Signs(pair[0]))
			f.Rows = make([]float64, len(first.Y))
			for i, v := range first.Y {
				if k := int(v); k == pair[0] || k == pair[1] {
					f.Rows[i] = 1
				}
			}
		}
	default:
		for k, level := range levels {
			add(level, first.Signs(k))
		}
	}
	return all, order
}

// centre subtracts the mean from the targets of a function, and gives them the variance of the first ones.
func centre(f *fits.Function, first, weights []float64) {
	y, scale := slices.Clone(f.Y), 1.0
	mean, variance := stat.PopMeanVariance(y, weights)
	if &first[0] != &f.Y[0] {
		scale = math.Sqrt(stat.PopVariance(first, weights) / variance)
	}
	floats.AddConst(-mean, y)
	floats.Scale(scale, y)
	f.Y, f.Mean, f.Unit = y, mean, 1/scale
}

// Amplitude is the kernel's if it is given, else with NormalizeTarget the variance of the first
// numbers; 0 means the kernel's default.
func (s *Spec) Amplitude() float64 {
	if s.Kernel.Amplitude != 0 || s.Kernel.Kind == kernel.Precomputed || !s.NormalizeTarget ||
		!s.Set.AreNumbers() {
		return s.Kernel.Amplitude
	}
	return stat.PopVariance(s.Set.Columns[0].Y, s.Set.Weights)
}

// appearance numbers the classes in order of their first examples.
func appearance(classes []float64) (order []int) {
	for _, v := range classes {
		if !slices.Contains(order, int(v)) {
			order = append(order, int(v))
		}
	}
	return order
}

// Of is the view of function k, from 0, on the same kernel matrix.
func (m *Model) Of(k int) *Model {
	view := *m
	view.Function = m.Functions[k]
	return &view
}

// Labels reports whether the targets of the view are labels: two classes, or a class against others.
func (m *Model) Labels() bool { return !m.Set.AreNumbers() }
