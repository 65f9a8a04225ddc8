package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
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

// coveragePart is what is counted, with its generators.
type coveragePart struct {
	name, worlds string
	run          func(*coverage, context.Context, *output, []world)
}

// coverageParts are the error of the trained model with its interval, p-values where targets do not depend on
// features, and intervals of predictions.
var coverageParts = []coveragePart{
	{"risk", "", part("coverage", (*coverage).judge, riskOf)},
	{"p-values", "noise,batches,coin", part("p-values", (*coverage).pValue, nullOf)},
	{"predictions", "linear,friedman1,waves,heavy,groups,sites,weights",
		part("predictions", (*coverage).predict, predictionsOf)},
}

// coverageStudy counts over many tables.
func coverageStudy(f *flag.FlagSet) func(context.Context, *output) {
	var c coverage
	f.IntVar(&c.tables, "tables", 1000, "tables of each cell")
	f.IntVar(&c.fresh, "fresh", 4000, "new rows that give the risk of a trained model")
	f.IntVar(&c.resamples, "resamples", 0, "of an estimate; 0: those of the library")
	f.IntVar(&c.permutations, "permutations", 19, "permutations of a p-value")
	f.Uint64Var(&c.seed, "seed", 1, "of the tables")
	f.IntVar(&c.workers, "workers", 0, "tables at a time; default: one for each processor")
	part := f.String("part", "risk", "what is counted: risk, p-values or predictions")
	sizes := f.String("sizes", "50,100,200", "`numbers` of rows of a table")
	only := f.String("only", "", "only these `generators`; default: all of the part")
	models := f.String("models", "", "only these `models`: flagless, chosen in each table, or given")
	return func(ctx context.Context, o *output) {
		for text := range strings.SplitSeq(*sizes, ",") {
			c.sizes = append(c.sizes, steps.Must(strconv.Atoi(text)))
		}
		c.models = pick("models", *models, []string{flagless, given}, strings.Clone)
		runtime.GOMAXPROCS(cmp.Or(c.workers, runtime.GOMAXPROCS(0)))
		for _, of := range pick("part", *part, coverageParts, func(p coveragePart) string { return p.name }) {
			of.run(&c, ctx, o, worldsOf(cmp.Or(*only, of.worlds)))
		}
	}
}

// worldsOf are the named generators, all without names.
func worldsOf(names string) []world {
	return pick("only", names, worlds, func(w world) string { return w.name })
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

// judgement is what a table is asked.
type judgement[T any] func(c *coverage, ctx context.Context, s *sample, spec bootbench.Spec, number int) T

// part counts in all cells: judge looks at a table, and row summarises the tables of a cell.
func part[T, R any](name string, judge judgement[T],
	row func(cell, []T) R) func(*coverage, context.Context, *output, []world) {
	return func(c *coverage, ctx context.Context, o *output, of []world) {
		var rows []R
		for _, model := range c.models {
			for _, w := range of {
				for _, n := range c.sizes {
					at := cell{Model: model, Generator: w.name, N: n}
					answered := tables(ctx, c, w, &at, judge)
					if ctx.Err() != nil {
						return
					}
					rows = append(rows, row(at, answered))
					show(o, name, rows)
				}
			}
		}
	}
}

// tables looks at the tables of a cell.
func tables[T any](ctx context.Context, c *coverage, w world, at *cell, judge judgement[T]) (answered []T) {
	began, all, refused := time.Now(), make([]T, c.tables), make([]error, c.tables)
	linalg.Parallel(c.tables, func(i int) {
		refused[i] = steps.Run(func() {
			s := w.table(c.seed+uint64(i)<<20, at.N, c.fresh)
			all[i] = judge(c, ctx, s, s.specified(ctx, at.Model), i)
		})
	})
	for i, r := range all {
		if refused[i] == nil {
			answered = append(answered, r)
		}
	}
	at.Seconds = time.Since(began).Seconds() / float64(c.tables)
	if at.Tables, at.Refused = len(answered), c.tables-len(answered); at.Tables == 0 && ctx.Err() == nil {
		steps.Check(fmt.Errorf("%s, %d rows: %w", w.name, at.N, refused[0]))
	}
	return answered
}

// outcome is what was said about a table, and the risk of its model.
type outcome struct {
	risk float64
	*bootbench.Estimation
}

// judge asks about a table as a user does, and trains its model.
func (c *coverage) judge(ctx context.Context, s *sample, spec bootbench.Spec, number int) outcome {
	o := bootbench.Options{Seed: uint64(number), Resamples: c.resamples}
	e := steps.Must(bootbench.Estimate(ctx, spec, o))
	return outcome{s.risk(steps.Must(bootbench.Train(ctx, spec))), e}
}

// riskRow is how the stated errors of a cell do.
type riskRow struct {
	cell
	Risk     float64 `json:"risk"` // mean over tables
	Bias     float64 `json:"bias"` // relative to the mean risk
	BiasSE   float64 `json:"bias_se"`
	Coverage float64 `json:"coverage"`
	Below    float64 `json:"below"` // share of intervals below the risk
	Width    float64 `json:"width"` // mean, relative to the mean risk
}

func riskOf(of cell, all []outcome) riskRow {
	row, one := riskRow{cell: of}, 1/float64(len(all))
	for _, r := range all {
		row.Risk += r.risk * one
	}
	var off []float64
	for _, r := range all {
		off = append(off, (r.Error-r.risk)/row.Risk)
		row.Width += (r.ErrorUpper - r.ErrorLower) / row.Risk * one
		if r.ErrorLower <= r.risk && r.risk <= r.ErrorUpper {
			row.Coverage += one
		}
		if r.ErrorUpper < r.risk {
			row.Below += one
		}
	}
	mean, sd := stat.MeanStdDev(off, nil)
	row.Bias, row.BiasSE = mean, sd*math.Sqrt(one)
	return row
}

// pValue is the p-value of cross-validation in ten folds.
func (c *coverage) pValue(ctx context.Context, _ *sample, spec bootbench.Spec, number int) float64 {
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
func (c *coverage) predict(ctx context.Context, s *sample, spec bootbench.Spec, number int) (h held) {
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

func predictionsOf(of cell, all []held) predictionRow {
	var share, width, outside []float64
	for _, h := range all {
		share, width, outside = append(share, h.share), append(width, h.width), append(outside, h.outside)
	}
	mean, sd := stat.MeanStdDev(share, nil)
	return predictionRow{of, mean, sd / math.Sqrt(float64(len(all))), bench.Median(width),
		bench.Median(outside)}
}
