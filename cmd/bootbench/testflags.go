package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/loss"
)

// testFlags say how predictions are judged and what is printed of each example.
type testFlags struct {
	test     string
	noPoints bool
	level    float64
	metrics  []string
}

// registerPoints adds whether there is anything of each example.
func (t *testFlags) registerPoints(f *pflag.FlagSet) {
	f.BoolVar(&t.noPoints, "no-points", false,
		"leave the values per example out of the JSON document and the summary; default: they are in")
}

// registerTest adds the test loss.
func (t *testFlags) registerTest(f *pflag.FlagSet) {
	f.StringVar(&t.test, "test-loss", "",
		"by which left-out predictions are judged, `LOSS`: square, absolute, smooth-eps (eps-insensitive, eps "+
			"0.1, corners smoothed) or zero-one; default: square for regression, zero-one for classification")
}

// allMetrics is --metrics all.
const allMetrics = "all"

// registerMetrics adds further measures.
func (t *testFlags) registerMetrics(f *pflag.FlagSet) {
	f.StringSliceVar(&t.metrics, "metrics", nil,
		"more measures of left-out predictions, or of new inputs that have targets, `LIST`: rmse, mae, r2 of "+
			"numbers; error, balanced-error, auc, log-loss, brier of labels; jackknife (of left-out predictions, "+
			"standard error of the left-out error over draws of DATA, by the infinitesimal jackknife); all; "+
			"default: none")
}

// checkMetrics refuses what is no measure, or none of the targets.
func (t *testFlags) checkMetrics(set *dataset.Set) error {
	for _, name := range t.metrics {
		if err := usage.OneOf("metrics", name, slices.Concat([]string{allMetrics}, calibration.NumberMetrics,
			calibration.LabelMetrics, []string{calibration.Jackknife})...); err != nil {
			return err
		}
		switch {
		case set.Task == dataset.Regression && slices.Contains(calibration.LabelMetrics, name):
			return usage.Errorf("--metrics %s is for labels; the targets of %s are numbers, which have %s", name,
				set.Name, strings.Join(calibration.NumberMetrics, ", "))
		case set.Task == dataset.Classification && slices.Contains(calibration.NumberMetrics, name):
			return usage.Errorf("--metrics %s is for numbers; the targets of %s are labels, which have %s", name,
				set.Name, strings.Join(calibration.LabelMetrics, ", "))
		}
	}
	return nil
}

// wants reports whether a measure is asked for.
func (t *testFlags) wants(metric string) bool {
	return slices.Contains(t.metrics, metric) || slices.Contains(t.metrics, allMetrics)
}

// registerLevel adds the level of intervals.
func (t *testFlags) registerLevel(f *pflag.FlagSet) {
	f.Float64Var(&t.level, "level", 0.95,
		"share of the resamples whose prediction lies in the interval, `P` between 0 and 1: how far the trained "+
			"predictor moves, not where a new observation falls")
}

func (t *testFlags) checkLevel() error { return checkLevel(t.level) }

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return usage.Errorf("--level is %v, must lie between 0 and 1", level)
	}
	return nil
}

// of is the test loss for a data set.
func (t *testFlags) of(set *dataset.Set) (loss.Test, error) {
	if err := t.checkMetrics(set); err != nil {
		return nil, err
	}
	switch {
	case t.test == "" && set.Task == dataset.Classification:
		return loss.ZeroOne{}, nil
	case t.test == "":
		return loss.SquareTest{}, nil
	}
	if err := usage.OneOf("test-loss", t.test, loss.TestNames()...); err != nil {
		return nil, err
	}
	if t.test == (loss.ZeroOne{}).Name() && set.Task == dataset.Regression {
		return nil, usage.Errorf("--test-loss zero-one is for labels; the targets of %s are numbers", set.Name)
	}
	test, err := loss.TestByName(t.test)
	return test, usage.Wrap(err)
}
