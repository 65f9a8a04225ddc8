package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/retrain"
	"bootbench/internal/svm"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// options are the values of the flags of DATA. A command has the groups of them that it names.
type options struct {
	*flags.Set

	target, positive, missing, unseen string // how DATA is read
	drop, categorical                 []string
	noHeader, zeroBased               bool

	losses                           []string // that the command can train; nil: all
	loss, classWeight                string
	noise                            flags.Variance
	parameters                       loss.Parameters // without the noise
	kernel                           string
	covariance                       kernel.Spec // without kind and length scales
	lengthScale                      flags.Numbers
	noStandardize, noNormalizeTarget bool
	bias, noBias                     bool

	engine           string // "": exact
	rankTol          float64
	rankError        flags.Percent
	maxRank          int
	maxMemory        flags.Size
	tol              float64
	maxSweeps        int
	scheme           string
	ratio            float64
	ratios           flags.Steps
	folds            int
	refine           refineValue
	accuracy         flags.Percent
	resamples        int
	workers          int
	seed             uint64
	testLoss         string
	metrics          []string
	noPoints         bool
	level            float64
	quantiles        flags.Numbers
	covarianceMatrix string // file
	by               string

	over, models                            []string
	sizes                                   []int
	method, replicates, inputs, model, csv  string
	interval, residuals, format, exportName string
	ard                                     bool
	starts                                  int
	journal                                 string
	shard                                   partValue
}

// The names of flags that belong together.
var (
	dataNames = []string{"target", "drop", "categorical", "no-header", "missing", "positive", "unseen",
		"zero-based"}
	lossNames   = []string{"loss", "noise", "C", "epsilon", "delta", "class-weight"} // but the first: parameters
	kernelNames = []string{"kernel", "gamma", "length-scale", "degree", "coef0", "amplitude", "constant",
		"jitter"}
	modelNames = slices.Concat(kernelNames, lossNames,
		[]string{"no-standardize", "no-normalize-target", "bias", "no-bias"})
	engineNames = []string{"engine", "rank-tol", "rank-error", "max-rank", "tol", "max-sweeps"}
	shardNames  = []string{"journal", "shard"}
	theoryNames = slices.Concat(problemNames, engineNames, shardNames, []string{"scheme", "folds", "refine",
		"seed", "accuracy", "test-loss", "metrics"})
	problemNames = slices.Concat(modelNames, dataNames[:6], []string{"zero-based", "max-memory"})
)

// parameterRange is from where to where a parameter of a loss may lie, beyond which squares and ratios of it
// leave the range of numbers, or nobody's data.
var parameterRange = map[string]flags.Range{"C": {From: 1e-30, To: 1e15}, "epsilon": {From: 0, To: 1e30},
	"delta": {From: 1e-30, To: 1e30}}

