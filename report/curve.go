package report

import "fmt"

// Title names the curve.
func (c *Curve) Title() string { return "Learning curve on " + ShortName(c.Data) }

// Lead is empty: the curve speaks for itself.
func (c *Curve) Lead() []string { return nil }

func (c *Curve) document() *document {
	d := c.head()
	rowTable(d, c, c.Results)
	d.blocks = append(d.blocks, c.end().blocks...)
	return d
}

func (c *Curve) head() *document {
	d := &document{}
	d.subject(c.Subject)
	d.line("resampling", "%s; S examples drawn of %d, distinct ones on average", c.Scheme, c.N)
	d.line("errors", "%s loss", c.TestLoss)
	d.gap()
	return d
}

func (*Curve) columns() []column {
	return []column{
		{head: "ratio", width: 9}, {head: "S", width: 9}, {head: "distinct", width: 9},
		{head: "left-out", width: 10},
		{head: "refined", width: 8}, {head: "+-", width: 7}, {head: ".632", width: 10}, {head: ".632+", width: 10},
		{head: "sweeps", width: 6}, {head: "seconds", width: 8},
		{head: "status", left: true},
	}
}

func (*Curve) cells(e Estimate) []string {
	refined, se := e.Refined.cells()
	e632, plus := e.grounded()
	return []string{number(e.Ratio), number(e.Ratio * float64(e.N)), fmt.Sprintf("%.1f", e.Distinct),
		number(e.TestError), refined, se, e632, plus, fmt.Sprint(e.Sweeps), seconds(e.Time.Solve), e.Status}
}

func (c *Curve) end() *document {
	d := &document{}
	d.gap()
	d.cost(c.Cost)
	return d
}
