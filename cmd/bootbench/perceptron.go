package main

import (
	"fmt"
	"slices"
	"time"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/internal/svm"
)

// perceptronLoss is what --loss of train takes beside the losses: a rule of learning
// that minimises none.
const perceptronLoss = "perceptron"

// passes is how often the perceptron goes over DATA at most; it ends with a pass without a mistake.
const passes = 100

// trainPerceptron runs the perceptron, writes its file and prints.
func trainPerceptron(a *app, j *job, flags *trainFlags) error {
	j.report.Loss = perceptronLoss
	a.console.Progress("training", 0, 1)
	began := time.Now()
	rows, err := svm.NewRows(j.Gram())
	if err != nil {
		return err
	}
	learned, err := svm.TrainPerceptron(rows, j.Site, j.Set.Y, passes)
	if err != nil {
		return err
	}
	j.times.Fit = time.Since(began).Seconds()
	r := &retrain.Learned{Weight: make([]float64, j.Sites()), F: make([]float64, j.Sites())}
	total := 0.0
	for i, mistakes := range learned.Alpha {
		total += mistakes
		r.Weight[j.Site[i]] += j.Set.Y[i] * mistakes
		r.F[j.Site[i]] = learned.F[i]
	}
	if total > 0 && !slices.ContainsFunc(r.Weight, func(b float64) bool { return b != 0 }) {
		return usage.Errorf("--loss perceptron: the weights are all 0 after %d passes; a model file cannot "+
			"hold that", len(learned.Mistakes))
	}
	t := &report.Training{Perceptron: &report.Perceptron{Form: "dual", Mistakes: learned.Mistakes},
		Status: "converged"}
	if !learned.Converged {
		t.Status = "pass limit"
		a.status = exitNotConverged
		t.Warnings = append(t.Warnings,
			fmt.Sprintf("the perceptron still makes mistakes in pass %d: the classes may not be separable; take "+
				"--loss hinge", len(learned.Mistakes)))
	}
	return writeTrained(a, j, r, t, flags)
}
