package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/resample"
	"bootbench/solver"
)

// gridNames are the flags that a grid may run over.
func gridNames() []string {
	return append([]string{"ratio", "kernel", "gamma", "length-scale", "degree", "coef0", "amplitude", "constant", "jitter"}, lossFlagNames[1:]...)
}

func gridCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var v solverFlags
	t := testFlags{noPoints: true}
	var over []string
	cmd := &cobra.Command{
		Use:   "grid DATA --over NAME=VALUES",
		Short: "The estimate over a grid of parameters, and the best of them",
		Long: `grid computes the estimate of DATA for every combination of values of one
parameter or several, and names the cell with the least left-out error. Cells are
printed as they are finished; one that fails is told and does not end the others.
Only cells that have converged can be the best.

The least error of many is lower than what its model will do on new data.`,
		Example: `  bootbench grid crabs --loss hinge --over C=0.1,1,10 --over gamma=0.02:0.5:3
  bootbench grid houses.csv --loss square --over noise=0.1:10:4 --over kernel=rbf,matern32 --json grid.json
  bootbench grid crabs --loss hinge --over C=0.1:10:3 --shard 0/2 --out study
  bootbench grid crabs --loss hinge --over C=0.1:10:3 --shard 1/2 --out study`,
		Args: oneData,
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVar(&over, "over", nil, "values of a flag, `NAME=VALUES` with a list (gamma=0.1,0.2) or FROM:TO:COUNT in equal factors, to six digits (noise=0.01:10:5), again for further flags; NAME is "+strings.Join(gridNames(), ", ")+"; required")
	m.register(f)
	r.register(f)
	t.registerTest(f)
	v.register(f)
	m.registerEngine(f)
	s.registerOut(cmd, "grid.csv")
	s.study.register(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := v.settings()
		if err != nil {
			return err
		}
		axes, err := gridAxes(f, over)
		if err != nil {
			return err
		}
		set, err := m.load(s, args[0])
		if err != nil {
			return err
		}
		g := &grid{settings: settings, tests: &t, axes: axes}
		if g.test, err = t.of(set); err != nil {
			return err
		}
		g.cells, err = gridCells(f, axes, func(c *gridCell) error {
			if c.spec, c.source, err = m.spec(set); err != nil {
				return err
			}
			c.used = m.used
			if err := r.check(r.ratio); err != nil {
				return err
			}
			c.scheme, err = r.of(r.ratio, set.N())
			return err
		})
		if err != nil {
			return err
		}
		if err := s.split(); err != nil {
			return err
		}
		return s.grid(g)
	}
	return cmd
}

// grid is what the command is to compute.
type grid struct {
	axes     []report.GridAxis
	cells    []gridCell
	settings solver.Settings
	tests    *testFlags
	test     loss.Test
}

// gridCell is a model and a scheme at a value of every axis.
type gridCell struct {
	values []string
	spec   model.Spec
	used   loss.Parameters
	source string
	scheme resample.Scheme
}

// mostCells bounds a grid.
const mostCells = 100000

// gridAxes reads the values of --over.
func gridAxes(f *pflag.FlagSet, over []string) ([]report.GridAxis, error) {
	if len(over) == 0 {
		return nil, usagef("--over is required: NAME=VALUES, such as gamma=0.1,0.2")
	}
	var axes []report.GridAxis
	cells := 1
	for _, text := range over {
		name, list, ok := strings.Cut(text, "=")
		if !ok || list == "" {
			return nil, usagef("--over %q is not NAME=VALUES", text)
		}
		if err := oneOf("over", name, gridNames()...); err != nil {
			return nil, err
		}
		if f.Changed(name) {
			return nil, usagef("--%s and --over %s cannot both be given", name, name)
		}
		if slices.ContainsFunc(axes, func(a report.GridAxis) bool { return a.Name == name }) {
			return nil, usagef("--over %s is given twice", name)
		}
		values, err := gridValues(list)
		if err != nil {
			return nil, usagef("--over %s: %w", name, err)
		}
		if cells *= len(values); cells > mostCells {
			return nil, usagef("--over: more than %d combinations", mostCells)
		}
		axes = append(axes, report.GridAxis{Name: name, Values: values})
	}
	return axes, nil
}

// gridValues reads "a:b:count" or a list "a,b,c" as texts for a flag.
func gridValues(text string) ([]string, error) {
	if !strings.Contains(text, ":") {
		values := strings.Split(text, ",")
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
			if values[i] == "" || slices.Contains(values[:i], values[i]) {
				return nil, fmt.Errorf("%q holds a value twice or none", text)
			}
		}
		return values, nil
	}
	steps, err := ratios(text)
	if err != nil {
		return nil, fmt.Errorf("%q is neither FROM:TO:COUNT, numbers above 0, nor a list", text)
	}
	var values []string
	for _, v := range steps {
		value := strconv.FormatFloat(v, 'g', 6, 64)
		if slices.Contains(values, value) {
			return nil, fmt.Errorf("%q holds %s twice, to six digits", text, value)
		}
		values = append(values, value)
	}
	return values, nil
}

