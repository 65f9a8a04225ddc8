package main

import (
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/solver"
)

// What --interval is about.
const (
	ofEstimator   = "estimator"
	ofObservation = "observation"
)

// The units of --residuals.
const (
	plainResiduals  = "plain"
	scaledResiduals = "scaled"
)

// intervalFlags say what the intervals at new inputs hold.
type intervalFlags struct {
	of        string
	level     float64
	residuals string
}

func (i *intervalFlags) register(f *pflag.FlagSet) {
	f.StringVar(&i.of, "interval", ofEstimator,
		"what the interval holds, `OF`: estimator (the prediction of another resample: how far the trained "+
			"predictor moves) or observation (a new target, its noise included: jackknife+-after-bootstrap, CV+ "+
			"with --scheme kfold)")
	f.Float64Var(&i.level, "level", 0.95, "share of it that the interval holds, `LEVEL` between 0 and 1")
	f.StringVar(&i.residuals, "residuals", plainResiduals,
		"of --interval observation, `UNIT` in which left-out residuals are carried to a new input: plain (the "+
			"noise is the same everywhere) or scaled (by how much the prediction varies there: wider where noise is "+
			"larger or examples are few)")
}

func (i *intervalFlags) check(f *pflag.FlagSet) error {
	if err := usage.OneOf("interval", i.of, ofEstimator, ofObservation); err != nil {
		return err
	}
	if err := usage.OneOf("residuals", i.residuals, plainResiduals, scaledResiduals); err != nil {
		return err
	}
	if f.Changed("residuals") && i.of != ofObservation {
		return usage.Errorf("--residuals belongs to --interval %s", ofObservation)
	}
	return checkLevel(i.level)
}

// checkSet refuses intervals for labels, and those that the examples cannot support.
func (i *intervalFlags) checkSet(j *job) error {
	if i.of != ofObservation {
		return nil
	}
	if j.Set.Task == dataset.Classification {
		return usage.Errorf("--interval %s is for numbers; the targets of %s are labels, for which predict gives "+
			"a probability", ofObservation, j.Set.Name)
	}
	return usage.Wrap(calibration.CheckLevel(i.level, j.Set.N()))
}

func (i *intervalFlags) unit() predict.Residuals {
	if i.residuals == scaledResiduals {
		return predict.ScaledResiduals
	}
	return predict.PlainResiduals
}

// add adds the standard deviations and the theory's intervals to the points.
func (i *intervalFlags) add(p *report.Points, j *job, inputs *dataset.Inputs, s *solver.Solution) error {
	for _, v := range p.Variance {
		p.SD = append(p.SD, math.Sqrt(v))
	}
	if i.of == ofObservation {
		all, err := predict.ObservationIntervals(j.Model, s, inputs, i.level, i.unit())
		setIntervals(p, all, j.TargetMean)
		return err
	}
	for at, mean := range p.Mean {
		interval := solver.NormalInterval(mean, p.Variance[at], i.level)
		p.Lower, p.Upper = append(p.Lower, interval.Low), append(p.Upper, interval.High)
	}
	return nil
}

// setIntervals sets the ends of intervals about targets that lack a mean.
func setIntervals(p *report.Points, all []solver.Interval, mean float64) {
	p.Lower, p.Upper = nil, nil
	for _, interval := range all {
		p.Lower, p.Upper = append(p.Lower, interval.Low+mean), append(p.Upper, interval.High+mean)
	}
}

// report says what the intervals are, and how many of the new targets they hold.
func (i *intervalFlags) report(p *report.Points, n int) report.Interval {
	r := report.Interval{Interval: i.of, Level: i.level}
	if i.of != ofObservation {
		return r
	}
	r.Residuals, r.CoverageSD = i.residuals, math.Sqrt(i.level*(1-i.level)/float64(n))
	if p.Target != nil {
		held, width := 0.0, 0.0
		for at, y := range p.Target {
			if p.Lower[at] <= y && y <= p.Upper[at] {
				held += 1 / float64(len(p.Target))
			}
			width += (p.Upper[at] - p.Lower[at]) / float64(len(p.Target))
		}
		r.Coverage, r.Width = &held, &width
	}
	return r
}

// fewExamples is the number below which intervals and probabilities are rough.
const fewExamples = 20

// warning says that there are few examples, or nothing.
func (i *intervalFlags) warning(n int) string {
	if i.of != ofObservation || n >= fewExamples {
		return ""
	}
	return fmt.Sprintf("intervals from %d examples are rough: the share of new targets that they hold is %.2g "+
		"give or take %.1g", n, i.level, math.Sqrt(i.level*(1-i.level)/float64(n)))
}
