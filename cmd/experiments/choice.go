package main

import (
	"context"
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
)

// choice compares searches with a grid that is judged by exact cross-validation, over splits of data sets.
type choice struct{ rows, fresh, splits int }

// way is a search of the study. Labels have one length scale.
type way struct {
	name string
	tune.By
	scales tune.Scales
}

var ways = []way{
	{"default", tune.Folds, tune.IfBetter}, {"cv", tune.Folds, tune.AsGiven},
	{"leftout", tune.LeftOut, tune.AsGiven}, {"632plus", tune.Plus632, tune.AsGiven},
	{"loo", tune.LeaveOneOut, tune.AsGiven}, {"evidence", tune.Evidence, tune.AsGiven},
}

// choiceStudy computes the table of doc/tuning.md.
func choiceStudy(f *flag.FlagSet) func(context.Context, *output) {
	var c choice
	f.IntVar(&c.rows, "rows", 300, "of a set to train on, at most; two thirds of it at most")
	f.IntVar(&c.fresh, "fresh", 2000, "other rows that judge a model, at most")
	f.IntVar(&c.splits, "splits", 10, "of each set")
	sets := f.String("sets", "boston pima", "files and names of `sets`, with spaces between them")
	by := f.String("by", "", "only these `searches`, of default,cv,leftout,632plus,loo,evidence")
	return func(ctx context.Context, o *output) {
		chosen := pick("by", *by, ways, func(w way) string { return w.name })
		var rows []choiceRow
		for _, name := range strings.Fields(*sets) {
			for _, row := range c.compare(ctx, steps.Must(dataset.Load(name, dataset.Options{})), chosen) {
				rows = append(rows, row)
				show(o, "choice", rows)
			}
		}
	}
}

// choiceRow is a search on one data set. Errors are means over the splits.
type choiceRow struct {
	Set      string  `json:"set"`
	Rows     int     `json:"rows"`
	Search   string  `json:"search"`
	Grid     float64 `json:"grid"`      // error of the grid's best cell by cross-validation
	OverGrid float64 `json:"over_grid"` // error over that one, geometric mean
	Worst    float64 `json:"worst"`     // of these
	OverBest float64 `json:"over_best"` // over the least error of a cell
	Said     float64 `json:"said"`      // the objective over the error
	Seconds  float64 `json:"seconds"`
}

// compare judges the searches on new rows, beside the cells of the grid.
func (c *choice) compare(ctx context.Context, set *dataset.Set, searches []way) (rows []choiceRow) {
	train, one := min(c.rows, 2*set.N()/3), 1/float64(c.splits)
	if !set.AreNumbers() {
		searches = slices.DeleteFunc(slices.Clone(searches),
			func(w way) bool { return w.By >= tune.LeaveOneOut })
	}
	none := stat.PopVariance(set.Targets(0), nil) * 1e-4 // errors of some labels are 0
	for _, w := range searches {
		rows = append(rows, choiceRow{Set: report.ShortName(set.Name), Rows: train, Search: w.name})
	}
	for split := range c.splits {
		order := rand.New(rand.NewPCG(uint64(split), 1)).Perm(set.N())
		open := model.NewSpec(set.Subset(order[:train]), nil)
		fresh := set.Subset(order[train:min(set.N(), train+c.fresh)])
		grid, best := errorsOfGrid(ctx, open, fresh)
		for k, w := range searches {
			p, r := tune.Problem{Spec: open, By: w.By}, &rows[k]
			if open.Set.AreNumbers() {
				p.Scales = w.scales
			}
			began := time.Now()
			found := steps.Must(tune.Run(ctx, p, tune.Settings{}))
			r.Seconds += time.Since(began).Seconds() * one
			e := errorOn(ctx, found.Spec, fresh)
			over := (e + none) / (grid + none)
			r.Grid, r.OverGrid, r.Worst = r.Grid+grid*one, r.OverGrid+math.Log(over)*one, max(r.Worst, over)
			r.OverBest += math.Log((e+none)/(best+none)) * one
			r.Said += found.Value / e * one
		}
	}
	for k := range rows {
		rows[k].OverGrid, rows[k].OverBest = math.Exp(rows[k].OverGrid), math.Exp(rows[k].OverBest)
	}
	return rows
}

// errorsOfGrid has the error on new rows of the cell that is best by 5-fold cross-validation, all folds
// trained, and the least error there.
func errorsOfGrid(ctx context.Context, open model.Spec, fresh *dataset.Set) (chosen, best float64) {
	least, test := math.Inf(1), model.DefaultTest(open.Set)
	best = least
	for _, gamma := range []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10} {
		for k := range 6 {
			spec := open
			spec.Kernel.Gamma = gamma / float64(open.Set.D())
			share := []float64{0.001, 0.01, 0.03, 0.1, 0.3, 1}[k]
			spec.Loss = loss.Square{Noise: share * stat.PopVariance(open.Set.Targets(0), nil)}
			if !open.Set.AreNumbers() {
				spec.Loss = loss.Hinge{C: []float64{0.1, 1, 10, 100, 1000, 1e4}[k]}
			}
			folds := resample.KFold{Folds: 5, N: open.Set.N()}
			r, err := model.Retrain(ctx, steps.Must(model.Build(ctx, spec)), model.Single, folds,
				model.RetrainSettings{Settings: fits.Settings{Resamples: 5, Tests: []loss.Test{test}}})
			if steps.Check(ctx.Err()); err != nil { // a cell that cannot be trained
				continue
			}
			e := errorOn(ctx, spec, fresh)
			if best = min(best, e); r.Tests[0].Error < least {
				least, chosen = r.Tests[0].Error, e
			}
		}
	}
	return chosen, best
}

// errorOn is the error of a model, trained on all of its rows, on new ones.
func errorOn(ctx context.Context, spec model.Spec, fresh *dataset.Set) float64 {
	m := steps.Must(model.Build(ctx, spec))
	fit := steps.Must(m.Fit(ctx, 0))
	f := steps.Must(steps.Must(m.Predictor(&fit.Result)).Predict(fresh))
	test, sum := model.DefaultTest(spec.Set), 0.0
	for i, y := range fresh.Targets(0) {
		sum += test.Value(f[i], y)
	}
	return sum / float64(fresh.N())
}
