package loss

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bootbench/resample"

	"pgregory.net/rapid"
)

// TestTogether: integrals over one grid of f for all fields and counts are those field
// by field. Both err by some 1e-9 of the standard deviation, of the variance, and of 1;
// likelihoods with several modes leave up to 1e-8.
func TestTogether(t *testing.T) {
	for name, c := range likelihoods() {
		if name == "student narrow" {
			continue // its grids would be too fine
		}
		t.Run(name, func(t *testing.T) {
			tried, together, widest := 0, 0, 2.0
			if strings.HasPrefix(name, "student") { // students take seconds field by field, where the cavity is wide
				widest = -1
			}
			rapid.Check(t, func(t *rapid.T) {
				law := resample.Poisson{Ratio: rapid.Float64Range(0.1, 3).Draw(t, "ratio")}
				y := c.targets[:1]
				cav := Cavity{
					C:    math.Exp(rapid.Float64Range(-3, 4).Draw(t, "log c")),
					Mean: rapid.Float64Range(-6, 6).Draw(t, "mean"),
					Var:  math.Exp(rapid.Float64Range(-9, widest).Draw(t, "log V")),
				}
				x := newSmoothMixture(posteriorMean(c.l), groups(y), law)
				got, ok := x.together(cav)
				tried++
				if !ok {
					return
				}
				together++
				want := x.moments(cav)
				sd := math.Sqrt(cav.Var)
				prior := tiltedError / math.Sqrt(cav.C) // error of the plain predictor
				for what, off := range map[string]float64{
					"mean":     (got.Mean - want.Mean) / (sd + prior/1e-9),
					"variance": (got.Var - want.Var) / (cav.Var + prior*sd/1e-9),
					"pull":     got.Pull - want.Pull,
					"keep":     got.Keep - want.Keep,
				} {
					if !(math.Abs(off) <= 2e-8) {
						t.Fatalf("%s of %+v, ratio %g: off by %.1e: %+v, field by field %+v", what, cav, law.Ratio, off, got, want)
					}
				}
			})
			if name == "probit" && together < tried*9/10 || name == "student" && together < tried/3 {
				t.Errorf("%d of %d together", together, tried)
			}
		})
	}
}

// TestTogetherTwoLabels: the same for a site of both labels.
func TestTogetherTwoLabels(t *testing.T) {
	for name, l := range map[string]Likelihood{"probit": Probit{}, "logit": Logit{}} {
		for _, cav := range []Cavity{{1.3, 0.2, 0.5}, {4, -3, 2}, {0.2, 5, 0.1}} {
			x := newSmoothMixture(posteriorMean(l), groups([]float64{1, -1, 1}), resample.Poisson{Ratio: 0.7})
			got, ok := x.together(cav)
			want := x.moments(cav)
			if !ok || math.Abs(got.Mean-want.Mean) > 2e-8*math.Sqrt(cav.Var) || math.Abs(got.Var-want.Var) > 2e-8*cav.Var || math.Abs(got.Keep-want.Keep) > 2e-8 {
				t.Errorf("%s: together %v: %+v, field by field %+v", fmt.Sprint(name, cav), ok, got, want)
			}
		}
	}
}
