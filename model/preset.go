package model

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
)

// Preset is the model of an embedded set that the papers, or this project's
// checks, use: what is taken when the user names nothing else.
type Preset struct {
	Kernel      kernel.Spec
	Loss        loss.Loss
	Standardize bool
	Source      string // where the choice comes from
}

// bostonScale is l^2 of the kernel exp(-sum_j (x_j - x'_j)^2/(v_j l^2)) that
// M03 uses on the Boston housing data, v_j the standard deviation of input j.
const bostonScale = 73.54

// PresetFor returns the preset of a data set, by its name.
func PresetFor(set *dataset.Set) (Preset, bool) {
	if set.Name != "boston" {
		return Preset{}, false
	}
	scales := dataset.PopulationSD(set.X)
	for j, v := range scales {
		scales[j] = math.Sqrt(v * bostonScale / 2)
	}
	return Preset{
		Kernel: kernel.Spec{Kind: kernel.RBF, LengthScale: scales},
		Loss:   loss.Square{Noise: 0.01},
		Source: "M03 section 5",
	}, true
}

func matrixOf(x blas64.General) dataset.Matrix { return dataset.Matrix(x) }
