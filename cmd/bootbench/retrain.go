package main

import (
	"fmt"
	"runtime"
	"slices"

	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/linalg"
)

func retrainCommand() *command {
	return &command{
		name: "retrain",
		takes: slices.Concat(problemNames, shardNames, []string{"ratio", "scheme/weights", "folds", "resamples",
			"seed",
			"workers", "method/retrain", "test-loss", "no-points", "replicates"}, designNames),
		out: ", points.csv",
		run: runRetrain, classes: true,
	}
}

// runRetrain reads DATA, retrains and prints.
func runRetrain(a *app, o *options, data []string) error {
	if err := o.checkScheme(o.ratio); err != nil {
		return err
	}
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
	}
	how := answer.Retraining{Seed: o.seed, NoPoints: o.noPoints}
	how.Resamples, how.Workers = o.resamples, o.workers
	if how.Workers == 0 {
		how.Workers = runtime.GOMAXPROCS(0)
	}
	how.Workers = min(how.Workers, how.Resamples)
	how.Method, _ = refit.ParseRetrainMethod(o.method)
	if how.Scheme, err = o.designed(o.ratio, p.spec.Set); err != nil {
		return err
	}
	if p.joint() {
		return a.answerJoint(p, func(j answer.Joint) (report.Joint, error) {
			if err := a.keepJoint(j, p.choice); err != nil {
				return nil, err
			}
			return j.Retrain(a.ctx, how)
		})
	}
	p.spec.Then = func(m *model.Model) int64 { return how.Need(m, p.test) }
	j, err := a.build(p)
	if err != nil {
		return err
	}
	if err := how.Check(j.Model, j.Test); err != nil {
		return err
	}
	if err := a.keepFits(j, p.choice); err != nil {
		return err
	}
	replicates, err := o.keepReplicates(j, &how)
	if err != nil {
		return err
	}
	r, err := j.Retrain(a.ctx, how)
	if err != nil {
		return a.orElsewhere(err)
	}
	if rows := len(*replicates) / j.Set.N(); rows > 0 {
		if err := writeMatrix(o.replicates, rows, j.Set.N(), *replicates); err != nil {
			return err
		}
	}
	return a.deliver(r.Sheet())
}

// keepReplicates collects the predictions of every resample for the examples, where --replicates asks for
// them.
func (o *options) keepReplicates(j *answer.Job, how *answer.Retraining) (*[]float64, error) {
	rows := &[]float64{}
	if o.replicates == "" {
		return rows, nil
	}
	how.OnFit = func(_ int, _, f []float64) { *rows = append(*rows, j.PerExample(f)...) }
	return rows, linalg.CheckMemory(16*int64(how.Resamples)*int64(j.Set.N()), int64(o.maxMemory),
		fmt.Sprintf("the predictions of %d resamples for %d examples", how.Resamples, j.Set.N()))
}
