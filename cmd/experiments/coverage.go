package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench"
	"bootbench/bench"
	"bootbench/cmd/internal/steps"
	"bootbench/linalg"
)

// coverage simulates tables, and counts how often what is stated holds the truth.
type coverage struct {
	tables, workers, fresh, permutations, resamples int

	seed   uint64
	sizes  []int
	models []string
}

// coverageParts are what is counted, each with its generators: the error of the trained model with its
// interval, p-values where targets do not depend on features, and intervals of predictions.
var coverageParts = map[string]struct {
	worlds []string
	run    func(*coverage, context.Context, *output, []world)
}{
	"risk": {nil, func(c *coverage, ctx context.Context, o *output, of []world) {
		c.summarize(o, over(ctx, c, o, of, "coverage", riskHead, (*coverage).judge, riskOf))
	}},
	"p-values": {[]string{"noise", "batches", "coin"},
		func(c *coverage, ctx context.Context, o *output, of []world) {
			over(ctx, c, o, of, "p-values", nullHead, (*coverage).pValue, nullOf)
		}},
	"predictions": {[]string{"linear", "friedman1", "waves", "heavy", "groups", "sites", "weights"},
		func(c *coverage, ctx context.Context, o *output, of []world) {
			over(ctx, c, o, of, "predictions", predictionHead, (*coverage).predict, predictionsOf)
		}},
}

// coverageStudy counts over many tables.
func coverageStudy(f *flag.FlagSet) func(context.Context, *output) {
	var c coverage
	f.IntVar(&c.tables, "tables", 1000, "tables of each cell")
	f.IntVar(&c.fresh, "fresh", 4000, "new rows that give the risk of a trained model")
	f.IntVar(&c.resamples, "resamples", 0, "of the plain error; 0: those of the library")
	f.IntVar(&c.permutations, "permutations", 19, "permutations of a p-value")
	f.Uint64Var(&c.seed, "seed", 1, "of the tables")
	f.IntVar(&c.workers, "workers", 0, "tables at a time; default: one for each processor")
	part := f.String("part", "risk", "what is counted: risk, p-values or predictions")
	sizes := f.String("sizes", "50,100,200", "`numbers` of rows of a table")
	only := f.String("only", "", "only these `generators`; default: all of the part")
	models := f.String("models", flagless+","+given, "`models`: chosen in each table, given, or both")
	return func(ctx context.Context, o *output) {
		for _, text := range list(*sizes) {
			c.sizes = append(c.sizes, steps.Must(strconv.Atoi(text)))
		}
		for _, model := range list(*models) {
			if model != flagless && model != given {
				steps.Check(fmt.Errorf("-models: there are %s and %s", flagless, given))
			}
			c.models = append(c.models, model)
		}
		of, known := coverageParts[*part]
		if !known {
			steps.Check(fmt.Errorf("-part: there are %s",
				strings.Join(slices.Sorted(maps.Keys(coverageParts)), ", ")))
		}
		runtime.GOMAXPROCS(cmp.Or(c.workers, runtime.GOMAXPROCS(0)))
		of.run(&c, ctx, o, worldsOf(list(cmp.Or(*only, strings.Join(of.worlds, ",")))))
	}
}

// list splits a list with commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// worldsOf are the named generators, all without names.
func worldsOf(names []string) (chosen []world) {
	for _, w := range worlds {
		if len(names) == 0 || slices.Contains(names, w.name) {
			chosen = append(chosen, w)
		}
	}
	if len(names) > 0 && len(chosen) < len(names) {
		var all []string
		for _, w := range worlds {
			all = append(all, w.name)
		}
		steps.Check(fmt.Errorf("-only: there are %s", strings.Join(all, ", ")))
	}
	return chosen
}

// Models: the one of the library's search in each table, or one with fixed hyperparameters.
const flagless, given = "flagless", "given"

// specified is the model of a table.
func (s *sample) specified(ctx context.Context, model string) bootbench.Spec {
	switch {
	case model == flagless:
		return steps.Must(bootbench.Choose(ctx, s.data))
	case s.classes > 0:
		return bootbench.NewSpec(s.data, bootbench.Hinge{C: 1})
	}
	return bootbench.NewSpec(s.data, bootbench.Square{Noise: s.noise + s.effect})
}

// cell is many tables of one size of a generator.
type cell struct {
	Model     string  `json:"model"`
	Generator string  `json:"generator"`
	N         int     `json:"n"`
	Tables    int     `json:"tables"`
	Refused   int     `json:"refused"` // without an answer
	Seconds   float64 `json:"seconds"` // of a table
}

