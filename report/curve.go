package report

import (
	"fmt"
	"io"
)

// curveColumns are those of CurveTable.
func curveColumns() []column {
	return []column{
		{head: "ratio", width: 9}, {head: "S", width: 9}, {head: "distinct", width: 9}, {head: "left-out", width: 10},
		{head: ".632", width: 10}, {head: ".632+", width: 10}, {head: "sweeps", width: 6}, {head: "seconds", width: 8},
		{head: "status", left: true},
	}
}

func curveCells(e *Estimate) []string {
	return []string{number(e.Ratio), number(e.Ratio * float64(e.N)), fmt.Sprintf("%.1f", e.Distinct),
		number(e.TestError), number(e.Err632), number(e.Err632Plus), fmt.Sprint(e.Sweeps), seconds(e.Time.Solve), e.Status}
}

// CurveTable prints the ratios of a curve as they come.
type CurveTable struct{ lines lines }

// NewCurveTable prints what was modelled and the head of the table.
func NewCurveTable(w io.Writer, s Subject, scheme, testLoss string) (*CurveTable, error) {
	t := &CurveTable{lines{w, curveColumns()}}
	if err := curveHead(s, scheme, testLoss).writeText(w); err != nil {
		return t, err
	}
	return t, t.lines.header()
}

func curveHead(s Subject, scheme, testLoss string) *sheet {
	p := &sheet{}
	p.subject(s)
	p.line("resampling", "%s; S examples drawn of %d, distinct ones on average", scheme, s.N)
	p.line("errors", "%s loss", testLoss)
	p.gap()
	return p
}

// Row prints one ratio.
func (t *CurveTable) Row(e *Estimate) error { return t.lines.row(curveCells(e)...) }

// End prints what the curve cost.
func (t *CurveTable) End(c Cost) error {
	p := &sheet{}
	p.gap()
	p.cost(c)
	return p.writeText(t.lines.w)
}

// sheet is the whole curve.
func (c *Curve) sheet() *sheet {
	if len(c.Results) == 0 {
		return &sheet{}
	}
	p := curveHead(c.Subject, c.Results[0].Scheme, c.Results[0].TestLoss)
	var rows [][]string
	for i := range c.Results {
		rows = append(rows, curveCells(&c.Results[i]))
	}
	p.table(curveColumns(), rows)
	p.gap()
	p.cost(c.Cost)
	return p
}
