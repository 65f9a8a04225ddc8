package main

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/flags"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train/svm"
)

// options are the values of the flags of DATA. A command has those that it names.
type options struct {
	*flags.Set

	read            dataset.Options // without the target and the next two
	target          string
	missing, unseen string
	sample          flags.Count // its word is all: no sample

	losses                           []string // losses that the command trains; nil: all
	loss, classWeight, multiclass    string
	noise                            flags.Variance
	parameters                       loss.Parameters // without the noise
	kernel                           string
	covariance                       kernel.Spec // without kind and length scales
	lengthScale                      []float64
	noStandardize, noNormalizeTarget bool
	bias, noBias                     bool

	engine           model.Storage
	rankTol          float64
	rankError        float64
	maxMemory        int64
	asked            answer.Question // without the scheme
	scheme           string
	alike            bool // small classes are no strata, which have no influences
	ratio            float64
	ratios           []float64
	folds            int
	blocks, cvFolds  flags.Count       // their words are auto and loo
	how              answer.Retraining // without the scheme and what is asked
	cv               answer.Validation // repeats and permutations
	nested           bool
	roc, noError     bool
	refitFeatures    bool
	testLoss         string
	verbose          bool
	covarianceMatrix string // file
	by               tune.By
	measure          calibration.Measure

	over, models, chosen                   []string
	sizes                                  []int
	passes                                 int
	method, replicates, inputs, model, csv string
	format, exportName                     string
	ard, long                              bool
	tuneRows                               int
	journal                                string
	shard                                  part
}

// defaultLevel is the level of intervals.
const defaultLevel = 0.95

