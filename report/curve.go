package report

import "fmt"

// Title names the curve.
func (c *Curve) Title() string { return "Learning curve on " + ShortName(c.Data) }

// Lead is empty: the curve speaks for itself.
func (c *Curve) Lead() []string { return nil }

func (c *Curve) document() *document { return rowDocument(c, c.Results) }

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
		{"ratio", 9, false}, {"S", 9, false}, {"distinct", 9, false},
		{"left-out", 10, false},
		{"refined", 8, false}, {"+-", 7, false}, {".632", 10, false}, {".632+", 10, false},
		{"sweeps", 6, false}, {"seconds", 8, false},
		{"status", 0, true},
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
