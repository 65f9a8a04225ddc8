package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/batch"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/refit"
	"bootbench/internal/report"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// resamplingFlags say how many resamples are drawn and trained on.
type resamplingFlags struct {
	resamples, workers int
	seed               uint64
}

func (r *resamplingFlags) register(f *pflag.FlagSet, resamples int) {
	f.IntVar(&r.resamples, "resamples", resamples, "number of retrainings, `B` from 1 to 1e9")
	f.Uint64Var(&r.seed, "seed", 0, "seed of the random numbers, `SEED` at least 0; default 0")
	f.IntVar(&r.workers, "workers", 0,
		"retrainings at a time, each on one thread, `W` at least 1; default: as many as processors")
}

func (r *resamplingFlags) settings(f *pflag.FlagSet) (retrain.Settings, error) {
	s := retrain.Settings{Resamples: r.resamples, Workers: r.workers}
	if r.resamples < 1 {
		return s, usage.Errorf("--resamples is %d, must be at least 1", r.resamples)
	}
	if r.resamples > 1e9 {
		return s, usage.Errorf("--resamples is %d, must be at most 1e9", r.resamples)
	}
	if f.Changed("workers") && r.workers < 1 {
		return s, usage.Errorf("--workers is %d, must be at least 1", r.workers)
	}
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	s.Workers = min(s.Workers, s.Resamples)
	return s, nil
}

func retrainCommand(a *app) *cobra.Command {
	var r retrainFlags
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
		RunE: func(cmd *cobra.Command, args []string) error { return runRetrain(a, cmd, args, &r) },
	}
	r.register(cmd.Flags())
	registerOut(cmd, "points.csv")
	a.tasks.registerShard(cmd.Flags())
	return cmd
}

// mostSkipped is the share of the resamples that may be left out where training does not converge.
const mostSkipped = 0.05

// retrainFlags are those of the command retrain.
type retrainFlags struct {
	model      modelFlags
	scheme     schemeFlags
	test       testFlags
	resampling resamplingFlags
	method     string
	how        refit.RetrainMethod // of method
	replicates string
}

func (r *retrainFlags) register(f *pflag.FlagSet) {
	r.model.register(f)
	r.scheme.register(f)
	r.resampling.register(f, retrain.DefaultResamples)
	r.test.registerTest(f)
	r.test.registerPoints(f)
	f.StringVar(&r.method, "method", refit.AutoMethod.String(),
		"how resamples are trained, `METHOD`: batch (together, as products with the theory's G), single (one by "+
			"one), or auto (batch from 300 resamples on 150 distinct inputs on, where the loss can)")
	f.StringVar(&r.replicates, "replicates", "",
		"write the predictions of all resamples, one row each, as a NumPy array to `FILE`; default: none")
}

// runRetrain reads flags and DATA before it retrains.
func runRetrain(a *app, cmd *cobra.Command, args []string, r *retrainFlags) error {
	settings, err := r.settings(cmd.Flags())
	if err != nil {
		return err
	}
	p, err := readProblem(a, &r.model, &r.test, args[0])
	if err != nil {
		return err
	}
	scheme, err := r.scheme.of(r.scheme.ratio, p.spec.Set.N())
	if err != nil {
		return err
	}
	settings.Tests = []loss.Test{p.test}
	p.spec.Then = func(m *model.Model) int64 {
		return refit.NeedToRetrain(m, r.how, scheme, refit.RetrainSettings{Settings: settings})
	}
	j, err := buildJob(a, p)
	if err != nil {
		return err
	}
	if err := refit.CheckRetrain(j.Model, r.how, scheme, refit.RetrainSettings{Settings: settings}); err != nil {
		return err
	}
	if err := a.openJournal(cmd, args, j.choice); err != nil {
		return err
	}
	return retrainAll(a, j, scheme, settings, r)
}

// settings are those of the retraining, its scheme checked too.
func (r *retrainFlags) settings(f *pflag.FlagSet) (retrain.Settings, error) {
	settings, err := r.resampling.settings(f)
	if err != nil {
		return settings, err
	}
	settings.MaxSkipped = mostSkipped
	if r.how, err = refit.ParseRetrainMethod(r.method); err != nil {
		return settings, usage.Errorf("--method: %w", err)
	}
	return settings, r.scheme.check(r.scheme.ratio)
}

