package report

import (
	"fmt"

	"bootbench/bench"
)

// EstimatorComparison is the answer of compare --estimators.
type EstimatorComparison struct {
	Command string `json:"command"`
	bench.EstimatorComparison
	Cost
}

// Title names the comparison.
func (j *EstimatorComparison) Title() string {
	return "Estimates of the error on " + ShortName(j.Data) + ", judged by held-out data"
}

func (j *EstimatorComparison) document() *document {
	d := &document{}
	d.line("data", "%s: %d splits into %d examples to train on and %d held out", j.Data, j.Splits, j.Train,
		j.HeldOut)
	d.line("held-out error", "%s, standard error %.2g, standard deviation over splits %.2g", number(j.Truth),
		j.TruthSE, j.TruthSD)
	if j.UnfinishedTheory > 0 {
		d.line("theory", "%d solves did not converge", j.UnfinishedTheory)
	}
	d.gap()
	columns := []column{{head: "estimator", left: true}, {head: "mean"}, {head: "bias"}, {head: "+-"},
		{head: "rms"}, {head: "sd"}, {head: "seconds"}, {head: "retrained"}}
	var rows [][]string
	for _, v := range j.Estimators {
		rows = append(rows, []string{v.Estimator, fmt.Sprintf("%.4f", v.Mean), fmt.Sprintf("%+.4f", v.Bias),
			fmt.Sprintf("%.4f", v.BiasSE),
			fmt.Sprintf("%.4f", v.RMS), fmt.Sprintf("%.4f", v.SD), seconds(v.Seconds),
			fmt.Sprintf("%.1f%%", 100*v.Retrained)})
	}
	d.table(columns, rows)
	d.gap()
	d.line("bias, rms", "mean and root mean square of the estimate less the held-out error of the same split; sd of the estimate")
	d.line("seconds", "mean time, the kernel matrix apart; retrained: share of the examples or folds")
	d.cost(j.Cost)
	return d
}

// Figures set the estimators' accuracy against their cost.
func (j *EstimatorComparison) Figures() []*Figure {
	p := Panel{X: Axis{Label: "seconds", Log: true}, Y: Axis{Label: "root mean square error of the estimate"}}
	for i, v := range j.Estimators {
		p.Series = append(p.Series, Series{Label: v.Estimator, Mark: Dots, Colour: i, X: []float64{v.Seconds},
			Y: []float64{v.RMS}})
	}
	return []*Figure{{
		Name: "estimators", Title: "cost and accuracy of the estimates", Panels: []Panel{p},
		Caption: "Every estimate of the error against the time that it takes, judged by held-out data over random splits.",
	}}
}
