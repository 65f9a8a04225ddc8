package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/report"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// retrainFlags say how much is retrained.
type retrainFlags struct {
	resamples, workers int
	seed               uint64
}

func (r *retrainFlags) register(f *pflag.FlagSet, resamples int) {
	f.IntVar(&r.resamples, "resamples", resamples, "number of retrainings, `B` at least 1")
	f.Uint64Var(&r.seed, "seed", 0, "seed of the random numbers, `SEED` at least 0; default 0")
	f.IntVar(&r.workers, "workers", 0, "retrainings at a time, each on one thread, `W` at least 1; default: as many as processors")
}

func (r *retrainFlags) settings(f *pflag.FlagSet) (retrain.Settings, error) {
	s := retrain.Settings{Resamples: r.resamples, Seed: r.seed, Workers: r.workers}
	if r.resamples < 1 {
		return s, usagef("--resamples is %d, must be at least 1", r.resamples)
	}
	if f.Changed("workers") && r.workers < 1 {
		return s, usagef("--workers is %d, must be at least 1", r.workers)
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	s.Workers = min(s.Workers, s.Resamples)
	return s, nil
}

func retrainCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var t testFlags
	var b retrainFlags
	cmd := &cobra.Command{
		Use:   "retrain DATA",
		Short: "The same averages by Monte-Carlo retraining, with standard errors",
		Long: `retrain draws resamples of DATA, trains on each, and averages: the left-out
error, and for every example mean, variance and left-out error. Standard errors
are those of Monte Carlo, from the number of resamples. One more fit, to all of
DATA, gives the apparent error and with it .632 and .632+.

The answer depends on the seed and not on the number of workers. Interrupted, it
covers the resamples that were finished.`,
		Example: `  bootbench retrain boston --resamples 50
  bootbench retrain houses.csv --loss square --noise 0.5 --resamples 200 --seed 7 --json -
  bootbench retrain houses.csv --loss square --noise 0.5 --resamples 100 --workers 1 --out results`,
		Args: oneData,
	}
	f := cmd.Flags()
	m.register(f)
	r.register(f)
	b.register(f, retrain.DefaultResamples)
	t.register(f)
	maxSkipped := f.Float64("max-skipped", 0.05, "share of the resamples that may be left out where training does not converge, `SHARE` from 0 to below 1, not with kfold; more end the run")
	s.registerOut(cmd, "points.csv")
	s.study.register(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := b.settings(f)
		if err != nil {
			return err
		}
		if settings.MaxSkipped = *maxSkipped; !(*maxSkipped >= 0 && *maxSkipped < 1) {
			return usagef("--max-skipped is %v, must be at least 0 and below 1", *maxSkipped)
		}
		if f.Changed("max-skipped") && r.scheme == "kfold" {
			return usagef("--max-skipped is not for --scheme kfold, whose folds all count")
		}
		sub, scheme, err := s.resampled(&m, &r, &t, args[0])
		if err != nil {
			return err
		}
		need := linalg.SymBytes(sub.Sites()) + sub.RetrainBytes(settings.Workers, scheme)
		what := fmt.Sprintf("retraining with %d workers on %d sites", settings.Workers, sub.Sites())
		if err := linalg.CheckMemory(need, int64(m.maxMemory), what); err != nil {
			return err
		}
		if err := s.split(); err != nil {
			return err
		}
		return s.retrain(sub, scheme, settings, t.noPoints)
	}
	return cmd
}

// retrain retrains and prints.
func (s *session) retrain(sub *subject, scheme resample.Scheme, settings retrain.Settings, noPoints bool) error {
	fitted, err := s.fit(sub)
	if err != nil {
		return err
	}
	settings.Tests = []loss.Test{sub.test}
	settings.Progress = func(done, total int) { s.bars.show(fmt.Sprintf("retraining %d of %d", done, total), done, total) }
	began := time.Now()
	result, err := s.retrained(sub, scheme, settings)
	if err != nil {
		return err
	}
	if result == nil || s.study.partial() {
		if err := s.study.complete(); err != nil {
			return err
		}
		return s.told()
	}
	sub.times.Retrain = time.Since(began).Seconds()
	if result.Resamples == 0 {
		return s.ctx.Err()
	}
	r := &report.Retraining{
		Command: "retrain", Subject: sub.report, Resampling: resamplingReport(scheme, sub.Set.N()),
		Status: result.Status.String(), Resamples: result.Resamples, Seed: settings.Seed, Workers: result.Stats.Workers, Empty: result.Empty, Skipped: len(result.Skipped),
		Errors: errorsReport(sub.test, solver.Combine632(result.LeftOut[0].Error, sub.test, sub.Set.Y, sub.perExample(fitted))),
		SE:     result.LeftOut[0].SE, FitS: result.Stats.FitTime.Seconds() / float64(max(1, result.Stats.Fits)), Warnings: sub.warnings(scheme, result.Warnings),
	}
	bag := result.OutOfBag
	r.Ensemble.BaggedError, r.EnsembleSE.BaggedError = bag.Errors[0].Error, bag.Errors[0].SE
	classes := sub.Set.Task == dataset.Classification
	if classes {
		r.Ensemble.VoteError, r.EnsembleSE.VoteError = &bag.VoteError, &bag.VoteErrorSE
	}
	if !noPoints {
		r.Points = &report.Points{
			Mean: sub.perExample(result.Mean), Variance: sub.perExample(result.Var), Error: result.LeftOut[0].Examples,
			MeanSE: sub.perExample(result.MeanSE), VarianceSE: sub.perExample(result.VarSE), OOBMean: bag.Mean,
		}
		if classes {
			r.Points.OOBVote, r.Points.Vote = bag.Vote, sub.perExample(result.Vote)
		}
	}
	r.Cost = s.cost(sub.times)
	if err := s.print(r); err != nil {
		return err
	}
	s.warn(r.Warnings)
	if result.Status == retrain.Cancelled {
		s.interrupted()
	}
	lead := fmt.Sprintf("Models trained on %d resamples err by %.5g, standard error %.2g (%s loss), on examples that they have not seen.",
		r.Resamples, r.TestError, r.SE, r.TestLoss)
	return s.pointsPage(r, lead, r.Warnings, r.Points)
}

// retrained is the answer, nil where other processes have parts of it.
func (s *session) retrained(sub *subject, scheme resample.Scheme, settings retrain.Settings) (*retrain.Result, error) {
	if s.study.store != nil {
		return s.retrainBlocks(sub, scheme, settings)
	}
	return sub.Retrain(s.ctx, scheme, blas64.General{}, settings)
}

// perExample spreads values over sites onto the examples.
func (sub *subject) perExample(overSites []float64) []float64 {
	values := make([]float64, len(sub.Site))
	for example, site := range sub.Site {
		values[example] = overSites[site]
	}
	return values
}