// declare adds the flags that the set wants, group by group. Of a name with a part after "/" there are
// several.
func (o *options) declare() {
	o.Group("Model")
	o.Choice(&o.loss, "loss", o.losses, "", lossHelp(o.losses))
	o.Value(&o.noise, "noise",
		"noise variance `V` of the square loss: a number in squared units of the target, "+
			"or a share of its variance such as 10%; from 1e-100 to 1e100; required with --loss square unless DATA "+
			"has "+
			"a preset")
	p := &o.parameters
	o.Number(&p.C, "C", 1, parameterRange["C"], "factor `C` of the loss against the regulariser, the cost of "+
		"margin "+
		"violation")
	o.Number(&p.Epsilon, "epsilon", 0.1, parameterRange["epsilon"], "eps: half width `E` of the tube in "+
		"units of the "+
		"target")
	o.Number(&p.Delta, "delta", 1, parameterRange["delta"], "huber: residual `D` in units of the target from "+
		"which "+
		"on the loss is linear")
	o.Text(&o.classWeight, "class-weight", "hinge, hinge2, logistic: `W` multiplies C of the examples of a "+
		"class: balanced (n/2 over the examples of the class), LABEL=A,LABEL=B, two numbers for the classes -1 "+
		"and "+
		"+1, or one for +1; from 1e-10 to 1e10; default: 1 each")
	o.Switch(&o.bias, "bias",
		"add an unpenalised intercept to the predictor, as in LIBSVM; default: for losses "+
			"of labels, except with a preset, --engine scalapack, probit and logit")
	o.Switch(&o.noBias, "no-bias", "no intercept; default: see --bias")

	o.Group("Kernel")
	c, large := &o.covariance, flags.Range{From: 0, To: 1e100}
	o.Choice(&o.kernel, "kernel", kernel.Names(), "rbf",
		"covariance `KERNEL`: rbf, matern12, matern32, matern52, "+
			"linear, poly or precomputed (the features are then rows of the kernel matrix)")
	o.Number(&c.Gamma, "gamma", 0, flags.Above(0), "rbf: exp(-G |x-x'|^2); matern: length scale 1/sqrt(2 G); "+
		"poly: factor of x.x'; default: `G` is 1/(2 d), d the number of features")
	o.lengthScale.In = flags.Above(0)
	o.Value(&o.lengthScale, "length-scale", "exp(-1/2 sum_j ((x_j-x'_j)/L_j)^2) and alike for matern; one "+
		"`L[,L...]` for all features or one for each, above 0, in units of the (standardised) features; instead "+
		"of "+
		"--gamma; default: see --gamma")
	o.Whole(&c.Degree, "degree", 0, flags.AtLeast(1), "poly: degree `P`; default: 3")
	o.Number(&c.Coef0, "coef0", 0, flags.AtLeast(0), "poly: `C` in (G x.x' + C)^P; default: 0")
	o.Number(&c.Amplitude, "amplitude", 0, flags.Range{From: 1e-100, To: 1e100},
		"factor `A` of the kernel, for "+
			"regression in squared units of the target; default: its variance, see --no-normalize-target, else 1")
	o.Number(&c.Constant, "constant", 0, large,
		"added to every entry of the kernel, `B`: a bias term; default: 0")
	o.Number(&c.Jitter, "jitter", 0, large,
		"added to the kernel's diagonal over the training examples, `J`; above "+
			"0 examples with equal inputs are kept apart; default: 0")
	o.Switch(&o.ard, "ard", "a length scale for each feature (automatic relevance determination); default: "+
		"one for all")

	o.Group("Data")
	o.Text(&o.target, "target", "column of the target, its `NAME` or number from 1; default: the last")
	o.List(&o.drop, "drop", "columns to leave out, `NAMES` or numbers from 1, separated by commas; default: "+
		"none")
	o.List(&o.categorical, "categorical", "columns whose numbers are codes of categories, `NAMES` or numbers "+
		"from 1, separated by commas: they become indicators, as texts do; default: none")
	o.Switch(&o.noHeader, "no-header", "take the first line of a table for an example; default: detected")
	o.Choice(&o.missing, "missing", []string{"error", "drop", "mean", "indicator"}, "error",
		"what to do about missing cells (empty, NA, N/A, NaN, null, ?): `HOW` is error, drop (the row), mean (of "+
			"the column) or indicator (the mean, and a feature that says so)")
	o.Text(&o.positive, "positive", "`LABEL` of the class +1, as DATA writes it, against all others; default: "+
		"the larger of two numbers, the later of two texts")
	o.Switch(&o.zeroBased, "zero-based", "indices of sparse lines count from 0; default: from 1")
	o.Switch(&o.noStandardize, "no-standardize", "take the features as they are; default: to mean 0 and "+
		"population standard deviation 1 over DATA, constant columns to 0")
	o.Switch(&o.noNormalizeTarget, "no-normalize-target", "regression: take the target as it is, amplitude 1; "+
		"default: its mean is taken off, and added to what is predicted, and the amplitude is its variance, "+
		"unless "+
		"DATA has a preset")
	o.Choice(&o.unseen, "unseen", []string{"error", "zero"}, "error",
		"what to do about texts of new inputs that "+
			"DATA lacks: `HOW` is error or zero (none of the texts of DATA)")
	o.Text(&o.inputs, "test", "new inputs: a file (`FILE`), - for standard input, or a set like DATA; required")
	o.Wholes(&o.sizes, "sizes", "numbers of examples `N[,N...]` to compare on, each the first of one "+
		"shuffle, at "+
		"least 2 and at most those of DATA; default with DATA: all and halves down to 250; without: "+
		"250,500,1000,2000 (pure Go: 250,500,1000)")
	o.Text(&o.exportName, "export", "write the set `NAME`, embedded or synthetic, to FILE; default: none")

	o.Group("Resampling")
	o.Choice(&o.scheme, "scheme", resample.Names(), "poisson",
		"resampling `SCHEME`: poisson (S is Poisson, mean "+
			"NU N), multinomial (S = NU N draws with replacement: the bootstrap, or m out of n), subsample (S = NU N "+
			"without replacement), bernoulli (each example with probability NU) or kfold (cross-validation: all "+
			"folds "+
			"but one)")
	o.Whole(&o.folds, "folds", 10, flags.AtLeast(2), "kfold: number of folds, an integer `K` up to N, which is "+
		"leave-one-out")
	o.Number(&o.ratio, "ratio", 1, flags.Above(0),
		"size of a resample over that of DATA, `NU` = S/N; without replacement at most 1")
	o.Value(&o.ratios, "ratio/list",
		"sizes of resamples over that of DATA, S/N, above 0: one `NU`, a list (0.5,1,2), "+
			"or FROM:TO:COUNT in equal factors")
	o.refine = refineAuto
	o.Value(&o.refine, "refine", fmt.Sprintf("exact resamples beside the theory, trained together around it: "+
		"unbiased values with standard errors, `R`: auto (%d, where the loss can and each example is left out "+
		"by %d "+
		"or more), none, or a number from 2", autoResamples, answer.LeastLeftOut))
	o.Value(&o.accuracy, "accuracy", "refine until the standard error of the left-out error is at most `P%` of "+
		"it, such as 0.5%; default: --refine decides")
	o.Whole(&o.resamples, "resamples", retrain.DefaultResamples, flags.Range{From: 1, To: 1e9}, "number of "+
		"retrainings, `B`")
	o.Seed(&o.seed, "seed", "seed of the random numbers, `SEED` at least 0; default: 0")
	o.Whole(&o.workers, "workers", 0, flags.AtLeast(1),
		"retrainings at a time, each on one thread, `W`; default: as many as processors")
	o.Choice(&o.method, "method/retrain", []string{"auto", "batch", "single"}, "auto", "how resamples are "+
		"trained, "+
		"`METHOD`: batch (together, as products with the theory's G), single (one by one), or auto (batch from "+
		"300 resamples on 150 distinct inputs on, 100 and 100 for losses other than square, hard and hinge)")
	o.Choice(&o.method, "method/loo", []string{"exact", "fast", "xialpha", "approx", allMethods}, "fast",
		"how, `METHOD`: exact, fast, xialpha, approx or all")
	o.List(&o.models, "models", "compare two models on DATA instead: `FILES` A.json,B.json are answers of "+
		"estimate or "+
		"retrain; the difference of their left-out errors on the same resamples, with its interval and p-value; "+
		"default: theory against retraining")

	o.Group("Solving")
	o.Choice(&o.engine, "engine", []string{"auto", "exact", "lowrank", "scalapack"}, "auto", "`ENGINE` for the "+
		"response matrix: exact (8 N^2 bytes, N^3 work), lowrank (pivoted Cholesky factor of rank r: 8 N r bytes, "+
		"N r^2 work), scalapack (spread over the processes of mpirun, in a program built with MPI: 8 N^2/P bytes "+
		"on each), or auto: exact, unless low rank is faster at --rank-tol (from 5000 distinct inputs on; below "+
		"only where the answer stays the same) or nothing else fits into memory")
	o.Number(&o.rankTol, "rank-tol", 0, flags.Inside(0, 1),
		"low rank: residual of the kernel matrix, as a share "+
			"of its diagonal, at which the factor stops, `TOL`; default: by --rank-error for the square loss, else "+
			"1e-4")
	o.Value(&o.rankError, "rank-error", "low rank: estimated change of the left-out error up to which the rank "+
		"may be too low, a percentage `P%`; auto then takes a higher rank or the exact engine; where neither "+
		"fits, "+
		"or lowrank was asked for with another value, the answer does not count as converged; default: 1%")
	o.Whole(&o.maxRank, "max-rank", 0, flags.AtLeast(1),
		"low rank: largest rank `R`; default: what fits into memory")
	o.Number(&o.tol, "tol", solver.DefaultTolerance, flags.Inside(0, 1),
		"largest relative change of a site parameter at convergence, `TOL`")
	o.Whole(&o.maxSweeps, "max-sweeps", solver.DefaultMaxSweeps, flags.AtLeast(1),
		"refreshes of the response matrix at most, `K`")
	o.Number(&o.tol, "tol/train", svm.DefaultTolerance, flags.Inside(0, 1), "hinge and hard: largest "+
		"violation of the "+
		"Kuhn-Tucker conditions at convergence, in units of y f, `TOL`")
	o.Texts(&o.over, "over/grid", "values of a flag, `NAME=VALUES` with a list (gamma=0.1,0.2) or "+
		"FROM:TO:COUNT in "+
		"equal factors, to six digits (noise=0.01:10:5), again for further flags; NAME is "+
		strings.Join(gridNames, ", ")+"; required")
	o.List(&o.over, "over/tune", "what to choose, `NAMES` of flags, each alone or with bounds NAME=FROM:TO, "+
		"separated "+
		"by commas; NAME is "+strings.Join(tuneNames, ", ")+"; default: gamma, or length-scale where that is "+
		"given, "+
		"and what the loss takes")
	o.Choice(&o.by, "by", tune.Names(), "", "by what models are compared, `OBJECTIVE`: 632plus, leftout "+
		"(error of examples that a resample leaves out), loo (leave-one-out; for labels only with --test-loss "+
		"square) or evidence (marginal likelihood, square loss); default: 632plus for numbers, leftout for labels "+
		"and grids")
	o.Whole(&o.starts, "starts", tune.DefaultStarts, flags.AtLeast(1), "descents, `N`, the first from the "+
		"values given "+
		"or defaults, the others around it")
	o.Value(&o.maxMemory, "max-memory", "memory that may be used, a number with unit (`SIZE`: 500MB, 8GiB); "+
		"default: "+
		"what the machine has left, 2GiB for the features")
	o.Text(&o.journal, "journal",
		"keep every task that is finished in the folder `DIR`, and take up those of the "+
			"same command line that are there; default: none")
	o.Value(&o.shard, "shard",
		"do only part `I/N` of the tasks, I from 0 to N-1, into --journal, for bootbench "+
			"merge; default: all")

	o.Group("Output")
	o.Choice(&o.testLoss, "test-loss", loss.TestNames(), "",
		"by which left-out predictions are judged, `LOSS`: "+
			"square, absolute, smooth-eps (eps-insensitive, eps 0.1, corners smoothed) or zero-one; default: square "+
			"for regression, zero-one for classification")
	o.List(&o.metrics, "metrics", "more measures of left-out predictions, or of new inputs that have targets, "+
		"`LIST`: rmse, mae, r2 of numbers; error, balanced-error, auc, log-loss, brier of labels; jackknife (of "+
		"left-out predictions, standard error of the left-out error over draws of DATA, by the infinitesimal "+
		"jackknife); all; default: none")
	o.Switch(&o.noPoints, "no-points", "leave the values per example out of the JSON document and the summary; "+
		"default: they are in")
	o.Number(&o.level, "level", 0.95, flags.Inside(0, 1),
		"share that an interval holds, `P`; of the resamples' "+
			"predictions, how far the trained predictor moves, unless another --interval is asked for")
	o.Choice(&o.interval, "interval", []string{answer.Estimator, answer.Observation}, answer.Estimator,
		"what the interval holds, `OF`: estimator (the prediction of another resample: how far the trained "+
			"predictor moves) or observation (a new target, its noise included: jackknife+-after-bootstrap, CV+ "+
			"with --scheme kfold)")
	o.Choice(&o.residuals, "residuals", []string{answer.Plain, answer.Scaled}, answer.Plain, "of --interval "+
		"observation, `UNIT` in which left-out residuals are carried to a new input: plain (the noise is the "+
		"same everywhere) or scaled (by how much the prediction varies there: wider where noise is larger or "+
		"examples are few)")
	o.quantiles.In = flags.Inside(0, 1)
	o.Value(&o.quantiles, "quantiles", "quantiles over resamples of the prediction at every example or new "+
		", `Q[,Q...]` between 0 and 1, such as 0.05,0.5,0.95; default: none")
	o.Text(&o.covarianceMatrix, "covariance", "write the covariances over resamples of the predictions at "+
		"every example or new "+
		"input to `FILE`.npy; default: none")
	o.Text(&o.model, "model/train", "write the model, trained on all of DATA, to `FILE`, for predict "+
		"--model; default: "+
		"none; required by train")
	o.Text(&o.model, "model/predict", "predict by a model file (`FILE`) of train, instead of DATA; of the "+
		"other flags "+
		"only those that say how --test is read and answers are written; default: none")
	o.Choice(&o.format, "format", []string{jsonFormat, libsvmFormat}, "", "`FORMAT` of the model file: json "+
		"or libsvm; "+
		"default: by its name, see above")
	o.Text(&o.csv, "csv", "write the predictions as CSV to `FILE`; with - to standard output, and nothing "+
		"else there; "+
		"default: none")
	o.Text(&o.replicates, "replicates", "write the predictions of all resamples, one row each, as a NumPy "+
		"array to "+
		"`FILE`; default: none")
}

