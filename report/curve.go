package report

import (
	"fmt"
	"io"
)

// CurveTable prints the ratios of a curve as they come.
type CurveTable struct {
	p     printer
	lines lines
}

// NewCurveTable prints what was modelled and the head of the table.
func NewCurveTable(w io.Writer, s Subject, scheme, testLoss string) (*CurveTable, error) {
	t := &CurveTable{p: printer{w: w}, lines: lines{w, []column{
		{head: "ratio", width: 9}, {head: "S", width: 9}, {head: "distinct", width: 9}, {head: "left-out", width: 10},
		{head: ".632", width: 10}, {head: ".632+", width: 10}, {head: "sweeps", width: 6}, {head: "seconds", width: 8},
		{head: "status", left: true},
	}}}
	t.p.subject(s)
	t.p.line("resampling", "%s; S examples drawn of %d, distinct ones on average", scheme, s.N)
	t.p.line("errors", "%s loss", testLoss)
	t.p.printf("\n")
	if t.p.err != nil {
		return t, t.p.err
	}
	return t, t.lines.header()
}

// Row prints one ratio.
func (t *CurveTable) Row(e *Estimate) error {
	return t.lines.row(number(e.Ratio), number(e.Ratio*float64(e.N)), fmt.Sprintf("%.1f", e.Distinct),
		number(e.TestError), number(e.Err632), number(e.Err632Plus), fmt.Sprint(e.Sweeps), seconds(e.Time.Solve), e.Status)
}

// End prints what the curve cost.
func (t *CurveTable) End(c Cost) error {
	t.p.printf("\n")
	t.p.cost(c)
	return t.p.err
}
