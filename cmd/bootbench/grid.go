package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/resample"
	"bootbench/solver"
)

// gridNames are the flags that a grid may run over.
func gridNames() []string {
	return append([]string{"ratio", "kernel", "gamma", "length-scale", "degree", "coef0", "amplitude",
		"constant", "jitter"}, lossFlagNames[1:]...)
}

func gridCommand(a *app) *cobra.Command {
	g := gridFlags{theoryFlags: theoryFlags{test: testFlags{noPoints: true}}, by: tune.LeftOut.String()}
	cmd := &cobra.Command{
		Use:   "grid DATA --over NAME=VALUES",
		Short: "The estimate over a grid of parameters, and the best of them",
		Long: `grid computes the estimate of DATA for every combination of values of one
parameter or several, and names the cell with the least left-out error, or value of
--by. Cells are printed as they are finished; one that fails is told and does not
end the others. Only cells that have converged can be the best.

Cells are then told apart from the best: the difference of their left-out errors, paired
over examples (and over the same resamples with --refine), with interval and p-value.

The least error of many is lower than what its model will do on new data.`,
		Example: `  bootbench grid crabs --loss hinge --over C=0.1,1,10 --over gamma=0.02:0.5:3 --json crabs.json
  bootbench grid houses.csv --loss square --over noise=0.1:10:4 --over kernel=rbf,matern32 --json grid.json
  bootbench grid crabs --loss hinge --over C=0.1:10:3 --shard 0/2 --journal cells
  bootbench grid crabs --loss hinge --over C=0.1:10:3 --shard 1/2 --journal cells`,
		Args: oneData,
		RunE: func(cmd *cobra.Command, args []string) error {
			grid, err := readGrid(a, cmd.Flags(), &g, args[0])
			if err != nil {
				return err
			}
			if err := a.openJournal(cmd, args, choice{}); err != nil {
				return err
			}
			return runGrid(a, grid)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&g.over, "over", nil,
		"values of a flag, `NAME=VALUES` with a list (gamma=0.1,0.2) or FROM:TO:COUNT in equal factors, to "+
			"six digits (noise=0.01:10:5), again for further flags; NAME "+
			"is "+strings.Join(gridNames(), ", ")+"; required")
	registerBy(f, &g.by)
	g.register(a, cmd, refineNone)
	g.scheme.register(f)
	registerOut(cmd, "grid.csv")
	return cmd
}

// gridFlags are those of grid.
type gridFlags struct {
	theoryFlags
	over []string
	by   string
}

// grid is what the command is to compute.
type grid struct {
	plan
	by    tune.By
	axes  []report.GridAxis
	cells []gridCell
}

// readGrid reads DATA, and a model of it for every cell.
func readGrid(a *app, f *pflag.FlagSet, flags *gridFlags, path string) (g *grid, err error) {
	g = &grid{}
	if g.plan, err = flags.plan(); err != nil {
		return nil, err
	}
	if g.axes, err = gridAxes(f, flags.over); err != nil {
		return nil, err
	}
	set, err := loadData(a, &flags.model, path)
	if err != nil {
		return nil, err
	}
	if g.by, err = byName(flags.by); err != nil {
		return nil, err
	}
	for _, values := range combinations(g.axes) {
		c, err := flags.theoryFlags.cell(g.axes, values, set)
		if err != nil {
			return nil, err
		}
		g.cells = append(g.cells, *c)
	}
	return g, nil
}

// gridCell is a model and a scheme at a value of every axis.
type gridCell struct {
	values  []string
	problem *problem
	scheme  resample.Scheme
}

// mostCells bounds a grid.
const mostCells = 100000

// gridAxes reads the values of --over.
func gridAxes(f *pflag.FlagSet, over []string) ([]report.GridAxis, error) {
	if len(over) == 0 {
		return nil, usage.Errorf("--over is required: NAME=VALUES, such as gamma=0.1,0.2")
	}
	var axes []report.GridAxis
	cells := 1
	for _, text := range over {
		name, list, ok := strings.Cut(text, "=")
		if !ok || list == "" {
			return nil, usage.Errorf("--over %q is not NAME=VALUES", text)
		}
		if err := usage.OneOf("over", name, gridNames()...); err != nil {
			return nil, err
		}
		if f.Changed(name) {
			return nil, usage.Errorf("--%s and --over %s cannot both be given", name, name)
		}
		if slices.ContainsFunc(axes, func(a report.GridAxis) bool { return a.Name == name }) {
			return nil, usage.Errorf("--over %s is given twice", name)
		}
		values, err := gridValues(list)
		if err != nil {
			return nil, usage.Errorf("--over %s: %w", name, err)
		}
		if cells *= len(values); cells > mostCells {
			return nil, usage.Errorf("--over: more than %d combinations", mostCells)
		}
		axes = append(axes, report.GridAxis{Name: name, Values: values})
	}
	return axes, nil
}

// gridValues reads "a:b:count" or a list "a,b,c" as texts for a flag.
func gridValues(text string) ([]string, error) {
	if !strings.Contains(text, ":") {
		values := strings.Split(text, ",")
		seen := map[string]bool{"": true}
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
			if seen[values[i]] {
				return nil, fmt.Errorf("%q holds a value twice or none", text)
			}
			seen[values[i]] = true
		}
		return values, nil
	}
	steps, err := values.Ratios(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither FROM:TO:COUNT, numbers above 0, nor a list", text)
	}
	var values []string
	for _, v := range steps {
		value := strconv.FormatFloat(v, 'g', 6, 64)
		if len(values) > 0 && value == values[len(values)-1] { // they rise or fall: what repeats is side by side
			return nil, fmt.Errorf("%q holds %s twice, to six digits", text, value)
		}
		values = append(values, value)
	}
	return values, nil
}

