package model

import (
	"math"

	"bootbench/internal/dataset"
	"bootbench/kernel"
	"bootbench/loss"
)

// Preset is the default model of an embedded set, from the papers or this project's checks.
type Preset struct {
	Kernel      kernel.Spec
	Loss        loss.Loss
	Standardize bool
	Source      string // where the choice comes from
}

// bostonScale is l^2 of the kernel exp(-sum_j (x_j - x'_j)^2/(v_j l^2)) that
// M03 uses on the Boston housing data, v_j the standard deviation of input j.
const bostonScale = 73.54

// marginPresets are gamma times the number of features for the sets of M04 (which does not print its kernels:
// these are this project's choice), with standardised features and a hard margin.
var marginPresets = map[string]float64{"crabs": 1, "crabs_sp": 1, "wisconsin": 0.5, "sonar": 0.5, "pima": 0.5}

// PresetFor returns the preset of a data set, by its name.
func PresetFor(set *dataset.Set) (Preset, bool) {
	if scale, ok := marginPresets[set.Name]; ok {
		return Preset{
			Kernel:      kernel.Spec{Kind: kernel.RBF, Gamma: scale / float64(set.D())},
			Loss:        loss.HardMargin{},
			Standardize: true,
			Source:      "a data set of M04",
		}, true
	}
	if set.Name != "boston" {
		return Preset{}, false
	}
	scales := set.Standardizer().SD
	for j, v := range scales {
		scales[j] = math.Sqrt(v * bostonScale / 2)
	}
	return Preset{
		Kernel: kernel.Spec{Kind: kernel.RBF, LengthScale: scales},
		Loss:   loss.Square{Noise: 0.01},
		Source: "M03 section 5",
	}, true
}
