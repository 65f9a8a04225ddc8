package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/null"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/solver"
)

// predictFlags say what is predicted and how it is printed.
type predictFlags struct {
	inputs   string
	model    string // file
	csv      string
	interval intervalFlags
	law      lawFlags
}

func predictCommand(a *app) *cobra.Command {
	var t theoryFlags
	var p predictFlags
	cmd := &cobra.Command{
		Use:   "predict DATA --test FILE | predict --model FILE --test FILE",
		Short: "Mean, variance and interval of predictions over resamples, at new inputs",
		Long: `predict gives the law over resamples of the prediction at new inputs: its mean,
its variance and an interval that holds LEVEL of it, taken as normal. That is the
sampling variability of the estimator, how much its prediction would change with
another resample; the noise of a new target is not in it.

With --interval observation the interval holds a new target instead, with probability
LEVEL, whatever the noise: it is made of the residuals of examples that the resamples
leave out (jackknife+-after-bootstrap; CV+ with --scheme kfold).

For a classifier there are the class of the mean prediction, the share of the resamples
that vote for the label +1, and the probability of +1. That is no share of votes: it is
calibrated on examples that the resamples leave out, by a logistic curve, or
the posterior's own of --loss probit and logit.

The new inputs have the features of DATA; a table names them in its header, in any
order, and other columns are ignored. If it names its rows, points have these names. If
it has targets too, the test loss is printed: averaged over resamples, and that of the
mean prediction.

With --model instead of DATA the one model of a file that train has written
predicts, in units and labels of the data that it was trained on: no resampling and
no variance, no training data, and the speed of a product of matrices.`,
		Example: `  bootbench predict houses.csv --test new.csv --loss square --noise 0.5
  bootbench predict houses.csv --test new.csv --interval observation --level 0.9 --csv -
  bootbench predict --model houses.json --test new.csv --csv -
  bootbench predict synthetic:friedman1,n=200 --test synthetic:friedman1,n=50,seed=2 --json predicted.json`,
		Args: dataOrModel,
		RunE: func(cmd *cobra.Command, args []string) error { return runPredict(a, cmd, args, &t, &p) },
	}
	p.register(cmd.Flags())
	t.registerSolve(a, cmd)
	t.model.registerUnseen(cmd.Flags())
	t.scheme.register(cmd.Flags())
	registerOut(cmd, "points.csv")
	return cmd
}

func (p *predictFlags) register(f *pflag.FlagSet) {
	f.StringVar(&p.inputs, "test", "",
		"new inputs: a file (`FILE`), - for standard input, or a set like DATA; required")
	f.StringVar(&p.model, "model", "",
		"predict by a model file (`FILE`) of train, instead of DATA; of the other flags only those that say how "+
			"--test is read and answers are written; default: none")
	p.interval.register(f)
	p.law.register(f, "new inputs")
	f.StringVar(&p.csv, "csv", "",
		"write the predictions as CSV to `FILE`; with - to standard output, and nothing else there; default: none")
}

// runPredict reads flags, DATA and the new inputs before it predicts.
func runPredict(a *app, cmd *cobra.Command, args []string, t *theoryFlags, p *predictFlags) error {
	plan, err := t.plan()
	if err := cmp.Or(err, p.interval.check(cmd.Flags()), p.law.check(),
		usage.OneOf("unseen", t.model.unseen, "error", "zero"),
		p.check(a, strings.Join(args, ""))); err != nil {
		return err
	}
	if p.model != "" {
		return predictByFile(a, &t.model, p, &t.test)
	}
	j, err := readSolvable(a, t, args[0], &plan)
	if err != nil {
		return err
	}
	inputs, err := loadInputs(a, &t.model, p.inputs, j.Set)
	if err != nil {
		return err
	}
	if err := p.law.checkRows(inputs.M(), int64(t.model.maxMemory)); err != nil {
		return err
	}
	if err := openFits(a, cmd, args, j, &plan.refine); err != nil {
		return err
	}
	return predictNew(a, j, inputs, plan, p)
}

// loadInputs reads new inputs for a set.
func loadInputs(a *app, m *modelFlags, path string, set *dataset.Set) (*dataset.Inputs, error) {
	inputs, err := dataset.LoadInputs(a.place(path), set, m.options(a.console.In))
	if err != nil {
		return nil, err
	}
	if a.place(path) != path {
		inputs.Name = path
	}
	if err := model.CheckTargets(inputs.Y); err != nil {
		return nil, usage.Errorf("--test: %w", err)
	}
	return inputs, nil
}