// declare adds the wanted flags, group by group.
func (o *options) declare() {
	o.Group("Model")
	o.Choice(&o.loss, "loss", o.losses, "")
	o.Value("noise", "", o.noise.Read)
	p := &o.parameters // their ranges avoid overflow of squares and ratios
	o.Number(&p.C, "C", 1, flags.Range{From: 1e-30, To: 1e25})
	o.Number(&p.Epsilon, "epsilon", 0.1, flags.Range{From: 0, To: 1e30})
	o.Text(&o.classWeight, "class-weight")
	o.Switch(&o.bias, "bias")
	o.Switch(&o.noBias, "no-bias")
	o.Hide("no-bias") // the help of --bias has it
	o.List(&o.chosen, "chosen")
	o.Choice(&o.multiclass, "multiclass", []string{"ovr", answer.OneAgainstOne}, "ovr")

	o.Group("Kernel")
	c, large := &o.covariance, flags.Range{From: 0, To: 1e100}
	o.Choice(&o.kernel, "kernel", append(kernel.Names(), autoKernel), "rbf")
	o.Number(&c.Gamma, "gamma", 0, flags.Above(0))
	o.Value("length-scale", "", flags.Numbers(&o.lengthScale, flags.Above(0)))
	o.Whole(&c.Degree, "degree", 0, flags.AtLeast(1))
	o.Number(&c.Coef0, "coef0", 0, flags.AtLeast(0))
	o.Number(&c.Amplitude, "amplitude", 0, flags.Range{From: 1e-100, To: 1e100})
	o.Number(&c.Constant, "constant", 0, large)
	o.Number(&c.Jitter, "jitter", 0, large)
	o.Switch(&o.ard, "ard")
	o.Whole(&o.tuneRows, "tune-rows", tune.DefaultRows, flags.Range{From: 50, To: 1e5})

	o.Group("Data")
	r := &o.read
	o.Once(&o.target, "target")
	o.List(&r.Drop, "drop")
	o.Text(&r.Weights, "weights")
	o.Text(&r.Counts, "counts")
	o.List(&r.Categorical, "categorical")
	o.Text(&r.Groups, "groups")
	o.Text(&r.Strata, "strata")
	o.Text(&r.Folds, "fold-column")
	o.Switch(&r.NoHeader, "no-header")
	o.Choice(&o.missing, "missing", []string{"error", "drop", "mean", "indicator"}, "error")
	o.List(&r.NA, "na")
	o.Text(&r.Positive, "positive")
	o.Choice((*string)(&r.As), "task", []string{string(dataset.Numbers), string(dataset.Classes)}, "")
	o.Switch(&o.noStandardize, "no-standardize")
	o.Switch(&o.noNormalizeTarget, "no-normalize-target")
	o.Choice(&o.unseen, "unseen", []string{"error", "zero"}, "error")
	o.Text(&o.inputs, "test")
	o.Add("sizes", func(name, help string) { o.IntSliceVar(&o.sizes, name, nil, help) })
	o.Switch(&o.long, "long")
	o.Text(&o.exportName, "export")
	o.Value("sample", "", flags.WholeOr(&o.sample, 8, "all"))

	o.Group("Resampling")
	o.Choice(&o.scheme, "scheme/weights", append(resample.Names(), resample.GeneratedNames()...), "poisson")
	o.Choice(&o.scheme, "scheme", slices.DeleteFunc(resample.Names(), func(name string) bool {
		return name == resample.Bayesian{}.Name() // leaves nothing out
	}), "poisson")
	o.Whole(&o.folds, "folds", 10, flags.AtLeast(2))
	o.Value("folds/cv", "10", flags.WholeOr(&o.cvFolds, 2, "loo"))
	o.Whole(&o.cv.Repeats, "repeats", 5, flags.Range{From: 1, To: 1e6})
	o.Value("blocks", "", flags.WholeOr(&o.blocks, 1, "auto"))
	o.Value("blocks/cv", "", flags.WholeOr(&o.blocks, 1, "auto"))
	o.Whole(&o.cv.Permutations, "permutations", 0, flags.Range{From: 0, To: 1e6})
	o.Switch(&o.nested, "nested")
	o.Switch(&o.roc, "roc")
	o.Switch(&o.nested, "nested/error")
	o.Switch(&o.refitFeatures, "refit-preprocessing")
	o.Number(&o.ratio, "ratio", 1, flags.Above(0))
	o.Steps(&o.ratios, "ratio/list")
	o.Value("refine", "auto", readRefine(&o.asked))
	o.Value("accuracy", "", flags.Percentage(&o.asked.Accuracy))
	o.Whole(&o.how.Resamples, "resamples", fits.DefaultResamples, flags.Range{From: 1, To: 1e9})
	o.Add("seed", func(name, help string) { o.Uint64Var(&o.asked.Seed, name, 0, help) })
	o.Whole(&o.how.Workers, "workers", 0, flags.AtLeast(1))
	o.Choice(&o.method, "method/estimate", []string{"auto", "fits", "theory"}, "auto")
	flags.Named(o.Set, &o.how.Method, "method/retrain",
		[]model.RetrainMethod{model.AutoMethod, model.Batch, model.Single}, model.AutoMethod)
	o.Choice(&o.method, "method/loo", []string{"exact", "fast", "xialpha", "approx", allMethods}, "fast")
	o.List(&o.models, "models")

	o.Group("Solving")
	flags.Named(o.Set, &o.engine, "engine",
		[]model.Storage{model.Auto, model.Exact, model.LowRank, model.ScaLAPACK}, model.Auto)
	o.Number(&o.rankTol, "rank-tol", 0, flags.Inside(0, 1))
	o.Value("rank-error", "", flags.Percentage(&o.rankError))
	o.Number(&o.asked.Solve.Tolerance, "tol", solver.DefaultTolerance, flags.Inside(0, 1))
	o.Whole(&o.asked.Solve.MaxSweeps, "max-sweeps", solver.DefaultMaxSweeps, flags.AtLeast(1))
	o.Number(&o.asked.Solve.Tolerance, "tol/train", svm.DefaultTolerance, flags.Inside(0, 1))
	o.Whole(&o.passes, "passes", answer.DefaultPasses, flags.AtLeast(1))
	o.Add("over/grid", func(name, help string) { o.StringArrayVar(&o.over, name, nil, help) })
	o.List(&o.over, "over/tune")
	flags.Named(o.Set, &o.by, "by",
		[]tune.By{tune.Folds, tune.LeftOut, tune.Plain632, tune.Plus632, tune.LeaveOneOut, tune.Evidence},
		tune.Folds)
	o.Value("judge", calibration.ByError, func(text string) (string, error) {
		m, err := calibration.ParseMeasure(text)
		o.measure = m
		return m.String(), err
	})
	o.Value("max-memory", "", flags.Bytes(&o.maxMemory))
	o.Text(&o.journal, "journal")
	o.Value("shard", "", o.shard.read)

	o.Group("Output")
	o.Value("test-loss", "", func(text string) (string, error) {
		o.testLoss = text
		name, _, _ := strings.Cut(text, ":")
		_, err := loss.TestByName(text)
		switch names := loss.TestNames(); {
		case !slices.Contains(names, name):
			return text, usage.Errorf("%q is not available (there is %s)", text, strings.Join(names, ", "))
		case err != nil:
			return text, usage.Errorf("%s", strings.TrimPrefix(err.Error(), "loss: "))
		}
		return text, nil
	})
	o.List(&o.asked.Metrics, "metrics")
	o.Switch(&o.asked.NoPoints, "no-points")
	o.Switch(&o.noError, "no-error")
	o.Switch(&o.verbose, "verbose")
	o.Switch(&o.asked.Sets, "sets")
	o.Number(&o.asked.Level, "level", defaultLevel, flags.Inside(0, 1))
	o.Choice(&o.asked.Intervals.Of, "interval", []string{answer.Estimator, answer.Observation}, "")
	plain, scaled := string(answer.PlainResiduals), string(answer.ScaledResiduals)
	o.Choice((*string)(&o.asked.Intervals.Residuals), "residuals", []string{plain, scaled}, "")
	o.Value("quantiles", "", flags.Numbers(&o.asked.Quantiles, flags.Inside(0, 1)))
	o.Text(&o.covarianceMatrix, "covariance")
	o.Text(&o.model, "model/train")
	o.Text(&o.model, "model/predict")
	o.Choice(&o.format, "format", []string{jsonFormat, libsvmFormat}, "")
	o.Text(&o.csv, "csv")
	o.Text(&o.replicates, "replicates")
}