func (c cell) String() string {
	name := c.Generator
	if c.Refused > 0 {
		name += fmt.Sprintf(" (%d refused)", c.Refused)
	}
	return fmt.Sprintf("| %s | %s | %d | %d |", c.Model, name, c.N, c.Tables)
}

// over counts in all cells: judge looks at a table, and row summarises the tables of a cell. The rows are
// printed when they are known, and written to a file.
func over[T any, R fmt.Stringer](ctx context.Context, c *coverage, o *output, of []world, name, head string,
	judge func(c *coverage, ctx context.Context, s *sample, spec bootbench.Spec, model string, number int) T,
	row func(cell, []T) R) (rows []R) {
	columns := strings.Count(head, "|") - 1
	fmt.Fprintf(o, "| model | generator%s\n|---|---|%s\n", head, strings.Repeat("--:|", columns))
	for _, model := range c.models {
		for _, w := range of {
			for _, n := range c.sizes {
				began, all, refused := time.Now(), make([]T, c.tables), make([]error, c.tables)
				linalg.Parallel(c.tables, func(i int) {
					refused[i] = steps.Run(func() {
						s := w.table(c.seed+uint64(i)<<20, n, c.fresh)
						all[i] = judge(c, ctx, s, s.specified(ctx, model), model, i)
					})
				})
				if ctx.Err() != nil {
					return rows
				}
				of := cell{Model: model, Generator: w.name, N: n,
					Seconds: time.Since(began).Seconds() / float64(c.tables)}
				var answered []T
				for i, r := range all {
					if refused[i] == nil {
						answered = append(answered, r)
					}
				}
				if of.Tables, of.Refused = len(answered), c.tables-len(answered); of.Tables == 0 {
					steps.Check(fmt.Errorf("%s, %d rows: %w", w.name, n, refused[0]))
				}
				rows = append(rows, row(of, answered))
				fmt.Fprintln(o, rows[len(rows)-1])
				writeCSV(o, name+".csv", rows)
			}
		}
	}
	return rows
}

// interval is an error with its 95% interval.
type interval struct{ value, lower, upper float64 }

// headline is the error of the trained model.
func headline(e *bootbench.Estimation) interval { return interval{e.Error, e.ErrorLower, e.ErrorUpper} }

// plain is the error of models of resamples.
func plain(e *bootbench.Estimation) interval { return around(e.LeftOut, e.LeftOutSE) }

func around(value, se float64) interval { return interval{value, value - 1.96*se, value + 1.96*se} }

// outcome is what was said about a table, and the risk of its model.
type outcome struct {
	risk            float64
	headline, plain interval
}

// judge asks about a table as a user does, and trains its model.
func (c *coverage) judge(ctx context.Context, s *sample, spec bootbench.Spec, _ string, number int) outcome {
	o := bootbench.Options{Seed: uint64(number), Resamples: c.resamples}
	e := steps.Must(bootbench.Estimate(ctx, spec, o))
	return outcome{s.risk(steps.Must(bootbench.Train(ctx, spec))), headline(e), plain(e)}
}

// riskRow is how the stated errors of a cell do.
type riskRow struct {
	cell
	Risk float64 `json:"risk"` // mean over tables
	counts
	Plain counts `json:"plain"`
}

// counts are how an error with its interval does over tables.
type counts struct {
	Bias     float64 `json:"bias"` // relative to the mean risk
	BiasSE   float64 `json:"bias_se"`
	Coverage float64 `json:"coverage"`
	Below    float64 `json:"below"` // share of intervals below the risk
	Width    float64 `json:"width"` // mean, relative to the mean risk
}

const riskHead = " | rows | tables | risk | bias | 95% holds | too low | width | plain bias | 95% holds | " +
	"too low | width | s |"

func (r riskRow) String() string {
	return fmt.Sprintf("%v %.3g | %v | %v | %.2f |", r.cell, r.Risk, r.counts, r.Plain, r.Seconds)
}

func (c counts) String() string {
	return fmt.Sprintf("%+.1f%% ± %.1f | %.3f | %.3f | %.2f", 100*c.Bias, 100*c.BiasSE, c.Coverage, c.Below,
		c.Width)
}

func riskOf(of cell, all []outcome) riskRow {
	row := riskRow{cell: of}
	for _, r := range all {
		row.Risk += r.risk / float64(len(all))
	}
	row.counts = counted(all, row.Risk, func(r outcome) interval { return r.headline })
	row.Plain = counted(all, row.Risk, func(r outcome) interval { return r.plain })
	return row
}

