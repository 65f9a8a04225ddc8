package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench"
)

// coverage simulates tables, and counts how often the stated intervals hold the truth.
type coverage struct {
	tables, workers, fresh int
	sizes                  []int
	seed                   uint64
	models                 []string
	worlds                 []world
}

// coverageStudy compares the error that is quoted with the risk of the trained model over many tables.
func coverageStudy(f *flag.FlagSet) func(context.Context, *output) {
	var c coverage
	f.IntVar(&c.tables, "tables", 1000, "tables of each cell")
	f.IntVar(&c.fresh, "fresh", 4000, "new rows that give the risk of a trained model")
	f.Uint64Var(&c.seed, "seed", 1, "of the tables")
	f.IntVar(&c.workers, "workers", 2, "tables at a time")
	sizes := f.String("sizes", "50,100,200", "`numbers` of rows of a table")
	only := f.String("only", "", "only these `generators`; default: all")
	models := f.String("models", flagless+","+given, "`models` that are chosen on the table, given, or both")
	return func(ctx context.Context, o *output) {
		for _, text := range list(*sizes) {
			c.sizes = append(c.sizes, must(strconv.Atoi(text)))
		}
		for _, model := range list(*models) {
			if model != flagless && model != given {
				check(fmt.Errorf("-models: there are %s and %s", flagless, given))
			}
			c.models = append(c.models, model)
		}
		c.worlds = worldsOf(list(*only))
		var rows []coverageRow
		fmt.Fprintln(o, coverageHead)
		for _, model := range c.models {
			for _, w := range c.worlds {
				for _, n := range c.sizes {
					row := c.cell(ctx, w, model, n)
					if ctx.Err() != nil {
						return
					}
					rows = append(rows, row)
					fmt.Fprintln(o, row)
					writeCSV(o, "coverage.csv", rows)
				}
			}
		}
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
		check(fmt.Errorf("-only: there are %s", strings.Join(all, ", ")))
	}
	return chosen
}

// Models: that of the library's search in each table, or one with fixed hyperparameters.
const flagless, given = "flagless", "given"

// specified is the model of a table.
func (s *sample) specified(ctx context.Context, model string) bootbench.Spec {
	switch {
	case model == flagless:
		return must(bootbench.Choose(ctx, s.data))
	case s.classes > 0:
		return bootbench.NewSpec(s.data, bootbench.Hinge{C: 1})
	}
	return bootbench.NewSpec(s.data, bootbench.Square{Noise: s.noise + s.effect})
}

// interval is an error with its 95% interval.
type interval struct{ value, lower, upper float64 }

// headline is the error of the trained model.
func headline(e *bootbench.Estimation) interval { return around(e.AllRows, e.AllRowsSE) }

// plain is the error without corrections.
func plain(e *bootbench.Estimation) interval { return around(e.Error, e.SE) }

func around(value, se float64) interval { return interval{value, value - 1.96*se, value + 1.96*se} }

// outcome is what was said about a table, and the risk of its model.
type outcome struct {
	risk            float64
	headline, plain interval
	refused         error
}

// judge asks about a table as a user does, and trains its model.
func (c *coverage) judge(ctx context.Context, w world, model string, n, number int) (r outcome) {
	r.refused = attempt(func() {
		s := w.table(c.seed+uint64(number)<<20, n, c.fresh)
		spec := s.specified(ctx, model)
		e := must(bootbench.Estimate(ctx, spec, bootbench.Options{Seed: uint64(number)}))
		r.headline, r.plain = headline(e), plain(e)
		r.risk = s.risk(must(bootbench.Train(ctx, spec)))
	})
	return r
}

// coverageRow is a cell: many tables of one size of a generator.
type coverageRow struct {
	Model     string  `json:"model"`
	Generator string  `json:"generator"`
	N         int     `json:"n"`
	Tables    int     `json:"tables"`
	Refused   int     `json:"refused"` // without an answer
	Risk      float64 `json:"risk"`    // mean over tables
	counts
	Plain   counts  `json:"plain"`
	Seconds float64 `json:"seconds"` // of a table
}

// counts are how an error with its interval does over tables.
type counts struct {
	Bias     float64 `json:"bias"` // relative to the mean risk
	BiasSE   float64 `json:"bias_se"`
	Coverage float64 `json:"coverage"`
	Below    float64 `json:"below"` // share of intervals below the risk
	Width    float64 `json:"width"` // mean, relative to the mean risk
}

const coverageHead = "| model | generator | rows | tables | risk | bias | 95% holds | too low | width | " +
	"plain bias | 95% holds | too low | width | s |\n|---|---|" +
	"--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"

func (r coverageRow) String() string {
	name := r.Generator
	if r.Refused > 0 {
		name += fmt.Sprintf(" (%d refused)", r.Refused)
	}
	return fmt.Sprintf("| %s | %s | %d | %d | %.3g | %v | %v | %.2f |", r.Model, name, r.N, r.Tables, r.Risk,
		r.counts, r.Plain, r.Seconds)
}

func (c counts) String() string {
	return fmt.Sprintf("%+.1f%% ± %.1f | %.3f | %.3f | %.2f", 100*c.Bias, 100*c.BiasSE, c.Coverage, c.Below,
		c.Width)
}

// cell judges many tables.
func (c *coverage) cell(ctx context.Context, w world, model string, n int) coverageRow {
	began, all := time.Now(), make([]outcome, c.tables)
	next := make(chan int)
	var group sync.WaitGroup
	for range max(1, c.workers) {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range next {
				all[i] = c.judge(ctx, w, model, n, i)
			}
		}()
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	row := coverageRow{Model: model, Generator: w.name, N: n,
		Seconds: time.Since(began).Seconds() / float64(c.tables)}
	var answered []outcome
	for _, r := range all {
		if r.refused == nil {
			answered = append(answered, r)
		}
	}
	if row.Tables, row.Refused = len(answered), c.tables-len(answered); row.Tables == 0 {
		check(all[0].refused)
	}
	for _, r := range answered {
		row.Risk += r.risk / float64(row.Tables)
	}
	row.counts = counted(answered, row.Risk, func(r outcome) interval { return r.headline })
	row.Plain = counted(answered, row.Risk, func(r outcome) interval { return r.plain })
	return row
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