// lossHelp is the help of --loss for the losses that a command can train.
func lossHelp(losses []string) string {
	byTask := map[loss.Task][]string{}
	for _, name := range losses {
		about, err := loss.About(name)
		if err != nil { // the perceptron
			about.Task = loss.Classification
		}
		byTask[about.Task] = append(byTask[about.Task], name)
	}
	return fmt.Sprintf("training loss `LOSS`: for labels %s; for regression %s (square takes labels, too); "+
		"bootbench "+
		"help losses has the formulas; default: the preset's of DATA, else square or hinge by the target, with "+
		"--noise or --C and --gamma by a quick search; required by grid and compare",
		strings.Join(byTask[loss.Classification], ", "),
		strings.Join(append(byTask[loss.Regression], byTask[loss.Either]...), ", "))
}

// readOptions say how DATA and new inputs are read. Without a limit of memory the inputs may take a third of
// what is left: reading takes twice the inputs.
func (o *options) readOptions(stdin io.Reader) dataset.Options {
	const leastRoom = 64 << 20
	maxBytes := int64(o.maxMemory)
	if left, known := linalg.AvailableMemory(); known && maxBytes == 0 {
		maxBytes = max(leastRoom, left/3)
	}
	read := dataset.Options{
		MaxBytes: maxBytes, Stdin: stdin, Target: o.target, Drop: o.drop, Categorical: o.categorical,
		NoHeader: o.noHeader, Positive: o.positive, UnseenZero: o.unseen == "zero", ZeroBased: o.zeroBased,
	}
	read.Missing.UnmarshalText([]byte(o.missing)) // one of its words
	return read
}

