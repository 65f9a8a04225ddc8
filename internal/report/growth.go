package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"bootbench/internal/calibration"
)

// Growing is a curve for the person who asks whether more rows would help.
type Growing struct{ *Curve }

func (c Growing) document() *document { return rowDocument(c, c.Results) }

func (c Growing) above() *document {
	d := short("Error by number of rows, on", c.Subject, c.asked())
	d.modelled(c.Subject)
	if c.Sample > 0 {
		d.line("sample", "%d of %d rows, drawn at random", c.Sample, c.RowsTotal)
	}
	scales := ""
	if n := len(c.Kernel.LengthScale); n > 1 && c.ChosenBy != "" {
		scales = fmt.Sprintf(", too low as they helped to choose %d length scales", n)
	}
	d.line("errors", "%s of rows left out%s; +- over subsamples without replacement", units(c.TestLoss), scales)
	d.gap()
	return d
}

func (Growing) heads() []head {
	return []head{"   rows", "     error", "      +-", "  seconds", "<status"}
}

func (Growing) cells(e Estimate) []string {
	u, se := units(e.TestLoss), "-"
	if e.ErrorSE != nil {
		se = u.se(e.Error, *e.ErrorSE)
	}
	status := strings.Replace(e.Status, Contradicted, "converged", 1) // the theory is, which is not shown
	return []string{fmt.Sprint(math.Round(e.Ratio * float64(e.N))), u.text(e.Error), se,
		seconds(e.Time.Solve), status}
}

func (c Growing) below() *document {
	d := &document{}
	d.gap()
	if g := c.Growth; g != nil {
		u := units(c.TestLoss)
		twice := fmt.Sprintf("%s with all %d rows, %s expected with %d: a fall of %s +- %s", u.text(g.Now),
			cmp.Or(c.RowsTotal, c.N), u.text(g.Then), g.Rows, u.fall(g.Now, g.Then), u.se(g.Then, g.FallSE))
		d.lead = fmt.Sprintf("More rows %s. The error (%s) is %s.", helps(g), u, twice)
		d.line("twice the rows", "%s", twice)
		d.line("more rows", "%s", helps(g))
	} else if c.Status == "complete" {
		d.line("more rows", "unknown: it takes 20 rows, and exact subsamples that leave out each of them")
	}
	d.cost(c.Cost)
	return d
}

// helps says whether twice the rows are worth their while.
func helps(g *calibration.Growth) string {
	most, sure := g.Fall+2*g.FallSE, g.Fall > 2*g.FallSE
	switch {
	case most < g.Now/10:
		return "hardly help: the error falls by less than a tenth"
	case sure && g.Fall > g.Now/20:
		return "help"
	}
	return "may help: the fall is less than twice its standard error"
}