// summarize prints a table with two columns for each size: the share of intervals that hold the risk, and
// how far off the error is.
func (c *coverage) summarize(o *output, rows []riskRow) {
	fmt.Fprint(o, "\n| model | generator |")
	for _, n := range c.sizes {
		fmt.Fprintf(o, " %d rows | off |", n)
	}
	fmt.Fprintf(o, "\n|---|---|%s", strings.Repeat("--:|", 2*len(c.sizes)))
	for i, r := range rows {
		if i%len(c.sizes) == 0 {
			fmt.Fprintf(o, "\n| %s | %s |", r.Model, r.Generator)
		}
		fmt.Fprintf(o, " %.3f | %+.1f%% |", r.Coverage, 100*r.Bias)
	}
	fmt.Fprintln(o)
}

// counted compares intervals with risks.
func counted(all []outcome, risk float64, of func(outcome) interval) (c counts) {
	var off []float64
	one := 1 / float64(len(all))
	for _, r := range all {
		i := of(r)
		off = append(off, (i.value-r.risk)/risk)
		c.Width += (i.upper - i.lower) / risk * one
		if i.lower <= r.risk && r.risk <= i.upper {
			c.Coverage += one
		}
		if i.upper < r.risk {
			c.Below += one
		}
	}
	mean, sd := stat.MeanStdDev(off, nil)
	c.Bias, c.BiasSE = mean, sd*math.Sqrt(one)
	return c
}

// pValue is the p-value of cross-validation in ten folds.
func (c *coverage) pValue(ctx context.Context, _ *sample, spec bootbench.Spec, _ string, number int) float64 {
	folds := bootbench.Folds{Folds: 10, Permutations: c.permutations}
	o := bootbench.Options{Seed: uint64(number)}
	return steps.Must(bootbench.CrossValidate(ctx, spec, folds, o)).PValue
}

// nullRow is how p-values of a cell are distributed.
type nullRow struct {
	cell
	Small  float64 `json:"small"` // share at most 0.05
	Median float64 `json:"median"`
}

const nullHead = " | rows | tables | p at most 0.05 | median | s |"

func (r nullRow) String() string {
	return fmt.Sprintf("%v %.3f | %.2f | %.2f |", r.cell, r.Small, r.Median, r.Seconds)
}

func nullOf(of cell, all []float64) nullRow {
	row := nullRow{cell: of, Median: bench.Median(all)}
	for _, p := range all {
		if p <= 0.05+1e-9 {
			row.Small += 1 / float64(len(all))
		}
	}
	return row
}

// held is how the intervals of a table's predictions do.
type held struct{ share, width, outside float64 }

// predict asks for 90% intervals of fresh rows, and of rows outside the data: ten times as far from 0.
func (c *coverage) predict(ctx context.Context, s *sample, spec bootbench.Spec, _ string,
	number int) (h held) {
	o := bootbench.Options{Seed: uint64(number), Level: 0.9}
	widths := func(p *bootbench.Prediction) []float64 {
		w := slices.Clone(p.Upper)
		floats.Sub(w, p.Lower)
		return w
	}
	p := steps.Must(bootbench.Predict(ctx, spec, s.fresh, o))
	inside := make([]float64, s.fresh.N())
	for i, y := range s.fresh.Columns[0].Y {
		if p.Lower[i] <= y && y <= p.Upper[i] {
			inside[i] = 1
		}
	}
	far := s.fresh.X
	far.Data = slices.Clone(far.Data)
	floats.Scale(10, far.Data)
	outside := steps.Must(bootbench.Predict(ctx, spec, steps.Must(bootbench.NewInputs(far)), o))
	h.share, h.width = stat.Mean(inside, s.fresh.Weights), bench.Median(widths(p))
	h.outside = bench.Median(widths(outside)) / h.width
	return h
}

// predictionRow is how the intervals of predictions of a cell do.
type predictionRow struct {
	cell
	Coverage float64 `json:"coverage"` // share of new rows inside
	SE       float64 `json:"coverage_se"`
	Width    float64 `json:"width"`   // median over rows, and over tables
	Outside  float64 `json:"outside"` // width outside the data over that inside
}

const predictionHead = " | rows | tables | 90% holds | width | outside, times | s |"

func (r predictionRow) String() string {
	return fmt.Sprintf("%v %.3f ± %.3f | %.3g | %.2g | %.2f |", r.cell, r.Coverage, r.SE, r.Width, r.Outside,
		r.Seconds)
}

func predictionsOf(of cell, all []held) predictionRow {
	var share, width, outside []float64
	for _, h := range all {
		share, width, outside = append(share, h.share), append(width, h.width), append(outside, h.outside)
	}
	mean, sd := stat.MeanStdDev(share, nil)
	return predictionRow{of, mean, sd / math.Sqrt(float64(len(all))), bench.Median(width),
		bench.Median(outside)}
}
