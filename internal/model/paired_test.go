package model_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

// TestPairedCoverage: the interval of the corrected jackknife for the difference of two models' left-out
// errors holds its mean over data sets in 95% of these. Over 100 sets the share has a standard error of
// 0.022, of which three are allowed. With BOOTBENCH_SURVEY it prints the table of doc/predictions.md, over
// 400 sets, beside Student's interval over examples.
func TestPairedCoverage(t *testing.T) {
	survey := os.Getenv("BOOTBENCH_SURVEY") != ""
	draws := 100
	if survey {
		draws = 400
	}
	gp := func(gamma, noise float64) model.Spec {
		return model.Spec{Kernel: kernel.Spec{Gamma: gamma, Amplitude: 25}, Loss: loss.Square{Noise: noise}}
	}
	svm := func(gamma, c float64) model.Spec {
		return model.Spec{Kernel: kernel.Spec{Gamma: gamma}, Loss: loss.Hinge{C: c}}
	}
	for _, c := range []struct {
		set  string
		n    int
		name string
		a, b model.Spec
	}{
		{"friedman1", 100, "gamma 0.05, 0.1", gp(0.05, 1), gp(0.1, 1)},
		{"friedman1", 100, "noise 1, 3", gp(0.05, 1), gp(0.05, 3)},
		{"waves", 100, "gamma 0.5, 2", gp(0.5, 0.1), gp(2, 0.1)},
		{"blobs,d=4,noise=1.2", 100, "gamma 0.1, 1", svm(0.1, 1), svm(1, 1)},
		{"rings,d=3", 100, "C 1, 10", svm(0.3, 1), svm(0.3, 10)},
		{"friedman1", 30, "gamma 0.05, 0.1", gp(0.05, 1), gp(0.1, 1)},
		{"blobs,d=4,noise=1.2", 30, "gamma 0.1, 1", svm(0.1, 1), svm(1, 1)},
	} {
		if !survey && c.n > 30 {
			continue
		}
		var difference []float64
		var plain, infinitesimal []*calibration.Difference
		pool := load(t, fmt.Sprintf("synthetic:%s,n=%d", c.set, c.n*draws))
		for draw := range draws {
			set := pool.Subset(rangeOf(c.n * (draw + 1))[c.n*draw:])
			test := loss.Test(loss.ZeroOne{})
			if set.Task == dataset.Regression {
				test = loss.SquareTest{}
			}
			var errors [2]calibration.Errors
			for k, spec := range []model.Spec{c.a, c.b} {
				spec.Set, spec.Standardize, spec.NormalizeTarget = set, true, set.Task == dataset.Regression
				m := build(t, spec)
				s, err := m.Solve(context.Background(), resample.Poisson{Ratio: 1}, solver.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				_, errors[k].Each = s.LeftOut(test)
				if errors[k].Influence, err = adjoint.Influence(context.Background(), s, test); err != nil {
					t.Fatal(err)
				}
				if errors[k].Interactions, err = adjoint.Interactions(s, test, errors[k].Influence); err != nil {
					t.Fatal(err)
				}
			}
			p := calibration.Compare(calibration.Errors{Each: errors[0].Each},
				calibration.Errors{Each: errors[1].Each},
				0.95)
			difference, plain = append(difference, float64(p.Value)), append(plain, p)
			infinitesimal = append(infinitesimal, calibration.Compare(errors[0], errors[1], 0.95))
		}
		mean, sd := stat.MeanStdDev(difference, nil)
		held := func(all []*calibration.Difference) (share, se float64) {
			for _, p := range all {
				se += float64(p.StandardError) / float64(draws)
				if float64(p.Low) <= mean && mean <= float64(p.High) {
					share += 1 / float64(draws)
				}
			}
			return share, se
		}
		byExamples, se := held(plain)
		share, infinitesimalSE := held(infinitesimal)
		t.Logf("%s, n = %d, %s | %.3g | %.3g | %.3g | %.3f | %.3g | %.3f |", c.set, c.n, c.name, mean, sd, se,
			byExamples, infinitesimalSE, share)
		if share < 0.95-3*math.Sqrt(0.95*0.05/float64(draws)) {
			t.Errorf("the interval holds the mean difference in %v", share)
		}
	}
}