// gridCells sets the flags to every combination of values, the last axis
// fastest, and lets read make a cell of them. All are read before the first is
// computed.
func gridCells(f *pflag.FlagSet, axes []report.GridAxis, read func(*gridCell) error) ([]gridCell, error) {
	cells := []gridCell{{}}
	for _, a := range axes {
		var next []gridCell
		for _, c := range cells {
			for _, v := range a.Values {
				next = append(next, gridCell{values: append(slices.Clone(c.values), v)})
			}
		}
		cells = next
	}
	for i := range cells {
		for k, a := range axes {
			if err := setFlag(f, a.Name, cells[i].values[k]); err != nil {
				return nil, usagef("--over %s: %w", a.Name, err)
			}
		}
		if err := read(&cells[i]); err != nil {
			return nil, err
		}
	}
	return cells, nil
}

// setFlag sets a flag, in the place of what it was set to before.
func setFlag(f *pflag.FlagSet, name, value string) error {
	if list, ok := f.Lookup(name).Value.(pflag.SliceValue); ok && f.Changed(name) {
		return list.Replace([]string{value})
	}
	return f.Set(name, value)
}

// grid solves in every cell, prints each as it is finished, and writes all.
func (s *session) grid(g *grid) error {
	set := g.cells[0].spec.Set
	answer := &report.Grid{
		Command: "grid", Data: set.Name, N: set.N(), D: set.D(), Task: set.Task.String(),
		TestLoss: g.test.Name(), Over: g.axes, Status: "complete", Warnings: []string{},
	}
	var table *report.StreamTable[report.GridCell]
	for i := range g.cells {
		cell, err := s.gridCell(g, i)
		if s.isInterrupt(err) || s.status == exitInterrupted {
			answer.Status = "cancelled"
			break
		}
		if err != nil {
			return err
		}
		if cell == nil {
			continue
		}
		answer.Results = append(answer.Results, *cell)
		err = s.text(func(w io.Writer) (err error) {
			if table == nil {
				if table, err = report.NewStreamTable(w, answer); err != nil {
					return err
				}
			}
			return table.Row(*cell)
		})
		if err != nil {
			return err
		}
	}
	if answer.Status == "complete" && s.study.partial() {
		return s.told()
	}
	if err := s.study.complete(); err != nil {
		return err
	}
	if len(answer.Results) == 0 {
		return s.ctx.Err()
	}
	return s.endGrid(answer, table)
}

// gridCell is the answer of a cell, nil where it is another process's.
func (s *session) gridCell(g *grid, number int) (*report.GridCell, error) {
	c := &g.cells[number]
	cell := &report.GridCell{}
	name := (&report.GridCell{Values: c.values}).Name(g.axes)
	label := fmt.Sprintf("%s, %d of %d", name, number+1, len(g.cells))
	filled, err := s.study.Do(number, name+" of "+solveKey(&c.spec, c.scheme, g.settings, g.tests), cell, func() error {
		*cell = report.GridCell{Values: c.values}
		estimate, err := s.solveCell(g, c, label)
		later := s.isInterrupt(err) || errors.Is(err, linalg.ErrMemory) && s.study.store != nil
		if later || number == 0 && errors.Is(err, model.ErrInput) {
			return err // on another machine or another day it may work; or no cell will
		}
		if err != nil {
			cell.Failure = oneLine(err.Error())
			return nil
		}
		cell.Estimate = estimate
		return nil
	})
	if err != nil || !filled {
		return nil, err
	}
	return cell, nil
}

// solveCell builds the model of a cell and solves.
func (s *session) solveCell(g *grid, c *gridCell, label string) (*report.Estimate, error) {
	defer debug.FreeOSMemory() // what the machine has left bounds the next cell's matrices
	sub, err := s.build(c.spec, g.test)
	if err != nil {
		return nil, err
	}
	sub.report = subjectReport(sub.Model, c.used, c.source)
	fitted, err := s.fit(sub)
	if err != nil {
		return nil, err
	}
	estimate, solution, err := s.estimateAt(sub, c.scheme, g.settings, fitted, label, g.tests)
	if err == nil && solution.Status == solver.Cancelled {
		err = s.ctx.Err() // half a solve is none to keep
	}
	return estimate, err
}

// endGrid prints and writes what was finished.
func (s *session) endGrid(g *report.Grid, table *report.StreamTable[report.GridCell]) error {
	g.FindBest()
	var times report.Times
	for i := range g.Results {
		c := &g.Results[i]
		if c.Estimate == nil {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%s: failed: %s", c.Name(g.Over), c.Failure))
			s.status = exitFailed
			continue
		}
		if c.Estimate.Status != solver.Converged.String() && s.status == exitDone {
			s.status = exitNotConverged
		}
		times.Gram += c.Estimate.Time.Gram
		times.Fit += c.Estimate.Time.Fit
		times.Solve += c.Estimate.Time.Solve
		for _, text := range c.Estimate.Warnings {
			g.Warnings = append(g.Warnings, fmt.Sprintf("%s: %s", c.Name(g.Over), text))
		}
	}
	g.Cost = s.cost(times)
	if err := s.text(func(io.Writer) error { return table.End() }); err != nil {
		return err
	}
	if err := s.document(g); err != nil {
		return err
	}
	if err := s.file("grid.csv", g.WriteCSV); err != nil {
		return err
	}
	err := s.page(&report.Page{Lead: g.Lead(), Answers: []report.Document{g}, Warnings: g.Warnings, Files: []string{"grid.csv"}})
	if err != nil {
		return err
	}
	s.warn(g.Warnings)
	if g.Status == "cancelled" {
		s.interrupted()
	}
	return nil
}
