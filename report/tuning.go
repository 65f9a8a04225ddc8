package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
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
	Features  []string `json:"-"` // names of the features, if each has a length scale
}

// Search is how hyperparameters were looked for, and what was found.
type Search struct {
	By            string         `json:"by"`
	Best          map[string]any `json:"best"`      // what was chosen, by the name of its flag
	Objective     float64        `json:"objective"` // its value for the best
	Choice        string         `json:"choice"`    // "least" or "one-se"
	Least         float64        `json:"least"`     // objective of the best model, on as many examples
	StandardError float64        `json:"standard_error"`
	Evaluations   int            `json:"evaluations"`
	Failures      int            `json:"failures"`
	StartExamples int            `json:"start_examples"`
	Ends          []float64      `json:"ends"`
	Path          []TuningStep   `json:"path"`
	Sections      []TuningLine   `json:"sections,omitempty"` // with --out
}

// TuningStep is a model that was judged.
type TuningStep struct {
	Start     int       `json:"start"` // its number, 0 after the starts
	Examples  int       `json:"examples"`
	Values    []float64 `json:"values"`              // in the order of best, its lists written out
	Objective *float64  `json:"objective,omitempty"` // nil where it failed
	Failure   string    `json:"failure,omitempty"`
}

// TuningLine is the objective along one hyperparameter through the choice.
type TuningLine struct {
	Name      string    `json:"name"`
	Examples  int       `json:"examples"`
	Values    []float64 `json:"values"`
	Objective []float64 `json:"objective"`
}

// Title names the tuning.
func (t *Tuning) Title() string { return "Hyperparameters of " + ShortName(t.Data) }

// Differences of two values at which starts count as ended alike: relative, or in standard
// errors of the left-out error.
const (
	sameEnd   = 0.01
	sameEndSE = 0.1
)

// Alike is the number of starts that ended as well as the best of them.
func (t *Tuning) Alike() int {
	if len(t.Ends) == 0 {
		return 0
	}
	alike, least := 0, slices.Min(t.Ends)
	same := sameEnd * math.Abs(least)
	if t.By != "evidence" {
		same = math.Max(same, sameEndSE*t.StandardError)
	}
	for _, v := range t.Ends {
		if v-least <= same {
			alike++
		}
	}
	return alike
}

func (t *Tuning) document() *document {
	d := &document{}
	d.subject(t.Subject)
	d.resampling(t.Resampling, t.N)
	d.gap()
	part := ""
	if sizes := t.parts(); len(sizes) > 0 {
		part = ", those of the start on " + strings.Join(sizes, " and ") + " examples"
	}
	d.line("judged", "%d models%s%s", t.Evaluations, part, nonzero("; %d failed", t.Failures))
	if len(t.Ends) > 0 {
		d.line("starts", "%d of %d ended alike", t.Alike(), len(t.Ends))
	}
	least := ""
	if t.Choice != "least" {
		least = fmt.Sprintf("   (%s; the least is %s)", t.Choice, number(t.Least))
	}
	d.line("objective", "%s%s", number(t.Objective), least)
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
	if t.Features != nil {
		d.gap()
		d.table(t.relevance())
	}
	return d
}

// parts are the numbers of examples of the parts of the data on which models were judged.
func (t *Tuning) parts() (sizes []string) {
	for _, s := range t.Path {
		if size := fmt.Sprint(s.Examples); s.Examples < t.N && !slices.Contains(sizes, size) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// mostColumns bounds what the path shows of many hyperparameters.
const mostColumns = 5

// pathTable has the models that were better than all before them on as many examples.
func (t *Tuning) pathTable() (columns []column, rows [][]string) {
	shown := min(len(t.Over), mostColumns)
	columns = []column{{head: "judged", width: 6}, {head: "examples", width: 8}}
	for _, name := range t.Over[:shown] {
		columns = append(columns, column{head: name, width: max(10, len(name))})
	}
	columns = append(columns, column{head: "objective", width: 10})
	least := map[int]float64{}
	for k, s := range t.Path {
		if s.Objective == nil {
			continue
		}
		if before, known := least[s.Examples]; known && *s.Objective >= before {
			continue
		}
		least[s.Examples] = *s.Objective
		row := []string{fmt.Sprint(k + 1), fmt.Sprint(s.Examples)}
		for _, v := range s.Values[:shown] {
			row = append(row, fmt.Sprintf("%.4g", v))
		}
		rows = append(rows, append(row, number(*s.Objective)))
	}
	return columns, rows
}

// relevance lists the features by their length scales, the shortest, which matters most, first.
func (t *Tuning) relevance() (columns []column, rows [][]string) {
	order := make([]int, len(t.Features))
	for k := range order {
		order[k] = k
	}
	scales := t.Kernel.LengthScale
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scales[a], scales[b]) })
	for _, k := range order {
		rows = append(rows, []string{strings.TrimSpace(t.Features[k]), fmt.Sprintf("%.4g", scales[k])})
	}
	return []column{{head: "feature", width: 12, left: true}, {head: "length scale", width: 12}}, rows
}
