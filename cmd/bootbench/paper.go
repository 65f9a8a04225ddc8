package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/bench/paper"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/report"
	"bootbench/solver"
)

// paperFigure is one of the figures, or the tables of times.
type paperFigure struct {
	id  string
	run func(p *paperRun) ([]*report.Figure, error)
}

// paperFigures are all of them, in the order of the papers.
func paperFigures() []paperFigure {
	return []paperFigure{
		{"m03-1-left", (*paperRun).regression}, {"m03-1-right", (*paperRun).robust}, {"m03-2", (*paperRun).moments},
		{"m03-3-5", (*paperRun).laws}, {"m04-1-left", (*paperRun).classification},
		{"m04-1-right", (*paperRun).fields},
		{"times", (*paperRun).times},
	}
}

func paperIDs() []string {
	var ids []string
	for _, f := range paperFigures() {
		ids = append(ids, f.id)
	}
	return ids
}

// paperRun is the command under way.
type paperRun struct {
	*app
	settings paper.Settings
	robot    *dataset.Set // of --pumadyn; nil: none
	tables   report.PaperTables
	warnings []string
	doc      any // of what is finished
}

func paperCommand(a *app) *cobra.Command {
	var only []string
	var pumadyn string
	p := &paperRun{app: a}
	cmd := &cobra.Command{
		Use:   "paper",
		Short: "The figures of Malzahn and Opper 2003 and 2004, computed anew",
		Long: `paper computes what the figures of both papers show, theory beside retraining,
and writes them into a folder: report.html, every figure as SVG and PNG, its
numbers as CSV.

Retraining runs in blocks. Finished blocks are kept in DIR/parts and used again
by the next run into the same folder: one that was stopped goes on, and one with
more resamples draws the missing ones only.`,
		Example: `  bootbench paper --figure m03-2 --resamples 100 --out figures`,
		Args:    noArguments,
	}
	f := cmd.Flags()
	f.StringSliceVar(&only, "figure", nil, "compute only these, `ID,ID,...` of "+strings.Join(paperIDs(),
		", ")+"; default: all")
	f.IntVar(&p.settings.Resamples, "resamples", paper.DefaultResamples,
		fmt.Sprintf("retrainings per point of a learning curve, `R` from 1 to 1e6, in blocks of 100; moments and laws take %d times as many", paper.MomentsFactor))
	f.Uint64Var(&p.settings.Seed, "seed", 0, "seed `N` of the resamples; default 0")
	f.IntVar(&p.settings.Workers, "workers", 0,
		"retrainings at a time, `W` at least 1; default: one for each processor")
	f.StringVar(&pumadyn, "pumadyn", "",
		"CSV `FILE` of the robot arm data pumadyn-8nm (8 features, the target last) for M03 figure 1, right; default: that curve is left out")
	f.String("out", "paper", "folder `DIR` to write into, made if it is not there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		figures, err := p.chosen(only)
		if err != nil {
			return err
		}
		if pumadyn != "" {
			if p.robot, err = a.readData(pumadyn, dataset.Options{}); err != nil {
				return err
			}
		}
		return p.run(figures)
	}
	return cmd
}

