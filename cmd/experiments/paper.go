package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
)

// paperRun computes what the figures of Malzahn and Opper 2003 ([M03]) and Malzahn and Opper 2004 ([M04])
// show, from the data and models that they name: the theory beside retraining.
type paperRun struct {
	resamples int // retrainings per point of a learning curve; moments and laws take momentsFactor times as many
	seed      uint64
	workers   int
	pumadyn   string // CSV of the robot arm
}

// momentsFactor times the default resamples are twice M03's 5000.
const momentsFactor = 10

// paperFigures are the figures, in the order of the papers.
var paperFigures = []struct {
	id  string
	run func(*paperRun, context.Context) ([]*report.Figure, error)
}{
	{"m03-1-left", (*paperRun).regression}, {"m03-1-right", (*paperRun).robust}, {"m03-2", (*paperRun).moments},
	{"m03-3-5", (*paperRun).laws}, {"m04-1-left", (*paperRun).classification},
	{"m04-1-right", (*paperRun).fields},
}

// paperStudy draws the figures of both papers.
func paperStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	p := &paperRun{}
	var ids []string
	for _, figure := range paperFigures {
		ids = append(ids, figure.id)
	}
	only := f.String("figure", "", "only these `ids`, of "+strings.Join(ids, ",")+"; default: all")
	f.IntVar(&p.resamples, "resamples", 1000, fmt.Sprintf(
		"retrainings per point of a learning curve; moments and laws take %d times as many", momentsFactor))
	f.Uint64Var(&p.seed, "seed", 0, "of the resamples")
	f.IntVar(&p.workers, "workers", 0, "retrainings at a time; default: one for each processor")
	f.StringVar(&p.pumadyn, "pumadyn", "",
		"CSV `file` of the robot arm, pumadyn-8nm; default: its curve is left out")
	return func(ctx context.Context, _ []string, o *output) error {
		chosen := ids
		if *only != "" {
			chosen = strings.Split(*only, ",")
		}
		for _, id := range chosen {
			k := slices.Index(ids, id)
			if k < 0 {
				return fmt.Errorf("-figure %s: there are %s", id, strings.Join(ids, ", "))
			}
			figures, err := paperFigures[k].run(p, ctx)
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

// preset is the papers' model of an embedded set.
func preset(name string) (model.Spec, error) {
	set, err := dataset.Open(name)
	if err != nil {
		return model.Spec{}, err
	}
	p, _ := model.PresetFor(set)
	return model.Spec{Set: set, Kernel: p.Kernel, Loss: p.Loss, Standardize: p.Standardize}, nil
}

// retrain trains on factor times the resamples and judges by a test loss. Each resample's predictions, at the
// sites and then at new inputs whose kernel rows are given, go to onFit, unless that is nil.
func (p *paperRun) retrain(ctx context.Context, m *model.Model, scheme resample.Scheme, test loss.Test,
	cross blas64.General, factor int, onFit func(f []float64)) (*retrain.Result, error) {
	s := refit.RetrainSettings{Seed: p.seed, Cross: cross, Settings: retrain.Settings{
		Resamples: factor * p.resamples, Workers: p.workers, Tests: []loss.Test{test}}}
	if onFit != nil {
		s.OnFit = func(_ int, _, f []float64) { onFit(f) }
	}
	r, err := refit.RetrainSingly(ctx, m, scheme, s)
	if err == nil && r.Status != retrain.Complete {
		err = ctx.Err()
	}
	return r, err
}

// momentsRetrained retrains with S = N and keeps all predictions, a list for each place.
func (p *paperRun) momentsRetrained(ctx context.Context, m *model.Model,
	cross blas64.General) (*retrain.Result, [][]float64, error) {
	predictions := make([][]float64, m.Sites()+cross.Rows)
	r, err := p.retrain(ctx, m, resample.Poisson{Ratio: 1}, loss.SquareTest{}, cross, momentsFactor,
		func(f []float64) {
			for i, v := range f {
				predictions[i] = append(predictions[i], v)
			}
		})
	return r, predictions, err
}

// histogram is the share of values in bins of the given width: bin i begins at (first+i) width.
func histogram(values []float64, width float64) (first int, shares []float64) {
	if len(values) == 0 {
		return 0, nil
	}
	bin := func(v float64) int { return int(math.Floor(v / width)) }
	first = bin(slices.Min(values))
	shares = make([]float64, bin(slices.Max(values))-first+1)
	for _, v := range values {
		shares[bin(v)-first] += 1 / float64(len(values))
	}
	return first, shares
}

// negative is the share of values below 0.
func negative(values []float64) (share float64) {
	for _, v := range values {
		if v < 0 {
			share += 1 / float64(len(values))
		}
	}
	return share
}

// law sets the law of a prediction over resamples by theory against that of retraining: densities on common
// bins.
type law struct {
	place                    int    // example or new input, from 0
	why                      string // the rule that chose it
	edges, theory, retrained []float64
	distance                 float64 // half the L1 distance of the two, in [0, 1]
}

// lawWidth is the width of M03's bins.
const lawWidth = 0.2

func compareLaw(place int, theory loss.Distribution, predictions []float64, width float64) law {
	l := law{place: place}
	first, shares := histogram(predictions, width)
	inside := 0.0
	for i, share := range shares {
		low := float64(first+i) * width
		mass := theory.Prob(low, low+width)
		inside += mass
		l.distance += math.Abs(mass-share) / 2
		l.edges, l.theory = append(l.edges, low), append(l.theory, mass/width)
		l.retrained = append(l.retrained, share/width)
	}
	l.distance += math.Max(0, 1-inside) / 2 // the theory's mass where no resample fell
	return l
}

// byDistance sorts laws, the nearest first.
func byDistance(laws []law) []law {
	sorted := slices.Clone(laws)
	slices.SortStableFunc(sorted, func(a, b law) int { return cmp.Compare(a.distance, b.distance) })
	return sorted
}

// chosenBy is the law with the rule that chose it.
func (l law) chosenBy(why string) law {
	l.why = why
	return l
}

// lawPanels have a panel for each law.
func lawPanels(laws []law, label string) (panels []report.Panel) {
	for _, l := range laws {
		panels = append(panels, report.Panel{Title: l.why, X: report.Axis{Label: label},
			Y: report.Axis{Label: "density"}, Series: []report.Series{
				{Label: "retraining", Mark: report.Bars, Colour: 1, X: l.edges, Y: l.retrained},
				{Label: "theory", Mark: report.Steps, X: l.edges, Y: l.theory},
			}})
	}
	return panels
}
