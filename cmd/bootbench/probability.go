package main

import (
	"fmt"

	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
)

// addProbabilities adds the probabilities of the label +1 at new inputs.
func (j *job) addProbabilities(p *report.Points, inputs *dataset.Inputs, s *solver.Solution) (*report.Calibration, error) {
	all, err := j.Probabilities(s)
	if err != nil {
		return nil, err
	}
	p.Probability, err = j.AtInputs(all, s, inputs, &model.Predictions{Mean: p.Mean, Var: p.Variance})
	return report.NewCalibration(all.Method, all.LeftOut, j.Set.Y), err
}

// leftOutMetrics are the metrics of left-out predictions.
func (j *job) leftOutMetrics(s *solver.Solution) (*report.Metrics, error) {
	expected := func(test loss.Test) []float64 {
		_, each := s.LeftOut(test)
		return each
	}
	if j.Set.Task == dataset.Regression {
		return report.NewMetrics(j.Set.Y, expected, nil, nil), nil
	}
	all, err := j.Probabilities(s)
	if err != nil {
		return nil, err
	}
	return report.NewMetrics(j.Set.Y, expected, s.OutOfBag().Mean, all.LeftOut), nil
}

// newMetrics are those of predictions at new inputs whose targets are known: expectations over
// resamples, the probabilities as they are.
func (j *job) newMetrics(p *report.Points) *report.Metrics {
	expected := func(test loss.Test) []float64 {
		each := make([]float64, len(p.Target))
		for i, y := range p.Target {
			each[i] = test.Gaussian(p.Mean[i], p.Variance[i], y)
		}
		return each
	}
	if j.Set.Task == dataset.Regression {
		return report.NewMetrics(p.Target, expected, nil, nil)
	}
	return report.NewMetrics(p.Target, expected, p.Mean, p.Probability)
}

// calibrationReport says how the probabilities of left-out examples hold.
func (j *job) calibrationReport(s *solver.Solution) (*report.Calibration, error) {
	all, err := j.Probabilities(s)
	if err != nil {
		return nil, err
	}
	return report.NewCalibration(all.Method, all.LeftOut, j.Set.Y), nil
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
			return fmt.Sprintf("there is one example of class %s: probabilities cannot be checked, and are little more than shares of the classes", name)
		}
	}
	if n := count[0] + count[1]; n < fewExamples {
		return fmt.Sprintf("probabilities from %d examples are rough", n)
	}
	return ""
}