// chosen are the figures that were asked for.
func (p *paperRun) chosen(only []string) ([]paperFigure, error) {
	if p.settings.Resamples < 1 {
		return nil, usage.Errorf("--resamples is %d, must be at least 1", p.settings.Resamples)
	}
	if most := 1000000; p.settings.Resamples > most {
		return nil, usage.Errorf("--resamples is %d, must be at most %d", p.settings.Resamples, most)
	}
	if p.settings.Workers < 0 {
		return nil, usage.Errorf("--workers is %d, must be at least 1", p.settings.Workers)
	}
	for _, id := range only {
		if err := usage.OneOf("figure", id, paperIDs()...); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(paperFigures(), func(f paperFigure) bool {
		return len(only) > 0 && !slices.Contains(only, f.id)
	}), nil
}

// run computes the figures one by one and writes the page after each, so that
// what was finished stays.
func (p *paperRun) run(figures []paperFigure) error {
	if err := p.compute(figures); err != nil {
		return err
	}
	if p.doc != nil {
		if err := p.document(p.doc); err != nil {
			return err
		}
	}
	if err := p.text(func(w io.Writer) error { return report.WriteText(w, &p.tables) }); err != nil {
		return err
	}
	p.console.Warn(p.warnings...)
	return nil
}

// compute computes the figures one by one, those that have all their blocks, until
// it is interrupted.
func (p *paperRun) compute(figures []paperFigure) error {
	var done []*report.Figure
	for i, f := range figures {
		p.settings.Progress = func(part string, at, total int) {
			p.console.Progress(fmt.Sprintf("%s, %d of %d: %s", f.id, i+1, len(figures), part), at, total)
		}
		made, err := f.run(p)
		switch {
		case errors.Is(err, paper.ErrElsewhere):
			continue
		case p.isInterrupt(err):
			p.interrupted()
			return nil
		case err != nil:
			return err
		}
		done = append(done, made...)
		if err := p.write(done); err != nil {
			return err
		}
		if err := p.text(func(w io.Writer) error { return printFigures(w, f.id, made) }); err != nil {
			return err
		}
	}
	return nil
}

func printFigures(w io.Writer, id string, made []*report.Figure) error {
	for _, f := range made {
		if _, err := fmt.Fprintf(w, "%-12s %s.svg\n%-12s %s\n", id, f.Name, "", f.Caption); err != nil {
			return err
		}
	}
	return nil
}

// write writes the page of what is finished.
func (p *paperRun) write(done []*report.Figure) error {
	type entry struct {
		Name    string `json:"name"`
		Caption string `json:"caption"`
	}
	doc := struct {
		Command     string                 `json:"command"`
		Resamples   int                    `json:"resamples"`
		Seed        uint64                 `json:"seed"`
		Figures     []entry                `json:"figures"`
		Times       []bench.CompareRow     `json:"times,omitempty"`
		LeaveOneOut []paper.LeaveOneOutRow `json:"leave_one_out,omitempty"`
		Warnings    []string               `json:"warnings"`
	}{"paper", p.settings.Resamples, p.settings.Seed, nil, p.tables.Timing, p.tables.LeaveOneOut,
		append([]string{}, p.warnings...)}
	for _, f := range done {
		doc.Figures = append(doc.Figures, entry{f.Name, f.Caption})
	}
	p.doc = doc
	if err := p.file("result.json", func(w io.Writer) error { return report.WriteJSON(w, doc) }); err != nil {
		return err
	}
	return p.page(&report.Page{Title: p.tables.Title(), Answers: []report.Document{&p.tables}, Figures: done,
		Warnings: p.warnings})
}

// oneFigure draws what was computed, unless that failed.
func oneFigure[T any](draw func(T) *report.Figure, computed T, err error) ([]*report.Figure, error) {
	if err != nil {
		return nil, err
	}
	return []*report.Figure{draw(computed)}, nil
}

func (p *paperRun) regression() ([]*report.Figure, error) {
	spec, err := paper.Boston()
	if err != nil {
		return nil, err
	}
	methods := []solver.Method{solver.ADATAP, solver.StartOnly, solver.Variational, solver.MeanField}
	c, err := paper.RegressionCurves(p.ctx, spec, loss.SquareTest{}, methods, p.settings)
	return oneFigure(report.RegressionFigure, c, err)
}

func (p *paperRun) robust() ([]*report.Figure, error) {
	boston, err := paper.Boston()
	if err != nil {
		return nil, err
	}
	test, err := loss.TestByName("smooth-eps")
	if err != nil {
		return nil, err
	}
	specs := []model.Spec{boston}
	if p.robot == nil {
		p.warnings = append(p.warnings, "M03 figure 1, right, lacks the robot arm: --pumadyn names its file")
	} else {
		robot, err := paper.Robot(p.robot)
		if err != nil {
			return nil, err
		}
		specs = append(specs, robot)
	}
	var curves []*paper.Curve
	for _, spec := range specs {
		c, err := paper.RegressionCurves(p.ctx, spec, test, []solver.Method{solver.ADATAP}, p.settings)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return []*report.Figure{report.RobustFigure(curves)}, nil
}

func (p *paperRun) moments() ([]*report.Figure, error) {
	m, err := paper.HeldOut(p.ctx, p.settings)
	return oneFigure(report.MomentsFigure, m, err)
}

func (p *paperRun) laws() (figures []*report.Figure, err error) {
	if p.tables.Laws, err = paper.BostonDensities(p.ctx, p.settings); err != nil {
		return nil, err
	}
	return append(report.DensityFigures(p.tables.Laws), report.DistanceFigure(p.tables.Laws)), nil
}

func (p *paperRun) classification() ([]*report.Figure, error) {
	curves, err := paper.ClassificationCurves(p.ctx, p.settings)
	return oneFigure(report.ClassificationFigure, curves, err)
}

func (p *paperRun) fields() ([]*report.Figure, error) {
	f, err := paper.SonarFields(p.ctx, p.settings)
	return oneFigure(report.FieldFigure, f, err)
}

// times fills the tables of times; there is no figure.
func (p *paperRun) times() ([]*report.Figure, error) {
	const resamples = 20 // their errors are not in the table
	cases, err := bench.DefaultCases([]int{250, 500, 1000})
	if err != nil {
		return nil, err
	}
	p.tables.Timing, err = bench.Compare(p.ctx, cases, bench.Settings{
		Resamples: resamples, Seed: p.settings.Seed, Workers: p.settings.Workers,
		Progress: func(at bench.Progress) {
			p.settings.Progress(fmt.Sprintf("%s, n = %d: %s", at.Data, at.N, at.Phase), at.Row, at.Rows)
		},
	}, nil)
	if err != nil {
		return nil, err
	}
	p.tables.LeaveOneOut, err = paper.LeaveOneOutTable(p.ctx, p.settings)
	return nil, err
}
