package bench

import (
	"slices"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
)

// DefaultCases are the comparisons that run without arguments: the Boston
// housing data with M03's kernel, the four classification sets of M04 with a hard
// margin, and synthetic regression at each of sizes.
func DefaultCases(sizes []int) ([]Case, error) {
	var cases []Case
	for _, name := range []string{"boston", "crabs", "wisconsin", "sonar", "pima"} {
		set, err := dataset.Open(name)
		if err != nil {
			return nil, err
		}
		preset, _ := model.PresetFor(set)
		cases = append(cases, Case{
			Spec:  model.Spec{Set: set, Kernel: preset.Kernel, Loss: preset.Loss, Standardize: preset.Standardize},
			Ratio: 1,
		})
	}
	if len(sizes) == 0 {
		return cases, nil
	}
	friedman, err := Friedman(slices.Max(sizes))
	if err != nil {
		return nil, err
	}
	return append(cases, Case{Spec: friedman, Ratio: 1, Sizes: sizes}), nil
}

// Friedman is synthetic regression with a kernel that fits it: friedman1 in 10
// standardised inputs, noise variance 1 as generated, rbf with gamma 1/(2 d),
// amplitude and constant of the size of the targets' variance and mean square.
func Friedman(n int) (model.Spec, error) {
	synthetic, err := dataset.NewSynthetic("friedman1")
	if err != nil {
		return model.Spec{}, err
	}
	synthetic.N = n
	set, err := synthetic.Generate(dataset.Options{})
	if err != nil {
		return model.Spec{}, err
	}
	return model.Spec{
		Set: set, Standardize: true, Loss: loss.Square{Noise: 1},
		Kernel: kernel.Spec{Kind: kernel.RBF, Amplitude: 25, Constant: 200},
	}, nil
}
