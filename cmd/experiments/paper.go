package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/paper"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

// paperRun is a run of the study paper.
type paperRun struct {
	ctx      context.Context
	settings paper.Settings
	pumadyn  string // CSV of the robot arm
	out      *output
}

// paperFigures are the figures, in the order of the papers.
var paperFigures = []struct {
	id  string
	run func(p *paperRun) ([]*report.Figure, error)
}{
	{"m03-1-left", (*paperRun).regression}, {"m03-1-right", (*paperRun).robust}, {"m03-2", (*paperRun).moments},
	{"m03-3-5", (*paperRun).laws}, {"m04-1-left", (*paperRun).classification},
	{"m04-1-right", (*paperRun).fields},
}

// paperStudy computes what the figures of both papers show, theory beside retraining.
func paperStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	p := &paperRun{}
	var ids []string
	for _, figure := range paperFigures {
		ids = append(ids, figure.id)
	}
	only := f.String("figure", "", "only these `ids`, of "+strings.Join(ids, ",")+"; default: all")
	f.IntVar(&p.settings.Resamples, "resamples", paper.DefaultResamples, fmt.Sprintf(
		"retrainings per point of a learning curve; moments and laws take %d times as many", paper.MomentsFactor))
	f.Uint64Var(&p.settings.Seed, "seed", 0, "of the resamples")
	f.IntVar(&p.settings.Workers, "workers", 0, "retrainings at a time; default: one for each processor")
	f.StringVar(&p.pumadyn, "pumadyn", "",
		"CSV `file` of the robot arm, pumadyn-8nm; default: its curve is left out")
	return func(ctx context.Context, _ []string, o *output) error {
		p.ctx, p.out = ctx, o
		chosen := ids
		if *only != "" {
			chosen = strings.Split(*only, ",")
		}
		for _, id := range chosen {
			k := slices.Index(ids, id)
			if k < 0 {
				return fmt.Errorf("-figure %s: there are %s", id, strings.Join(ids, ", "))
			}
			figures, err := paperFigures[k].run(p)
			if err != nil {
				return err
			}
			if err := o.figures(figures...); err != nil {
				return err
			}
		}
		return nil
	}
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
	c, err := paper.LearningCurve(p.ctx, spec, loss.SquareTest{}, methods, p.settings)
	return oneFigure(regressionFigure, c, err)
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
	if p.pumadyn != "" {
		set, err := dataset.Load(p.pumadyn, dataset.Options{})
		if err != nil {
			return nil, err
		}
		robot, err := paper.Robot(set)
		if err != nil {
			return nil, err
		}
		specs = append(specs, robot)
	}
	var curves []*paper.Curve
	for _, spec := range specs {
		c, err := paper.LearningCurve(p.ctx, spec, test, []solver.Method{solver.ADATAP}, p.settings)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return []*report.Figure{robustFigure(curves)}, nil
}

func (p *paperRun) moments() ([]*report.Figure, error) {
	m, err := paper.HeldOut(p.ctx, p.settings)
	return oneFigure(momentsFigure, m, err)
}

func (p *paperRun) laws() ([]*report.Figure, error) {
	laws, err := paper.BostonDensities(p.ctx, p.settings)
	if err != nil {
		return nil, err
	}
	return append(densityFigures(laws), distanceFigure(laws)), nil
}

func (p *paperRun) classification() ([]*report.Figure, error) {
	curves, err := paper.ClassificationCurves(p.ctx, p.settings)
	return oneFigure(classificationFigure, curves, err)
}

func (p *paperRun) fields() ([]*report.Figure, error) {
	f, err := paper.SonarFields(p.ctx, p.settings)
	return oneFigure(fieldFigure, f, err)
}
