package loo

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/gp"
	"bootbench/internal/need"
	"bootbench/internal/train"
	"bootbench/linalg"
)

// TestResiduals: the closed form agrees with fits that lack one example, with
// repeated inputs and without.
func TestResiduals(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 33))
	for _, shared := range []bool{false, true} {
		const m, noise = 30, 0.3
		k, p := twins(t, rng, m, m, 1, false)
		site, y := p.Site, make([]float64, m)
		if !shared {
			site = rng.Perm(m)
		} else {
			site = append(site, rng.Perm(m)...) // no site is empty
			y = make([]float64, 2*m)
		}
		for i := range y {
			y[i] = rng.NormFloat64()
		}
		got := need.One(Residuals(k, site, y, noise))(t)
		trainer := need.One(gp.NewTrainer(k, noise, false))(t)
		for i, v := range y {
			count, mean := make([]float64, m), make([]float64, m)
			train.Sites(slices.Delete(slices.Clone(site), i, i+1)).Merge(slices.Delete(slices.Clone(y), i, i+1), nil,
				count, mean)
			if err := trainer.Fit(count, mean, make([]float64, m)); err != nil {
				t.Fatal(err)
			}
			f := 0.0
			for s, a := range trainer.Alpha() {
				f += k.At(site[i], s) * a
			}
			if want := v - f; math.Abs(got[i]-want) > 1e-10 {
				t.Errorf("shared %v, example %d: residual %v, fitted anew %v", shared, i, got[i], want)
			}
		}
	}
}

func TestResidualsRefuse(t *testing.T) {
	k := linalg.NewSym(2)
	k.AddDiag(1)
	for want, f := range map[string]func() error{
		"positive noise": func() error { _, err := Residuals(k, nil, []float64{1, 2}, 0); return err },
		"do not fit":     func() error { _, err := Residuals(k, nil, []float64{1}, 1); return err },
		"is on site 3":   func() error { _, err := Residuals(k, []int{0, 2}, []float64{1, 2}, 1); return err },
		"weight 0":       func() error { _, err := Residuals(k, []int{0, 0}, []float64{1, 2}, 1); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}
