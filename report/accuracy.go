package report

import (
	"fmt"
	"io"

	"bootbench/bench"
)

// Accuracy is the answer of accuracy.
type Accuracy struct {
	Command   string                `json:"command"`
	Resamples int                   `json:"resamples"`
	Seed      uint64                `json:"seed"`
	Cells     []bench.AccuracyRow   `json:"cells"`
	Summary   bench.AccuracySummary `json:"summary"`
	Cost
}

// Title names the survey.
func (a *Accuracy) Title() string { return "The theory beside retraining" }

// WriteCSV writes a line per model.
func (a *Accuracy) WriteCSV(w io.Writer) error { return writeRows(w, a.Cells) }

// Lead says how near the two are.
func (a *Accuracy) Lead() []string {
	s := a.Summary
	return []string{fmt.Sprintf(
		"%d of %d solves converged. Median over the cells: left-out error off by %.1f%%, ratio of the variances per point off by %.1f%% "+
			"(root mean square over points %.1f%%), against %d retrainings a cell. In %d cells the errors differ by at most two standard errors of retraining; the largest difference is %.0f%%.",
		s.Converged, s.Cells, 100*s.MedianErrorOff, 100*s.MedianVariance, 100*s.MedianRMS, a.Resamples,
		s.WithinTwoSE, 100*s.WorstErrorOff)}
}

func (a *Accuracy) document() *document {
	d := &document{}
	d.paragraph(a.Lead()[0])
	d.gap()
	rowTable(d, a, a.Cells)
	return d
}

func (a *Accuracy) head() *document {
	d := &document{}
	d.legend(
		[2]string{"theory", "left-out error by the theory; retrained +-: by retraining, with its standard error"},
		[2]string{"error off", "theory / retrained - 1"},
		[2]string{"var ratio", "median over points of the theory's variance over that of retraining"},
		[2]string{"var rms", `root mean square relative difference of the variances, noise of retraining taken off; "-" where it drowns in it`},
	)
	return d
}

func (*Accuracy) columns() []column {
	return []column{
		{head: "data", width: 10, left: true}, {head: "n", width: 4}, {head: "loss", width: 9, left: true},
		{head: "gamma d", width: 7}, {head: "ratio", width: 5},
		{head: "theory", width: 9}, {head: "retrained", width: 9}, {head: "+-", width: 7},
		{head: "error off", width: 9},
		{head: "var ratio", width: 9}, {head: "var rms", width: 7}, {head: "status", left: true},
	}
}

func (*Accuracy) cells(r bench.AccuracyRow) []string {
	rms := "-"
	if r.VarianceError > 0 {
		rms = fmt.Sprintf("%.1f%%", 100*r.VarianceError)
	}
	return []string{ShortName(r.Data), fmt.Sprint(r.N), r.Loss, fmt.Sprint(r.Width), fmt.Sprint(r.Ratio),
		number(r.TheoryError), number(r.RetrainError),
		fmt.Sprintf("%.2g", r.RetrainSE), fmt.Sprintf("%+.1f%%", 100*r.ErrorOff()),
		fmt.Sprintf("%.3f", r.VarianceRatio), rms, r.Status}
}

func (a *Accuracy) end() *document {
	d := &document{}
	d.gap()
	d.paragraph(a.Lead()[0])
	d.gap()
	d.cost(a.Cost)
	return d
}

// Figures set the theory's errors against those of retraining, and show its
// variances, loss by loss.
func (a *Accuracy) Figures() []*Figure {
	errors := Panel{X: Axis{Label: "left-out error by retraining, relative to the largest of its set"},
		Y: Axis{Label: "theory over retraining"}, Legend: TopRight}
	variances := Panel{X: errors.X, Y: Axis{Label: "median ratio of variances"}, Legend: NoLegend}
	largest := map[string]float64{}
	for _, c := range a.Cells {
		largest[c.Data] = max(largest[c.Data], c.RetrainError)
	}
	number := map[string]int{}
	for _, c := range a.Cells {
		i, known := number[c.Loss]
		if !known {
			i = len(number)
			number[c.Loss] = i
			errors.Series = append(errors.Series, Series{Label: c.Loss, Mark: Dots, Colour: i})
			variances.Series = append(variances.Series, Series{Mark: Dots, Colour: i})
		}
		x := c.RetrainError / largest[c.Data]
		errors.Series[i].pointErr(x, c.TheoryError/c.RetrainError, 2*c.RetrainSE/c.RetrainError)
		variances.Series[i].point(x, c.VarianceRatio)
	}
	return []*Figure{{
		Name: "accuracy", Title: "the theory beside retraining",
		Caption: "Every cell of the survey: the theory's left-out error over that of retraining with two standard errors of the latter, and the median over points of the ratio of the variances.",
		Panels:  []Panel{errors, variances},
	}}
}
