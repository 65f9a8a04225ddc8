package model_test

import (
	"strings"
	"testing"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
)

// TestFingerprint: whatever changes an answer changes the fingerprint, what only says
// the same in other words does not, and the changes are told by flag.
func TestFingerprint(t *testing.T) {
	set := need.One(dataset.Open("boston"))(t)
	other := need.One(dataset.Open("crabs"))(t)
	base := model.Spec{Set: set, Loss: loss.Square{Noise: 0.1}}
	same := base
	same.Kernel = kernel.Spec{Gamma: 1. / 26, Amplitude: 1} // the defaults of 13 features
	same.MaxBytes = 1 << 40
	if a, b := base.Fingerprint(), same.Fingerprint(); a.String() != b.String() {
		t.Errorf("defaults written out differ: %v", b.Changes(a))
	}
	for says, change := range map[string]func(*model.Spec){
		"data is":                 func(s *model.Spec) { s.Set = other },
		"--noise is 0.2, was 0.1": func(s *model.Spec) { s.Loss = loss.Square{Noise: 0.2} },
		"--loss is eps, was square; --C is 3, was not set; --epsilon is 0, was not set; --noise is not set, was 0.1": func(s *model.Spec) { s.Loss = loss.EpsInsensitive{C: 3} },
		"--gamma is 0, was 0.038461538461538464; --length-scale is 2 3, was empty":                                   func(s *model.Spec) { s.Kernel.LengthScale = []float64{2, 3} },
		"--amplitude is 1.0000000000000002, was 1":                                                                   func(s *model.Spec) { s.Kernel.Amplitude = 1 + 0x1p-52 },
		"--jitter is 0.5, was 0":              func(s *model.Spec) { s.Kernel.Jitter = 0.5 },
		"--no-standardize is false, was true": func(s *model.Spec) { s.Standardize = true },
		"--engine is lowrank, was exact":      func(s *model.Spec) { s.Storage = model.LowRank },
		"--max-rank is 7, was 0":              func(s *model.Spec) { s.MaxRank = 7 },
		"--bias is true, was not set":         func(s *model.Spec) { s.Bias = true },
		"rank is 7, was 0":                    func(s *model.Spec) { s.Rank = 7 },
	} {
		changed := base
		change(&changed)
		if got := strings.Join(changed.Fingerprint().Changes(base.Fingerprint()), "; "); !strings.HasPrefix(got,
			says) {
			t.Errorf("%q, want %q", got, says)
		}
	}
	poisson, kfold := base.Fingerprint().WithScheme(resample.Poisson{Ratio: 2}),
		base.Fingerprint().WithScheme(resample.KFold{Folds: 5, N: 506})
	if got := strings.Join(kfold.Changes(poisson),
		"; "); got != "--scheme is kfold, was poisson; --folds is 5, was not set; --ratio is not set, was 2" {
		t.Error(got)
	}
}