// check refuses files that cannot be read or written beside DATA, "" for none.
func (p *predictFlags) check(a *app, data string) error {
	switch {
	case p.inputs == "":
		return usage.Errorf("--test is required: the new inputs")
	case p.inputs == "-" && a.tasks.folder != "":
		return usage.Errorf("--test from standard input cannot be read again, which --journal needs: save it as " +
			"a file")
	case p.inputs == "-" && data == "-":
		return usage.Errorf("DATA and --test cannot both be standard input")
	case p.csv == "-" && a.outputs.stdout():
		return usage.Errorf("--csv and --json cannot both take standard output")
	}
	return nil
}

// predictNew solves, predicts and prints.
func predictNew(a *app, j *job, inputs *dataset.Inputs, plan plan, p *predictFlags) error {
	if err := cmp.Or(p.interval.checkSet(j), predict.Check(j.Model, inputs.M())); err != nil {
		return err
	}
	if _, err := fitAll(a, j); err != nil { // refuses what estimate refuses, and before a solve of minutes
		return err
	}
	began := time.Now()
	solution, err := solveTheory(a, j, plan, "solve")
	if err != nil {
		return err
	}
	j.times.Solve = time.Since(began).Seconds()
	r, err := predictionReport(a, j, inputs, solution, plan, &p.interval)
	if err != nil {
		return err
	}
	if done, err := a.ended(refinePrediction(a, r, j, inputs, solution, plan, p)); done {
		return err
	}
	if err := j.addNewLaws(r, &p.law, inputs, solution); err != nil {
		return err
	}
	points := r.Points
	if len(plan.test.metrics) > 0 && points.Target != nil {
		r.Metrics = j.newMetrics(points)
		r.Metrics.Keep(plan.test.wants)
	}
	if plan.test.noPoints {
		r.Points = nil
	}
	r.Cost = a.cost(j.times)
	figures := append(report.PredictionFigure(points, r.Interval), report.ReliabilityFigure(r.Calibration)...)
	return deliverPredictions(a, r,
		fmt.Sprintf("The law over resamples of the trained predictor at %d new inputs.", r.Count), points, p.csv,
		r.Warnings, figures)
}

// deliverPredictions prints an answer about new inputs, and writes its points where --csv says.
func deliverPredictions(a *app, d report.Document, lead string, points *report.Points, csv string,
	warnings []string, figures []*report.Figure) error {
	out := answer{document: d, csv: "points.csv", writeCSV: points.WriteCSV, warnings: warnings,
		page: report.Page{Lead: []string{lead}, Answers: []report.Document{d}, Figures: figures}}
	switch csv {
	case "":
	case "-":
		out.text = points.WriteCSV
	default:
		if err := files.Replace(csv, points.WriteCSV); err != nil {
			return err
		}
	}
	return a.deliver(out)
}

// predictionReport is what a report says of the theory's predictions.
func predictionReport(a *app, j *job, inputs *dataset.Inputs, solution *solver.Solution, plan plan,
	interval *intervalFlags) (*report.Prediction, error) {
	began := time.Now()
	points, err := predictInputs(a, j, inputs, solution)
	if err == nil {
		err = interval.add(points, j, inputs, solution)
	}
	if err != nil {
		return nil, err
	}
	j.times.Predict = time.Since(began).Seconds()
	r := &report.Prediction{
		Command: "predict", Subject: j.report, Resampling: resamplingReport(plan.scheme, j.Set.N()),
		Convergence: j.convergenceReport(solution), Test: inputs.Name, Count: len(points.Mean),
		Points: points, Warnings: j.warnings(plan.scheme, append(inputs.Notes, solution.Warnings...)),
	}
	addTestErrors(r, j, inputs.Y)
	if j.Set.Task == dataset.Classification {
		addVote(points)
		addClass(points, j.report.Labels)
		if r.Calibration, err = j.addProbabilities(points, inputs, solution); err != nil {
			return nil, err
		}
		r.Warnings = withWarning(r.Warnings, j.calibrationWarning())
	}
	requireNumbers(a, &r.Status, &r.Warnings, points)
	r.Interval = interval.report(points, j.Set.N())
	r.Warnings = withWarning(r.Warnings, interval.warning(j.Set.N()))
	return r, nil
}