// combinations are those of a value of every axis, the last axis fastest.
func combinations(axes []report.GridAxis) [][]string {
	all := [][]string{nil}
	for _, a := range axes {
		var next [][]string
		for _, values := range all {
			for _, v := range a.Values {
				next = append(next, append(slices.Clone(values), v))
			}
		}
		all = next
	}
	return all
}

// cell is the model and the scheme of the flags with a value for every axis.
func (t theoryFlags) cell(axes []report.GridAxis, values []string, set *dataset.Set) (c *gridCell,
	err error) {
	c = &gridCell{values: values}
	for k, a := range axes {
		if a.Name == "ratio" {
			t.scheme.ratio, err = strconv.ParseFloat(values[k], 64)
			t.scheme.over = []string{a.Name}
		} else {
			err = t.model.set(a.Name, values[k])
		}
		if err != nil {
			return nil, usage.Errorf("--over %s: %w", a.Name, err)
		}
	}
	if c.problem, err = newProblem(&t.model, &t.test, set); err != nil {
		return nil, err
	}
	if err := t.scheme.check(t.scheme.ratio); err != nil {
		return nil, err
	}
	c.scheme, err = t.scheme.of(t.scheme.ratio, set.N())
	return c, err
}

// runGrid solves in every cell.
func runGrid(a *app, g *grid) error {
	set := g.cells[0].problem.spec.Set
	doc := &report.Grid{
		Command: "grid", Data: set.Name, N: set.N(), D: set.D(), Task: set.Task.String(),
		TestLoss: g.cells[0].problem.test.Name(), By: g.by.String(), Over: g.axes, Warnings: []string{},
	}
	under := "grid by " + g.by.String() + " "
	var tasks []bench.Task[report.GridCell]
	for i := range g.cells {
		c := &g.cells[i]
		name := (&report.GridCell{Values: c.values}).Name(g.axes)
		tasks = append(tasks, task(name+" of "+set.Name,
			under+name+": "+g.at(c.scheme).estimateKey(&c.problem.spec),
			func() (report.GridCell, error) { return estimateCell(a, g, i) }))
	}
	return runRows(a, rowRun[report.GridCell]{
		tasks: tasks, document: doc, csv: "grid.csv",
		record: func(c *report.GridCell) any { // the errors of the examples are in no document
			return &struct {
				Cell     *report.GridCell
				Examples **calibration.Errors
			}{c, &c.Examples}
		},
		finish: func(cells []report.GridCell, complete bool) (any, []string) {
			doc.Results, doc.Status = cells, completeness(complete)
			compareCells(doc)
			sumUpGrid(a, doc)
			return doc, doc.Warnings
		},
	})
}