// readOptions are the options for reading DATA and new inputs. Without a memory limit the inputs may take
// half of the free memory: a copy of them is standardised.
func (o *options) readOptions(stdin io.Reader) dataset.Options {
	const leastRoom = 64 << 20
	read := o.read
	read.Stdin, read.Target, read.UnseenZero = stdin, o.target, o.unseen == "zero"
	read.Missing, read.TaskKnown = dataset.Missing(o.missing), o.loss != ""
	if read.Groups == noGroups {
		read.Groups = ""
	}
	read.MaxBytes = o.maxMemory
	if left, known := linalg.AvailableMemory(); known && read.MaxBytes == 0 {
		read.MaxBytes = max(leastRoom, left/2)
	}
	return read
}

func optionsOf(c *command, f *pflag.FlagSet) *options {
	o := &options{Set: flags.New(f, flagHelp, append([]string{"out", "ignore"}, flagLists[c.name]...)),
		losses: c.losses}
	o.asked.Level = defaultLevel
	if o.losses == nil {
		o.losses = loss.Names()
	}
	o.declare()
	for name, value := range c.defaults {
		o.Default(name, value)
	}
	return o
}

func with(settings []string, c *command) (*options, error) {
	o := optionsOf(c, pflag.NewFlagSet("", pflag.ContinueOnError))
	return o, take(o.FlagSet, settings)
}

// take sets flags from the settings of a journal.
func take(f *pflag.FlagSet, settings []string) error {
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		if f.Lookup(name) == nil || !isRecorded(name) {
			return usage.Errorf("there is a setting %q, which no journal can have", name)
		}
		if err := f.Set(name, value); err != nil {
			return flagError(nil, err)
		}
	}
	return nil
}
