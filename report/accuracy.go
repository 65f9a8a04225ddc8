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

// WriteText writes all cells and their summary.
func (a *Accuracy) WriteText(w io.Writer) error { return a.sheet().writeText(w) }

// WriteCSV writes a line per cell.
func (a *Accuracy) WriteCSV(w io.Writer) error { return writeRows(w, a.Cells) }

// Sentence says how near the two are.
func (a *Accuracy) Sentence() string {
	s := a.Summary
	return fmt.Sprintf("%d of %d solves converged. Median over the cells: left-out error off by %.1f%%, ratio of the variances per point off by %.1f%% "+
		"(root mean square over points %.1f%%), against %d retrainings a cell. In %d cells the errors differ by at most two standard errors of retraining; the largest difference is %.0f%%.",
		s.Converged, s.Cells, 100*s.MedianErrorOff, 100*s.MedianVariance, 100*s.MedianRMS, a.Resamples, s.WithinTwoSE, 100*s.WorstErrorOff)
}

func (a *Accuracy) sheet() *sheet {
	p := &sheet{}
	p.paragraph(a.Sentence())
	p.gap()
	var rows [][]string
	for _, c := range a.Cells {
		rows = append(rows, accuracyCells(c))
	}
	p.table(accuracyColumns(), rows)
	return p
}

func accuracyColumns() []column {
	return []column{
		{head: "data", width: 10, left: true}, {head: "n", width: 4}, {head: "loss", width: 9, left: true}, {head: "gamma d", width: 7}, {head: "ratio", width: 5},
		{head: "theory", width: 9}, {head: "retrained", width: 9}, {head: "+-", width: 7}, {head: "error off", width: 9},
		{head: "var ratio", width: 9}, {head: "var rms", width: 7}, {head: "status", left: true},
	}
}

func accuracyCells(c bench.AccuracyRow) []string {
	rms := "-"
	if c.VarianceError > 0 {
		rms = fmt.Sprintf("%.1f%%", 100*c.VarianceError)
	}
	return []string{ShortName(c.Data), fmt.Sprint(c.N), c.Loss, fmt.Sprint(c.Width), fmt.Sprint(c.Ratio), number(c.TheoryError), number(c.RetrainError),
		fmt.Sprintf("%.2g", c.RetrainSE), fmt.Sprintf("%+.1f%%", 100*c.ErrorOff()), fmt.Sprintf("%.3f", c.VarianceRatio), rms, c.Status}
}

// AccuracyTable prints the cells as they come.
type AccuracyTable struct{ lines lines }

// NewAccuracyTable prints the head of the table, with what its columns mean.
func NewAccuracyTable(w io.Writer) (*AccuracyTable, error) {
	p := &sheet{}
	for _, l := range [][2]string{
		{"theory", "left-out error by the theory; retrained +-: by retraining, with its standard error"},
		{"error off", "theory / retrained - 1"},
		{"var ratio", "median over points of the theory's variance over that of retraining"},
		{"var rms", `root mean square relative difference of the variances, noise of retraining taken off; "-" where it drowns in it`},
	} {
		p.line(l[0], "%s", l[1])
	}
	p.gap()
	t := &AccuracyTable{lines{w, accuracyColumns()}}
	if err := p.writeText(w); err != nil {
		return t, err
	}
	return t, t.lines.header()
}

// Row prints a cell.
func (t *AccuracyTable) Row(c bench.AccuracyRow) error { return t.lines.row(accuracyCells(c)...) }

// End sums up.
func (t *AccuracyTable) End(a *Accuracy) error {
	p := &sheet{}
	p.gap()
	p.paragraph(a.Sentence())
	p.gap()
	p.cost(a.Cost)
	return p.writeText(t.lines.w)
}

// AccuracyFigures set the theory's errors against those of retraining, and show
// its variances, loss by loss.
func AccuracyFigures(a *Accuracy) []*Figure {
	errors := Panel{X: Axis{Label: "left-out error by retraining, relative to the largest of its set"}, Y: Axis{Label: "theory over retraining"}, Legend: TopRight}
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