// refinePrediction adds what exact resamples say of the new inputs. Their kernel with all
// sites is held whole: auto leaves it where that takes more than mostCross.
func refinePrediction(a *app, r *report.Prediction, j *job, inputs *dataset.Inputs,
	solution *solver.Solution, plan plan, p *predictFlags) error {
	wanted := &plan.refine
	if wanted.resamples == 0 || wanted.optional && 8*int64(inputs.M())*int64(j.Sites()) > mostCross {
		return nil
	}
	cross, err := j.CrossAll(inputs)
	if err != nil {
		return err
	}
	var replicates predict.Replicates
	if p.interval.of == ofObservation {
		wanted.onFit = replicates.Add
	}
	wanted.tests = j.refinedTests(&testFlags{})
	p.law.collects(wanted)
	refined, warnings, err := refineSolution(a, j, solution, plan, cross)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, warnings...)
	if refined == nil {
		return nil
	}
	r.Refined = j.refinedReport(refined, solution, nil)
	r.Warnings = withWarning(r.Warnings, r.Refined.Warning())
	at, m := refined.Points, j.Sites()
	points := &report.Points{Mean: at.Mean[m:], Variance: at.Variance[m:], MeanSE: at.MeanSE[m:],
		VarianceSE: at.VarianceSE[m:]}
	if probabilities := j.addRefinedProbabilities(r.Refined, refined); probabilities != nil {
		points.Probability = probabilities.ByCurve(points.Mean, points.Variance)
	}
	points.Shift(j.TargetMean)
	r.Refined.Points = points
	if p.interval.of == ofObservation {
		all, err := predict.ReplicateIntervals(j.Model, &replicates, p.interval.level, p.interval.unit())
		if err != nil {
			r.Warnings = append(r.Warnings, fmt.Sprintf("no refined intervals: %v", err))
		}
		setIntervals(points, all, j.TargetMean)
	}
	return nil
}

// addNewLaws adds what is asked for of the laws at new inputs, which are normal by the theory.
func (j *job) addNewLaws(r *report.Prediction, law *lawFlags, inputs *dataset.Inputs,
	s *solver.Solution) error {
	points := lawPoints{
		Points: r.Points, law: func(i int) loss.Distribution {
			return loss.Normal(r.Points.Mean[i]-j.TargetMean,
				r.Points.Variance[i])
		},
		place: func(i int) int { return j.Sites() + i }, width: j.Sites() + inputs.M(), shift: j.TargetMean,
	}
	var refined *report.Points
	if r.Refined != nil {
		refined = r.Refined.Points
	}
	law.add(points, refined)
	return law.writeCovariance(func() (blas64.General, error) { return predict.Covariances(j.Model, s, inputs) })
}

// mostCross bounds what auto takes for the kernel of new inputs.
const mostCross = 256 << 20

// predictInputs are mean and variance at the new inputs, batch after batch.
func predictInputs(a *app, j *job, inputs *dataset.Inputs, solution *solver.Solution) (*report.Points,
	error) {
	points := &report.Points{Names: inputs.RowNames, Mean: []float64{}, Variance: []float64{}}
	err := j.Cross(inputs, func(first int, rows []float64) error {
		a.console.Progress("predict", first, inputs.M())
		mean, variance, err := solution.Predict(rows)
		if err == nil {
			err = predict.CheckPredicted(first, mean, variance)
		}
		if err != nil {
			return err
		}
		points.Mean = append(points.Mean, mean...)
		points.Variance = append(points.Variance, variance...)
		return a.ctx.Err()
	})
	points.Shift(j.TargetMean)
	return points, err
}

// addVote adds the shares of the resamples whose classifier, the sign of the predictor, says
// +1 and -1 (M04-20).
func addVote(p *report.Points) {
	for i, mean := range p.Mean {
		p.Vote = append(p.Vote, loss.Vote{}.Gaussian(mean, p.Variance[i], 1))
		p.Negative = append(p.Negative, loss.ZeroOne{}.Gaussian(mean, p.Variance[i], 1))
	}
}

// addClass adds the class that the mean prediction says.
func addClass(p *report.Points, labels *dataset.Classes) {
	for _, mean := range p.Mean {
		p.Class = append(p.Class, labels.Name(mean))
	}
}

// addTestErrors adds targets and their losses, where there are targets.
func addTestErrors(r *report.Prediction, j *job, targets []float64) {
	if targets == nil {
		return
	}
	r.TestLoss, r.Points.Target = j.test.Name(), targets
	expected, bagged := 0.0, 0.0
	for i, y := range targets {
		mean, variance := r.Points.Mean[i], r.Points.Variance[i]
		expectation := j.test.Gaussian(mean, variance, y)
		r.Points.Error = append(r.Points.Error, expectation)
		expected += expectation
		bagged += j.test.Value(mean, y)
	}
	expected, bagged = expected/float64(len(targets)), bagged/float64(len(targets))
	r.TestError, r.BaggedError = null.Of(expected), null.Of(bagged)
	r.Quality = calibration.NewQuality(j.test, *r.TestError, targets, r.Points.Error, r.Labels)
	r.Warnings = withWarning(r.Warnings, r.Quality.Warning(*r.TestError))
}