// settings are those that were given and are wanted, as NAME=VALUE.
func (o *options) settings(wanted func(name string) bool) []string {
	return slices.DeleteFunc(o.Settings(), func(setting string) bool {
		name, _, _ := strings.Cut(setting, "=")
		return !wanted(name)
	})
}

// optionsOf declares the flags of a command.
func optionsOf(c *command, f *pflag.FlagSet) *options {
	o := &options{Set: flags.New(f, c.takes), losses: c.losses}
	if o.losses == nil {
		o.losses = loss.Names()
	}
	o.declare()
	for name, value := range c.defaults {
		o.Default(name, value)
	}
	return o
}

// with are the options of a command with other settings.
func with(settings []string, c *command) (*options, error) {
	o := optionsOf(c, pflag.NewFlagSet("", pflag.ContinueOnError))
	return o, o.take(settings)
}

// take takes settings, if they are such that decide an answer.
func (o *options) take(settings []string) error {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		f := o.Lookup(name)
		if f == nil || !isRecorded(name) {
			return usage.Errorf("there is a setting %q, which no journal can have", name)
		}
		if err := o.Set.Set(name, value); err != nil {
			return flagError(nil, err)
		}
	}
	return nil
}

// checkScheme refuses what is wrong whatever DATA is.
func (o *options) checkScheme(ratios ...float64) error {
	kfold := o.scheme == resample.KFold{}.Name()
	if o.Given("folds") && !kfold {
		return usage.Errorf("--folds belongs to --scheme kfold, not to %s", o.scheme)
	}
	for _, ratio := range ratios {
		switch {
		case kfold && o.Given("ratio") && ratio != 1:
			return usage.Errorf("--ratio: --scheme kfold takes --folds instead")
		case ratio > 1 && (o.scheme == "subsample" || o.scheme == "bernoulli"):
			return usage.Errorf("--ratio is %v, must be at most 1 with --scheme %s: nothing is drawn twice", ratio,
				o.scheme)
		}
	}
	return nil
}

// schemeOf is the scheme for n examples at a ratio.
func (o *options) schemeOf(ratio float64, n int) (resample.Scheme, error) {
	scheme, err := resample.ByName(o.scheme, resample.Options{Ratio: ratio, Folds: o.folds, N: n})
	if err != nil {
		flag := "--ratio"
		if o.scheme == "kfold" {
			flag = "--folds"
		}
		return nil, usage.Errorf("%s: %s", flag, strings.TrimPrefix(err.Error(), "resample: "))
	}
	return scheme, nil
}

// solving are the settings of a solve.
func (o *options) solving() solver.Settings {
	return solver.Settings{Tolerance: o.tol, MaxSweeps: o.maxSweeps}
}
