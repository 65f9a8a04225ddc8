package report

import (
	"fmt"

	"bootbench/internal/null"
)

// Tuning is the answer of tune: the hyperparameters that were chosen, and how.
type Tuning struct {
	Command string `json:"command"`
	Subject
	Search
	Status   string   `json:"status"`
	Warnings []string `json:"warnings"`
	Resampling
	Errors
	Cost

	ModelFile string   `json:"-"`
	Over      []string `json:"-"` // the columns of the path
	Alike     int      `json:"-"` // starts that ended as well as the best of them
}

// Search is how hyperparameters were looked for, and what was found.
type Search struct {
	By            string         `json:"by"`
	Best          map[string]any `json:"best"`      // what was chosen, by the name of its flag
	Objective     null.Float     `json:"objective"` // its value for the best
	StandardError null.Float     `json:"standard_error"`
	Evaluations   int            `json:"evaluations"`
	Failures      int            `json:"failures"`
	StartExamples int            `json:"start_examples"`
	Ends          null.Floats    `json:"ends"`
	Path          []TuningStep   `json:"path"`
}

// TuningStep is a model that was judged.
type TuningStep struct {
	Start     int         `json:"start"` // its number, 0 after the starts
	Examples  int         `json:"examples"`
	Values    null.Floats `json:"values"`              // in the order of best, its lists written out
	Objective *null.Float `json:"objective,omitempty"` // nil where it failed
	Failure   string      `json:"failure,omitempty"`
}

func (t *Tuning) document() *document {
	d := about("Hyperparameters of", t.Subject)
	d.resampling(t.Resampling, t.N)
	d.gap()
	d.line("judged", "%d models, starts on %d examples%s", t.Evaluations, t.StartExamples,
		nonzero("; %d failed", t.Failures))
	d.line("starts", "%d of %d ended alike", t.Alike, len(t.Ends))
	d.line("objective", "%s", number(t.Objective))
	d.line("left-out error", "%s, standard error %s over examples   (%s loss)", number(t.TestError),
		number(t.StandardError), t.TestLoss)
	d.combined(t.Errors, t.Resampling)
	if t.ModelFile != "" {
		d.line("model file", "%s", t.ModelFile)
	}
	d.line("status", "%s", t.Status)
	d.cost(t.Cost)
	d.gap()
	d.table(t.pathTable())
	return d
}

// mostColumns bounds what the path shows of many hyperparameters.
const mostColumns = 5

// pathTable has the models that were better than all before them on as many examples.
func (t *Tuning) pathTable() (heads []head, rows [][]string) {
	shown := min(len(t.Over), mostColumns)
	heads = []head{"judged", "examples"}
	for _, name := range t.Over[:shown] {
		heads = append(heads, head(name))
	}
	heads = append(heads, "objective")
	least := map[int]float64{}
	for k, s := range t.Path {
		if s.Objective == nil {
			continue
		}
		if before, known := least[s.Examples]; known && float64(*s.Objective) >= before {
			continue
		}
		least[s.Examples] = float64(*s.Objective)
		row := []string{fmt.Sprint(k + 1), fmt.Sprint(s.Examples)}
		for _, v := range s.Values[:shown] {
			row = append(row, fmt.Sprintf("%.4g", v))
		}
		rows = append(rows, append(row, number(*s.Objective)))
	}
	return heads, rows
}
