package model_test

import (
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// TestKey: whatever changes an answer changes the key, what only says the same in other
// words does not.
func TestKey(t *testing.T) {
	set := need.One(dataset.Open("boston"))(t)
	other := need.One(dataset.Open("crabs"))(t)
	base := model.Spec{Set: set, Loss: loss.Square{Noise: 0.1}}
	scheme := resample.Poisson{Ratio: 1}
	same := base
	same.Kernel = kernel.Spec{Gamma: 1. / 26, Amplitude: 1} // the defaults of 13 features
	same.MaxBytes = 1 << 40
	if base.Key(scheme) != same.Key(scheme) {
		t.Error("defaults written out have another key")
	}
	seen := map[string]string{base.Key(scheme): "the model"}
	differs := func(what, key string) {
		if seen[key] != "" {
			t.Errorf("%s has the key of %s", what, seen[key])
		}
		seen[key] = what
	}
	for what, change := range map[string]func(*model.Spec){
		"other data":         func(s *model.Spec) { s.Set = other },
		"other noise":        func(s *model.Spec) { s.Loss = loss.Square{Noise: 0.2} },
		"other loss":         func(s *model.Spec) { s.Loss = loss.EpsInsensitive{C: 3} },
		"length scales":      func(s *model.Spec) { s.Kernel.LengthScale = []float64{2, 3} },
		"amplitude of 1+eps": func(s *model.Spec) { s.Kernel.Amplitude = 1 + 0x1p-52 },
		"jitter":             func(s *model.Spec) { s.Kernel.Jitter = 0.5 },
		"standardized":       func(s *model.Spec) { s.Standardize = true },
		"normalized":         func(s *model.Spec) { s.NormalizeTarget = true },
		"low rank":           func(s *model.Spec) { s.Storage = model.LowRank },
		"largest rank":       func(s *model.Spec) { s.MaxRank = 7 },
		"rank":               func(s *model.Spec) { s.Rank = 7 },
		"bias":               func(s *model.Spec) { s.Bias = true },
	} {
		changed := base
		change(&changed)
		differs(what, changed.Key(scheme))
	}
	differs("another ratio", base.Key(resample.Poisson{Ratio: 2}))
	differs("folds", base.Key(resample.KFold{Folds: 5, N: 506}))
	differs("other folds", base.Key(resample.KFold{Folds: 6, N: 506}))
	differs("a number more", base.Key(scheme, 1))
}
