package report

import (
	"cmp"
	"fmt"
	"math"

	"bootbench/internal/null"
)

// Targets is the answer of estimate for several targets.
type Targets struct {
	Command string `json:"command"`
	Subject
	// Quote is the share of a target's variance that is not explained, averaged over the targets. Its standard
	// error is at most that: the targets share the resamples.
	Quote
	ExampleSE null.Float           `json:"example_se"` // of the error: with other examples it would be another
	Names     []string             `json:"names"`
	Targets   map[string]*Estimate `json:"targets"` // in units of each, without what the model of all rows errs
	// Correlation is that of the left-out residuals of two targets, in the order of Names.
	Correlation []null.Floats `json:"correlation"`
	Status      string        `json:"status"`
	Warnings    []string      `json:"warnings"`
	Cost
}

func (t *Targets) document() *document {
	d := short("Errors on new rows of", t.Subject, fmt.Sprintf("%d targets", len(t.Names)))
	se := float64(t.ExampleSE)
	if t.ErrorSE != nil {
		se = math.Hypot(se, float64(*t.ErrorSE))
	}
	explained := fmt.Sprintf("%.1f%% +- %.1f%% of the variance of a target, on average",
		100*(1-float64(t.Error)), 100*se)
	d.lead = "Predictions of new rows explain " + explained + "."
	d.line("explained", "%s", explained)
	if a, b := t.closest(); a >= 0 {
		d.line("related", "the errors of %s and %s have the correlation %.2f", t.Names[a], t.Names[b],
			t.Correlation[a][b])
	}
	d.line("model", "%s loss%s, kernel %s (units of %s)", t.Loss, t.parameters(), KernelText(t.Kernel),
		t.Names[0])
	if t.ChosenBy != "" {
		d.line("chosen", "for %s, by %s", t.Names[0], t.ChosenBy)
		d.line("to repeat", "%s", t.CommandLine)
	}
	if !(t.Status == "converged" || t.Status == Contradicted) {
		d.line("status", "%s", t.Status)
	}
	d.gap()
	var rows [][]string
	for _, name := range t.Names {
		e := t.Targets[name]
		u, q := units(e.TestLoss), e.Quality
		total := float64(q.ExampleSE)
		if e.ErrorSE != nil {
			total = math.Hypot(total, float64(*e.ErrorSE))
		}
		worst := Worst{Points: e.Points}
		row := ""
		if e.Points != nil {
			for _, i := range worst.order(1) {
				row = e.Points.name(i)
			}
		}
		rows = append(rows, []string{textCell(name), u.text(e.Error), u.se(e.Error, null.Float(total)),
			u.text(q.Baseline), fmt.Sprintf("%.1f%%", 100*float64(*q.RSquared)), cmp.Or(row, "-")})
	}
	d.table([]head{"<target", "error (RMS)", "+-", "of a constant", "explained", "worst row"}, rows)
	return d
}

// closest are the two targets whose errors are related most.
func (t *Targets) closest() (a, b int) {
	a, b = -1, -1
	largest := 0.0
	for i, row := range t.Correlation {
		for k, c := range row[:i] {
			if math.Abs(c) > largest {
				a, b, largest = k, i, math.Abs(c)
			}
		}
	}
	return a, b
}