// retrainAll retrains and prints.
func retrainAll(a *app, j *job, scheme resample.Scheme, settings retrain.Settings,
	flags *retrainFlags) error {
	fitted, err := fitAll(a, j)
	if err != nil {
		return err
	}
	settings.Progress = func(done, total int) {
		a.console.Progress(fmt.Sprintf("retraining %d of %d", done, total), done, total)
	}
	began := time.Now()
	replicates, err := flags.keepReplicates(j, &settings)
	if err != nil {
		return err
	}
	result, err := retrainKept(a, j, scheme, settings, flags)
	switch {
	case err != nil || result == nil:
	case result.Resamples == 0:
		return a.ctx.Err()
	case result.Status == retrain.Cancelled && a.tasks.sharded():
		return a.ctx.Err()
	}
	if done, err := a.ended(err); done {
		return err
	}
	j.times.Retrain = time.Since(began).Seconds()
	j.times.Fits = (result.Stats.Elapsed + result.Setup).Seconds()
	j.times.Iterations = result.Batch.Iterations
	if err := replicates.write(flags.replicates, j); err != nil {
		return err
	}
	r := retrainReport(a, j, scheme, flags, result, fitted)
	if flags.test.noPoints {
		r.Points = nil
	}
	lead := fmt.Sprintf("Models trained on %d resamples err by %s (%s loss), on examples that they have not "+
		"seen.",
		r.Resamples, report.WithError(r.TestError, r.SE), r.TestLoss)
	if err := a.deliver(pointsAnswer(r, lead, r.Warnings, r.Points, r.Labels)); err != nil {
		return err
	}
	if result.Status == retrain.Cancelled {
		a.interrupted()
	}
	return nil
}

// retrainReport is what a report says of a retraining.
func retrainReport(a *app, j *job, scheme resample.Scheme, flags *retrainFlags,
	result *refit.Retraining, fitted []float64) *report.Retraining {
	left, bag := result.LeftOut[0], result.OutOfBag
	r := &report.Retraining{
		Command: "retrain", Subject: j.report, Resampling: resamplingReport(scheme, j.Set.N()),
		Draws: report.Draws{
			Method: result.Method.String(), Training: refit.Training(j.Model, result.Method, batch.DefaultTolerance),
			Status:    result.Status.String(),
			Resamples: result.Resamples, Seed: flags.resampling.seed, Workers: result.Stats.Workers,
			Empty:    result.Empty,
			OneClass: result.OneClass,
			Skipped:  len(result.Skipped),
		},
		Errors: errorsReport(j.test, solver.Combine632(left.Error, j.test, j.Set.Y, j.perExample(fitted))),
		SE:     null.Float(left.SE), FitS: result.Stats.FitTime.Seconds() / float64(max(1, result.Stats.Fits)),
		Warnings: j.warnings(scheme, result.Warnings),
		Points: &report.Points{
			Names: j.Set.RowNames, Mean: j.perExample(result.Mean), Variance: j.perExample(result.Var),
			Error:  left.Examples,
			MeanSE: j.perExample(result.MeanSE), VarianceSE: j.perExample(result.VarSE), OOBMean: bag.Mean,
		},
	}
	r.Ensemble.BaggedError, r.EnsembleSE.BaggedError = null.Float(bag.Errors[0].Error),
		null.Float(bag.Errors[0].SE)
	if j.Set.Task == dataset.Classification {
		r.Ensemble.VoteError, r.EnsembleSE.VoteError = null.Of(bag.VoteError), null.Of(bag.VoteErrorSE)
		r.Points.OOBVote, r.Points.Vote = bag.Vote, j.perExample(result.Vote)
	}
	r.Points.Shift(j.TargetMean)
	r.Points.Target = j.targets()
	r.Quality = j.quality(r.TestError, left.Examples)
	r.Warnings = withWarning(r.Warnings, r.Quality.Warning(r.TestError))
	requireNumbers(a, &r.Status, &r.Warnings, r.Points, r.Apparent)
	r.Cost = a.cost(j.times)
	return r
}

// retrainKept is the result; nil where tasks are missing that merge would have to do.
func retrainKept(a *app, j *job, scheme resample.Scheme, settings retrain.Settings,
	flags *retrainFlags) (*refit.Retraining, error) {
	key := keyOf("retrain", j.Key(scheme, flags.method, flags.resampling.seed))
	kept := a.keepFits(key, j.Sites(), wholePeriods(settings.Resamples, scheme), j.Set.Name)
	if kept.incomplete() {
		return nil, nil
	}
	if kept != nil {
		also := settings.OnFit
		settings.Lookup = kept.lookup
		settings.OnSkip = func(b int, why error) { kept.add(b, nil, why) }
		settings.OnFit = func(r int, weight, f []float64) {
			kept.add(r, f, nil)
			if also != nil {
				also(r, weight, f)
			}
		}
	}
	result, err := refit.Retrain(a.ctx, j.Model, flags.how, scheme,
		refit.RetrainSettings{Settings: settings, Seed: flags.resampling.seed})
	if err == nil && result.Status == retrain.Complete {
		kept.end()
	}
	return result, err
}

// wholePeriods is the least number of resamples in whole periods of a scheme.
func wholePeriods(resamples int, scheme resample.Scheme) int {
	period := resample.Period(scheme)
	return (resamples + period - 1) / period * period
}
