package report

import "fmt"

func (c *Curve) document() *document { return rowDocument(c, c.Results) }

func (c *Curve) above() *document {
	d := about("Learning curve on", c.Subject)
	d.line("resampling", "%s; S examples drawn of %d, distinct ones on average", c.Scheme, c.N)
	d.line("errors", "%s loss", c.TestLoss)
	d.gap()
	return d
}

func (*Curve) heads() []head {
	return append([]head{"    ratio", "        S", " distinct"}, estimateHeads...)
}

func (*Curve) cells(e Estimate) []string {
	return append([]string{number(e.Ratio), number(e.Ratio * float64(e.N)), fmt.Sprintf("%.1f", e.Distinct)},
		e.cells()...)
}

// estimateHeads are those of the cells of an estimate in a row.
var estimateHeads = []head{"  left-out", " refined", "     +-", "      .632", "     .632+", "sweeps",
	" seconds",
	"<status"}

func (e *Estimate) cells() []string {
	refined, se, e632, plus := "-", "-", "-", "-"
	if r := e.Refined; r != nil {
		refined, se = number(r.TestError), fmt.Sprintf("%.2g", r.SE)
	}
	if e.Is632Applicable {
		e632, plus = number(e.Err632), number(e.Err632Plus)
	}
	return []string{number(e.TestError), refined, se, e632, plus, fmt.Sprint(e.Sweeps), seconds(e.Time.Solve),
		e.Status}
}

func (c *Curve) below() *document {
	d := &document{}
	d.gap()
	d.cost(c.Cost)
	return d
}