// differenceLevel is the level of the intervals of differences.
const differenceLevel = 0.95

// compareCells finds the best cell among those that have converged, the first of equals, and compares the
// left-out errors of the others with its own.
func compareCells(g *report.Grid) {
	for i := range g.Results {
		if v := g.Results[i].Value(); v == v && (g.Best == nil || v < g.Results[*g.Best].Value()) {
			g.Best = &i
		}
	}
	if g.Best == nil || g.Results[*g.Best].Examples == nil {
		return
	}
	for i := range g.Results {
		if c := &g.Results[i]; i != *g.Best && c.Examples != nil {
			c.Difference = calibration.Compare(*c.Examples, *g.Results[*g.Best].Examples, differenceLevel)
		}
	}
}

// estimateCell is the answer of a cell. A failure is one, unless it is the whole grid's
// or may be mended on another day.
func estimateCell(a *app, g *grid, number int) (report.GridCell, error) {
	c := &g.cells[number]
	cell := report.GridCell{Values: c.values}
	label := fmt.Sprintf("%s, %d of %d", cell.Name(g.axes), number+1, len(g.cells))
	estimate, objective, err := solveCell(a, g, c, label)
	later := a.isInterrupt(err) || errors.Is(err, linalg.ErrMemory) && a.tasks.Journal != nil
	if later || number == 0 && errors.Is(err, model.ErrInput) {
		return cell, err
	}
	if err != nil {
		cell.Failure = oneLine(err.Error())
		return cell, nil
	}
	examples := estimate.Examples
	if cell.Estimate, estimate.Examples = estimate, (calibration.Errors{}); !floats.HasNaN(examples.Each) &&
		len(examples.Each) > 1 {
		cell.Examples = &examples
	}
	if g.by != tune.LeftOut {
		cell.Objective = null.Of(objective)
	}
	return cell, nil
}

// solveCell builds the model of a cell and solves, and computes the objective.
func solveCell(a *app, g *grid, c *gridCell, label string) (*report.Estimate, float64, error) {
	defer debug.FreeOSMemory() // what the machine has left bounds the next cell's matrices
	j, err := buildJob(a, c.problem)
	if err != nil {
		return nil, 0, err
	}
	if _, err := fitAll(a, j); err != nil {
		return nil, 0, err
	}
	estimate, solution, err := estimateAt(a, j, g.at(c.scheme), label)
	if err == nil && solution.Status == solver.Cancelled {
		err = a.ctx.Err() // half a solve is none to keep
	}
	if err != nil {
		return nil, 0, err
	}
	objective := float64(estimate.TestError)
	switch g.by {
	case tune.Plus632:
		objective, err = solution.Objective(solver.Objective{Criterion: solver.Err632Plus, Test: c.problem.test})
	case tune.LeaveOneOut, tune.Evidence:
		objective, err = tune.Value(a.ctx, tune.Problem{Spec: c.problem.spec, By: g.by, Test: c.problem.test},
			g.settings.Tolerance)
	}
	return estimate, objective, err
}

// sumUpGrid gathers the warnings and the cost of all cells, and notes in the exit status
// those that failed or did not converge.
func sumUpGrid(a *app, g *report.Grid) {
	var times report.Times
	for i := range g.Results {
		c := &g.Results[i]
		if c.Estimate == nil {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%s: failed: %s", c.Name(g.Over), c.Failure))
			a.status = exitFailed
			continue
		}
		a.notConverged(c.Estimate.Status)
		times.Gram += c.Estimate.Time.Gram
		times.Fit += c.Estimate.Time.Fit
		times.Solve += c.Estimate.Time.Solve
		for _, text := range c.Estimate.Warnings {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%s: %s", c.Name(g.Over), text))
		}
	}
	g.Cost = a.cost(times)
}
