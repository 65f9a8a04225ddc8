package main

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/multifidelity"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

// addProbabilities adds the probabilities of the label +1 at new inputs.
func (j *job) addProbabilities(p *report.Points, inputs *dataset.Inputs,
	s *solver.Solution) (*calibration.Reliability, error) {
	all, err := predict.ProbabilitiesOf(j.Model, s)
	if err != nil {
		return nil, err
	}
	p.Probability, err = all.AtInputs(j.Model, s, inputs, &predict.Predictions{Mean: p.Mean, Var: p.Variance})
	return calibration.NewReliability(all.Method, all.LeftOut, j.Set.Y), err
}

// addLeftOutMetrics adds the metrics of left-out predictions that are asked for. The jackknife
// is left out, with a warning, where it cannot be.
func addLeftOutMetrics(a *app, e *report.Estimate, j *job, s *solver.Solution, t *testFlags) error {
	if len(t.metrics) == 0 {
		return nil
	}
	expected := func(test loss.Test) []float64 {
		_, each := s.LeftOut(test)
		return each
	}
	var mean, probability []float64
	if j.Set.Task == dataset.Classification {
		all, err := predict.ProbabilitiesOf(j.Model, s)
		if err != nil {
			return err
		}
		mean, probability = s.OutOfBag().Mean, all.LeftOut
	}
	e.Metrics = calibration.NewMetrics(j.Set.Y, expected, mean, probability)
	if t.wants(calibration.Jackknife) {
		influence, err := s.Influence(a.ctx, j.Loss, j.test)
		switch {
		case a.isInterrupt(err):
			return err
		case err != nil:
			e.Warnings = append(e.Warnings, fmt.Sprintf("no jackknife: %v", err))
		default:
			e.Metrics.Jackknife, e.Examples.Influence = null.Of(floats.Norm(influence, 2)), influence
		}
	}
	e.Metrics.Keep(t.wants)
	return nil
}

// refinedTests are the test losses of exact resamples, besides the problem's, that metrics and
// probabilities need.
func (j *job) refinedTests(t *testFlags) (more []loss.Test) {
	candidates := []loss.Test{loss.SquareTest{}}
	if len(t.metrics) > 0 && j.Set.Task == dataset.Regression {
		candidates = append(candidates, loss.Absolute{})
	} else if len(t.metrics) > 0 {
		candidates = append(candidates, loss.ZeroOne{})
	}
	if j.Set.Task == dataset.Regression && len(t.metrics) == 0 {
		return nil
	}
	return slices.DeleteFunc(candidates, func(l loss.Test) bool { return l.Name() == j.test.Name() })
}

// addRefinedProbabilities fits the curve of labels to the left-out fields of exact resamples;
// nil where these are too few to have left out examples of both classes.
func (j *job) addRefinedProbabilities(r *report.Refined,
	result *multifidelity.Result) *predict.Probabilities {
	if j.Set.Task != dataset.Classification {
		return nil
	}
	all, err := predict.RefinedProbabilities(j.Model, result)
	if err != nil {
		return nil
	}
	leftOut := all.LeftOut
	if floats.HasNaN(leftOut) {
		leftOut = nil
	}
	r.Calibration = calibration.NewReliability(all.Method, leftOut, j.Set.Y)
	return all
}

// refinedMetrics are those of exact resamples; nil where none are asked for, or some example
// was never left out.
func (j *job) refinedMetrics(r *multifidelity.Result, p *predict.Probabilities,
	t *testFlags) *calibration.Metrics {
	if len(t.metrics) == 0 || floats.HasNaN(r.OutOfBag) || p == nil && j.Set.Task == dataset.Classification {
		return nil
	}
	expected := func(test loss.Test) []float64 { return r.Test(test.Name()).Examples }
	var m *calibration.Metrics
	if p == nil {
		m = calibration.NewMetrics(j.Set.Y, expected, nil, nil)
	} else {
		m = calibration.NewMetrics(j.Set.Y, expected, r.OutOfBag, p.LeftOut)
	}
	m.Keep(t.wants)
	return m
}

// newMetrics are those of predictions at new inputs whose targets are known: expectations over
// resamples, the probabilities as they are.
func (j *job) newMetrics(p *report.Points) *calibration.Metrics {
	expected := func(test loss.Test) []float64 {
		each := make([]float64, len(p.Target))
		for i, y := range p.Target {
			each[i] = test.Gaussian(p.Mean[i], p.Variance[i], y)
		}
		return each
	}
	if j.Set.Task == dataset.Regression {
		return calibration.NewMetrics(p.Target, expected, nil, nil)
	}
	return calibration.NewMetrics(p.Target, expected, p.Mean, p.Probability)
}

// ofPredictions are the metrics that are asked for of the predictions of one model; nil: none
// are.
func (t *testFlags) ofPredictions(f, y []float64, task dataset.Task) *calibration.Metrics {
	if len(t.metrics) == 0 {
		return nil
	}
	scores := f
	if task == dataset.Regression {
		scores = nil
	}
	m := calibration.NewMetrics(y, func(test loss.Test) []float64 {
		each := make([]float64, len(y))
		for i, v := range y {
			each[i] = test.Value(f[i], v)
		}
		return each
	}, scores, nil)
	m.Keep(t.wants)
	return m
}

// calibrationReport says how the probabilities of left-out examples hold.
func (j *job) calibrationReport(s *solver.Solution) (*calibration.Reliability, error) {
	all, err := predict.ProbabilitiesOf(j.Model, s)
	if err != nil {
		return nil, err
	}
	return calibration.NewReliability(all.Method, all.LeftOut, j.Set.Y), nil
}

// fewWarning says that an estimate rests on few examples, or nothing.
func (j *job) fewWarning() string {
	if j.Set.Task == dataset.Classification {
		return j.calibrationWarning()
	}
	if n := j.Set.N(); n < fewExamples {
		return fmt.Sprintf("errors from %d examples are rough, and so are their standard errors", n)
	}
	return ""
}

// calibrationWarning says that probabilities rest on few examples, or nothing.
func (j *job) calibrationWarning() string {
	var count [2]int
	for _, y := range j.Set.Y {
		if y > 0 {
			count[1]++
		} else {
			count[0]++
		}
	}
	for class, name := range []string{j.report.Labels.Name(-1), j.report.Labels.Name(1)} {
		if count[class] == 1 {
			return fmt.Sprintf("there is one example of class %s: probabilities cannot be checked, and are little "+
				"more than shares of the classes", name)
		}
	}
	if n := count[0] + count[1]; n < fewExamples {
		return fmt.Sprintf("probabilities from %d examples are rough", n)
	}
	return ""
}
