package bench

import (
	"fmt"
	"slices"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// Gamma, times the number of features, of kernels broader and narrower than the presets of M04's sets.
const (
	broadGamma  = 0.125
	narrowGamma = 2
)

// DefaultCases are the comparisons that run without arguments: the Boston housing data with M03's kernel, the
// four classification sets of M04 with a hard margin (two of them with a broad and a narrow kernel too), and
// synthetic regression at each of sizes.
func DefaultCases(sizes []int) ([]Case, error) {
	var cases []Case
	for _, name := range []string{"boston", "crabs", "wisconsin", "sonar", "pima"} {
		set, err := dataset.Open(name)
		if err != nil {
			return nil, err
		}
		preset, _ := model.PresetFor(set)
		spec := model.Spec{Set: set, Kernel: preset.Kernel, Loss: preset.Loss, Standardize: preset.Standardize}
		cases = append(cases, Case{Spec: spec})
		if name == "sonar" || name == "pima" {
			cases = append(cases, withGamma(spec, "broad", broadGamma), withGamma(spec, "narrow", narrowGamma))
		}
	}
	if len(sizes) == 0 {
		return cases, nil
	}
	spec, err := friedman(slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	return append(cases, Case{Spec: spec, Sizes: sizes}), nil
}

// withGamma is a case with another width of the kernel, which is in its name.
func withGamma(spec model.Spec, width string, scale float64) Case {
	spec.Kernel.Gamma = scale / float64(spec.Set.D())
	return Case{Name: spec.Set.Name + " " + width, Spec: spec}
}

// friedman is synthetic regression with a kernel that fits it: friedman1 in 10 standardised inputs, noise
// variance 1 as generated, rbf with gamma 1/(2 d), amplitude and constant near the targets' variance and mean
// square.
func friedman(n int) (model.Spec, error) {
	set, err := dataset.Load(fmt.Sprintf("synthetic:friedman1,n=%d", n), dataset.Options{})
	return model.Spec{
		Set: set, Standardize: true, Loss: loss.Square{Noise: 1},
		Kernel: kernel.Spec{Kind: kernel.RBF, Amplitude: 25, Constant: 200},
	}, err
}
