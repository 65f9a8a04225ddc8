package main

import (
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
	"bootbench/loss"
)

// testFlagNames are the names of testFlags on the command line.
var testFlagNames = []string{"test-loss", "no-points", "level"}

// testFlags say how predictions are judged and what is printed of each example.
type testFlags struct {
	test     string
	noPoints bool
	level    float64
}

func (t *testFlags) register(f *pflag.FlagSet) {
	t.registerTest(f)
	f.BoolVar(&t.noPoints, "no-points", false, "leave the values per example out of the JSON document and the summary; default: they are in")
}

// registerTest adds the test loss alone.
func (t *testFlags) registerTest(f *pflag.FlagSet) {
	f.StringVar(&t.test, "test-loss", "", "by which left-out predictions are judged, `LOSS`: square, absolute, smooth-eps (eps-insensitive, eps 0.1, corners smoothed) or zero-one; default: square for regression, zero-one for classification")
}

// registerLevel adds the level of intervals.
func (t *testFlags) registerLevel(f *pflag.FlagSet) {
	f.Float64Var(&t.level, "level", 0.95, "share of the resamples whose prediction lies in the interval, `P` between 0 and 1: how far the trained predictor moves, not where a new observation falls")
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
