package report

import (
	"cmp"
	"fmt"
	"math"

	"bootbench/internal/null"
)

// Targets is the answer of estimate, cv and retrain for several targets.
type Targets struct {
	Command string `json:"command"`
	Subject
	// Quote is the unexplained fraction of a target's variance, averaged over the targets. Its Monte Carlo
	// error is an upper bound: the targets share the resamples.
	Quote
	// of the error, over examples
	ExampleSE null.Float `json:"example_se"`
	Names     []string   `json:"names"`
	// in units of each, without the error of the model of all rows
	Targets map[string]Judgement `json:"targets"`
	// Correlation has the correlations of the left-out residuals of two targets, in the order of Names.
	Correlation []null.Floats `json:"correlation"`
	Each        []float64     `json:"-"` // terms of the error by example
	Status      string        `json:"status"`
	Outcome
}

// details has the full document of each target.
func (t *Targets) details() *document {
	d := t.document()
	for _, name := range t.Names {
		d.gap()
		one := more(t.Targets[name])
		if one == nil {
			one = t.Targets[name].document()
		}
		d.Blocks = append(d.Blocks, one.Blocks...)
	}
	return d
}

func (t *Targets) document() *document {
	d := short("Errors on new rows of", t.Subject, fmt.Sprintf("%d targets", len(t.Names)))
	explained := fmt.Sprintf("%.1f%% +- %.1f%% of the variance of a target, on average", 100*(1-t.Error),
		100*t.ErrorSE)
	d.Lead = "Predictions of new rows explain " + explained + "."
	d.line("explained", "%s", explained)
	if a, b := t.closest(); a >= 0 {
		d.line("related", "the errors of %s and %s have the correlation %.2f", t.Names[a], t.Names[b],
			t.Correlation[a][b])
	}
	d.line("model", "%s loss%s, kernel %s (units of %s)", t.Loss, t.parameters(), KernelText(t.Kernel),
		t.Names[0])
	d.chosen("on average over the targets, ", t.Subject)
	d.line("status", "%s", unfinished(t.Status))
	d.gap()
	var rows [][]string
	for _, name := range t.Names {
		e, row := t.Targets[name].Judged(), "-"
		for _, i := range worst(cmp.Or(e.Points, &Points{}).Error, 1) {
			row = rowName(e.Points.Names, i)
		}
		u, q := units(e.TestLoss), e.Quality
		rows = append(rows, []string{textCell(name), u.text(e.Error), e.plusMinus(u),
			u.text(q.Baseline), fmt.Sprintf("%.1f%%", 100**q.RSquared), row})
	}
	d.table([]head{"<target", "error (RMS)", "+-", "of a constant", "explained", "worst row"}, rows)
	return d
}

// closest are the two targets with the largest correlation of errors.
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

// TargetPredictions is the answer of predict for several targets, by the model of all examples.
type TargetPredictions struct {
	AtInputs
	Names   []string                    `json:"names"`
	Targets map[string]*ModelPrediction `json:"targets"`
	Outcome
}

func (t *TargetPredictions) document() *document {
	first := t.Targets[t.Names[0]]
	d := &document{Title: "Predictions by " + ShortName(cmp.Or(t.Model, first.Data)),
		Lead: fmt.Sprintf("%d targets of each of %d rows of %s.", len(t.Names), t.Count, t.Test)}
	d.line("model", "%s loss, trained on %d examples of %s", first.Loss, first.N, first.Data)
	d.line("new inputs", "%s: %d", t.Test, t.Count)
	for _, name := range t.Names {
		if p, u := t.Targets[name], units(t.Targets[name].TestLoss); p.TestError != nil {
			d.line("error of "+textCell(name), "%s (%s); %s if all are predicted %s", u.text(*p.TestError), u,
				u.text(p.Quality.Baseline), p.Quality.Constant)
		}
	}
	if first.Points != nil {
		d.inputs(t.table((*Points).brief, number[float64]), nil)
	}
	return d
}

// table has a row per new input, and the columns of every target.
func (t *TargetPredictions) table(of func(*Points) *Points, format func(float64) string) (all [][]string) {
	for k, name := range t.Names {
		part := of(t.Targets[name].Points).table(format)
		for j := range part[0] {
			part[0][j] = textCell(name) + " " + part[0][j]
		}
		if k == 0 {
			all, part[0][0] = part, "row"
			continue
		}
		for i, row := range part {
			all[i] = append(all[i], row[1:]...)
		}
	}
	return all
}
