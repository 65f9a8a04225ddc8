package main

import (
	"slices"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
)

// refuse ends the command by an error of the user.
func refuse(format string, args ...any) { steps.Check(usage.Errorf(format, args...)) }

// checkFlags refuses flags that contradict each other or DATA, and those that others make ineffective.
func (a *app) checkFlags(o *options, command string, data []string) {
	perceptron := command == "train" && o.loss == perceptronLoss
	for _, rule := range []struct {
		when bool
		why  string
	}{
		{o.bias && o.noBias, "--bias and --no-bias contradict each other"},
		{o.csv == "-" && a.outputs.json == "-", "--csv and --json cannot both take standard output"},
		{o.asked.Accuracy > 0 && o.asked.Exact == answer.No,
			"--accuracy needs exact resamples, which --refine none leaves out: take --refine auto"},
		{o.Given("residuals") && o.asked.Intervals.Of == answer.Estimator,
			"--residuals belongs to --interval " + answer.Observation},
		{command == "predict" && o.inputs == "", "--test is required: the new inputs"},
		{o.inputs == "-" && o.journal != "",
			"--test from standard input cannot be read again, which --journal needs: save it as a file"},
		{o.inputs == "-" && slices.Contains(data, "-"), "DATA and --test cannot both be standard input"},
		{command == "cv" && slices.Contains(o.asked.Metrics, report.Jackknife),
			"--metrics " + report.Jackknife + " is the theory's: estimate has it"},
		{command == "curve" && o.scheme == resample.KFold{}.Name(),
			"--scheme kfold has no ratio to vary; estimate takes it"},
		{command == "grid" && o.kernel == autoKernel, "--kernel " + autoKernel +
			" is for one model: --over kernel=rbf,matern52,linear compares them"},
		{command == "train" && o.model == "", "--model is required: the file to write"},
		{o.nested && o.measure.ByProbability(), "--judge " + o.measure.String() + " corrects for the " +
			"choice by the cells of the grid: leave out --nested"},
		{perceptron && o.noError, "--loss perceptron has no error that --no-error could leave out"},
		{command == "train" && !perceptron && o.Given("passes"), "--passes is for --loss perceptron"},
		{perceptron && !o.measure.IsError(), "--loss perceptron has no probabilities to judge by"},
		{perceptron && o.Given("tol", "bias", "no-bias"),
			"--loss perceptron has neither --tol nor a bias (--constant adds one)"},
		{command == "compare" && o.engine == model.ScaLAPACK, "--engine scalapack cannot be compared: " +
			"retraining needs the whole kernel matrix; estimate, curve, grid and predict take it"},
		{o.Given("models") && o.journal != "", "--journal has no meaning with --models"},
		{command == "cv" && o.journal != "" && (o.cv.Permutations > 0 || o.roc), "--journal keeps the fits " +
			"of the folds only, and --permutations and --roc take many more: leave it out"},
		{o.long && len(data) > 0 && !o.Given("models"),
			"--long is for the comparison without DATA; --sizes N,N... is for DATA"},
		{o.long && len(o.sizes) > 0, "--long and --sizes both say how many rows: give one of them"},
	} {
		if rule.when {
			refuse("%s", rule.why)
		}
	}
	for _, rule := range []struct {
		when  bool
		why   string
		names []string
	}{
		{o.engine == model.Exact || o.engine == model.ScaLAPACK,
			"--engine " + o.engine.String() + " has no rank", []string{"rank-tol", "rank-error"}},
		{o.noError, "--no-error leaves the error out", []string{"nested", "level"}},
		{command == "grid" && o.by == tune.Folds,
			"--by cv trains in folds, without resamples and without the theory",
			[]string{"ratio", "scheme", "refine", "accuracy", "tol", "max-sweeps"}},
		{o.generates(), "--scheme " + o.scheme + " has every row in each resample, and no left-out error",
			[]string{"ratio", "accuracy", "metrics", "test-loss", "nested", "judge", "interval", "residuals",
				"sets"}},
	} {
		for _, name := range rule.names {
			none := name == "refine" && o.asked.Exact == answer.No // states what holds
			if rule.when && o.Given(name) && !none {
				refuse("--%s has no effect: %s", name, rule.why)
			}
		}
	}
}

// idleOn refuses flags that mean nothing for a data set.
func (o *options) idleOn(command string, set *dataset.Set) {
	about, err := loss.About(o.loss)
	forLabels := o.loss != "" && (err != nil || about.Task == loss.Classification)
	classes, targets := len(set.Levels()) > 2, len(set.Columns) > 1
	labels := !set.AreNumbers()
	square, zeroOne := loss.SquareTest{}.Name(), loss.ZeroOne{}.Name()
	for _, rule := range []struct {
		when  bool
		why   string
		names []string
	}{
		{!classes, "it is for three classes or more", []string{"multiclass"}},
		{labels && (o.asked.Intervals.Of == answer.Estimator || o.Given("residuals")),
			"it is for numbers: labels have probabilities", []string{"interval", "residuals"}},
		{classes,
			"several classes have one error, and probabilities: --positive LABEL sets one class against " +
				"the others",
			[]string{"quantiles", "interval", "residuals", "class-weight"}},
		{classes && o.testLoss != zeroOne, "wrong classes are counted", []string{"test-loss"}},
		{classes && command == "predict", "a model that is trained once predicts several classes",
			[]string{"journal", "shard", "refine", "accuracy", "blocks"}},
		{classes && command == "predict" && o.covarianceMatrix == "", "only --covariance has resamples of " +
			"several classes", []string{"ratio", "scheme", "tol", "max-sweeps"}},
		{classes && command == "predict" && !o.asked.Sets, "the classes have probabilities, or --sets",
			[]string{"level"}},
		{classes && command == "curve" && o.loss != "" && !o.Given("chosen"),
			"the error of several classes has an interval if the rows chose the model", []string{"level"}},
		{!labels, "numbers have intervals", []string{"sets"}},
		{classes && command == "predict" && !o.Given("sample"), "no resamples are drawn", []string{"seed"}},
		{classes && command == "rows", "exact fits judge the rows", []string{"tol", "max-sweeps"}},
		{(classes || targets) && command == "loo", "several classes or targets are left out by exact fits",
			[]string{"method"}},
		{(classes || targets) && command == "train" && o.format == libsvmFormat,
			"such a file holds one target: --format json holds all", []string{"format"}},
		{(classes || targets) && command == "train" && o.loss == perceptronLoss, "it learns two classes",
			[]string{"loss"}},
		{targets && forLabels, "several targets are numbers, and the loss is for labels", []string{"loss"}},
		{targets && o.testLoss != square, "errors of several targets are squares", []string{"test-loss"}},
		{!o.measure.IsError() && (!labels || classes), "only two labels are judged by " + o.measure.String() +
			" (--positive LABEL sets one class against the others)", []string{"judge"}},
	} {
		for _, name := range rule.names {
			if rule.when && o.Given(name) {
				refuse("--%s has no meaning for %s: %s", name, set.Name, rule.why)
			}
		}
	}
}
