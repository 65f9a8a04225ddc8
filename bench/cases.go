package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// standard are the cases that run without arguments: a Gaussian process on friedman1 and on the Boston
// housing data with M03's kernel; the four sets of M04 with hard margins; machines for classes that overlap
// and for separable ones, with narrow and broad kernels. gamma is in units of 1/d; 0: the preset's.
var standard = []struct {
	name, data string
	gamma      float64
	loss       loss.Loss // nil: of the preset
	allRows    bool      // no smaller sizes
}{
	{"", "synthetic:friedman1", 0.5, loss.Square{Noise: 1}, false},
	{"", "boston", 0, nil, false},
	{"", "crabs", 0, nil, true},
	{"", "wisconsin", 0, nil, true},
	{"", "sonar", 0, nil, true},
	{"", "pima", 0, nil, true},
	{"sonar narrow", "sonar", 2, nil, false},
	{"sonar broad", "sonar", 0.125, nil, false},
	{"rings narrow", "synthetic:rings,d=4,noise=0.2", 2, loss.HardMargin{}, false},
	{"pima narrow", "pima", 2, nil, false},
	{"pima broad", "pima", 0.125, nil, false},
	{"blobs broad", "synthetic:blobs,d=8", 0.125, loss.Hinge{C: 1}, false},
}

// DefaultCases are the comparisons that run without arguments, at each of sizes; a size above nine tenths of
// a data set is all of its rows.
func DefaultCases(sizes []int) (cases []Case, err error) {
	if len(sizes) == 0 {
		return nil, errors.New("there are no sizes")
	}
	for _, s := range standard {
		data := s.data
		if strings.HasPrefix(data, "synthetic:") {
			data += fmt.Sprintf(",n=%d", slices.Max(sizes))
		}
		set, err := dataset.Load(data, dataset.Options{})
		if err != nil {
			return nil, err
		}
		spec := model.Spec{Set: set, Standardize: true, Loss: s.loss, Storage: model.Auto,
			Kernel: kernel.Spec{Kind: kernel.RBF, Gamma: s.gamma / float64(set.D())}}
		if preset, ok := model.PresetFor(set); ok {
			spec.Standardize, spec.Loss = preset.Standardize, preset.Loss
			if s.gamma == 0 {
				spec.Kernel = preset.Kernel
			}
		}
		if s.loss == (loss.Square{Noise: 1}) { // near the targets' variance and mean square
			spec.Kernel.Amplitude, spec.Kernel.Constant = 25, 200
		}
		c := Case{Name: cmp.Or(s.name, set.Name), Spec: spec}
		for _, n := range sizes {
			if 10*n > 9*set.N() {
				n = set.N()
			}
			c.Sizes = append(c.Sizes, n)
		}
		if s.allRows {
			c.Sizes = []int{set.N()}
		}
		c.Sizes = slices.Compact(c.Sizes)
		cases = append(cases, c)
	}
	return cases, nil
}
