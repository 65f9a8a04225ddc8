package report

import (
	"math"

	"bootbench/internal/calibration"
	"bootbench/internal/null"
)

// Joint is an answer about several classes, or about several targets.
type Joint interface {
	Answer
	Together() *Together
}

// Together is what such an answer says of all classes or targets.
type Together struct {
	Subject *Subject
	Quote
	TestLoss   string
	Quality    *calibration.Quality
	Each       []float64 // errors of the examples
	Resampling Resampling
	Resamples  int // 0: there are none
	Folds      int
	Repeats    int
	FoldsOf    string
	OneClass   int
	Status     string
	Warnings   []string
	Cost       *Cost
}

// Together is Joint.Together: of the shares of wrong decisions.
func (c *Classes) Together() *Together {
	all := &Together{Subject: &c.Subject, Quote: c.Quote, TestLoss: c.TestLoss, Each: c.Points.Error,
		Quality: &calibration.Quality{Baseline: c.Baseline, Constant: c.Constant, Balanced: &c.Balanced,
			ExampleSE: c.ExampleSE},
		Folds: c.Folds, Repeats: c.Repeats, FoldsOf: c.FoldsOf, OneClass: c.OneClass, Status: c.Status,
		Warnings: c.Warnings, Cost: &c.Cost}
	if r := c.Resampling; r != nil {
		all.Resampling, all.Resamples = r.Resampling, r.Resamples
	}
	return all
}

// Together is Joint.Together: of square errors in units of the variance of each target.
func (t *Targets) Together() *Together {
	all := &Together{Subject: &t.Subject, Quote: t.Quote, Each: t.Each, Status: t.Status, Warnings: t.Warnings,
		Cost: &t.Cost, Quality: &calibration.Quality{Baseline: 1, Constant: "its mean", ExampleSE: t.ExampleSE,
			RSquared: null.Of(1 - float64(t.Error)), RMSE: null.Of(math.Sqrt(float64(t.Error)))}}
	switch first := t.Targets[t.Names[0]].(type) {
	case *Estimate:
		all.TestLoss, all.Resampling = first.TestLoss, first.Resampling
		if first.Refined != nil {
			all.Resamples = first.Refined.Resamples
		}
	case *CrossValidation:
		all.TestLoss, all.Folds, all.Repeats, all.FoldsOf = first.TestLoss, first.Folds, first.Repeats,
			first.FoldsOf
	}
	return all
}
