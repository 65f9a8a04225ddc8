package main

import (
	"math"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestIntervalOfObservations: the answer's coverage and width are those of its intervals,
// which are wider than the estimator's; refined intervals stand beside them.
func TestIntervalOfObservations(t *testing.T) {
	ask := func(args ...string) report.Prediction {
		return decoded[report.Prediction](t, append(strings.Fields("predict synthetic:friedman1,n=60 --test "+
			"synthetic:friedman1,n=40,seed=2 --loss square --noise 1 --level 0.8"), args...)...)
	}
	width := func(p *report.Points) (sum float64) {
		for i, low := range p.Lower {
			sum += (p.Upper[i] - low) / float64(len(p.Lower))
		}
		return sum
	}
	for _, more := range []string{"", "--residuals scaled", "--scheme kfold --folds 10"} {
		a := ask(append([]string{"--interval", "observation"}, strings.Fields(more)...)...)
		held := 0.0
		for i, y := range a.Points.Target {
			if a.Points.Lower[i] <= y && y <= a.Points.Upper[i] {
				held++
			}
		}
		if math.Abs(*a.Coverage-held/40) > 1e-12 || math.Abs(*a.Width-width(a.Points)) > 1e-9 ||
			a.Interval.Interval != "observation" || a.Level != 0.8 {
			t.Errorf("%s: %+v", more, a)
		}
		if ratio := width(a.Refined.Points) / width(a.Points); !(ratio > 0.9 && ratio < 1.1) { // 200 resamples
			t.Errorf("%s: refined intervals have %v times the width", more, ratio)
		}
		if estimator := ask(append(strings.Fields(strings.ReplaceAll(more, "--residuals scaled", "")),
			"--interval", "estimator")...); !(width(estimator.Points) < *a.Width) ||
			estimator.Interval.Interval != "estimator" {
			t.Errorf("%s: intervals of the estimator are as wide", more)
		}
	}
}

// TestProbabilityOfLabels: the probability is of the label +1, differs from the share of
// votes, and comes with its scores; rough ones are warned of.
func TestProbabilityOfLabels(t *testing.T) {
	a := decoded[report.Prediction](t, "predict", "crabs", "--test", "crabs", "--refine", "none")
	examples := 0
	for _, n := range a.Calibration.Count {
		examples += n
	}
	if a.Calibration.Method != "logistic" || !(*a.Calibration.LogLoss > 0 && *a.Calibration.LogLoss < 0.69) ||
		examples != 200 {
		t.Errorf("%+v", a.Calibration)
	}
	for i, p := range a.Points.Probability {
		vote := a.Points.Vote[i]
		if !(p > 0 && p < 1) || math.Abs(vote+a.Points.Negative[i]-1) > 1e-12 || (p > 0.7) && vote < 0.5 ||
			math.Abs(vote-0.5) > 0.49 && math.Abs(p-vote) < 1e-6 {
			t.Errorf("input %d: probability %v, share of votes %v", i+1, p, vote)
		}
	}
	for says, rows := range map[string]string{
		"one example of class yes":  strings.Repeat("1,2,no\n2,1,no\n3,1,no\n5,2,no\n", 6) + "9,9,yes\n",
		"from 4 examples are rough": "1,2,no\n2,1,no\n3,1,yes\n5,2,yes\n",
	} {
		path := write(t, "few.csv", "a,b,y\n"+rows)
		if o := drive(t, "", "predict", path, "--test", path, "--loss", "hinge", "--refine",
			"none"); o.status != exitDone || !strings.Contains(o.stderr, says) {
			t.Errorf("%s: %+v", says, o)
		}
	}
}
