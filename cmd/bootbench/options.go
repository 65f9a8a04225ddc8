package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/solver"
)

// modelFlags say what is modelled.
type modelFlags struct {
	lossFlags
	kernel                      string
	gamma                       float64
	lengthScale                 []float64
	degree                      int
	coef0                       float64
	amplitude, constant, jitter float64
	noStandardize, mapLabels    bool
	used                        loss.Parameters // of the loss that was chosen
	engine                      *engineFlags    // nil: exact
	maxMemory                   size
}

// names of the flags that belong to DATA and have no meaning without it.
var modelFlagNames = append([]string{"kernel", "gamma", "length-scale", "degree", "coef0", "amplitude", "constant", "jitter", "no-standardize", "map-labels"}, lossFlagNames...)

func (m *modelFlags) register(f *pflag.FlagSet) {
	f.SortFlags = false
	m.lossFlags.register(f)
	f.StringVar(&m.kernel, "kernel", "rbf", "covariance `KERNEL`: rbf, matern12, matern32, matern52, linear, poly or precomputed (the features are then rows of the kernel matrix)")
	f.Float64Var(&m.gamma, "gamma", 0, "rbf: exp(-G |x-x'|^2); matern: length scale 1/sqrt(2 G); poly: factor of x.x'; `G` above 0; default 1/(2 d), d the number of features")
	f.Float64SliceVar(&m.lengthScale, "length-scale", nil, "exp(-1/2 sum_j ((x_j-x'_j)/L_j)^2) and alike for matern; one `L[,L...]` for all features or one for each, above 0, in units of the (standardised) features; instead of --gamma; default: see --gamma")
	f.Lookup("length-scale").DefValue = "" // not "[]"
	f.IntVar(&m.degree, "degree", 3, "poly: degree `P`, at least 1")
	f.Float64Var(&m.coef0, "coef0", 0, "poly: `C` in (G x.x' + C)^P, at least 0; default 0")
	f.Float64Var(&m.amplitude, "amplitude", 1, "factor `A` of the kernel, above 0")
	f.Float64Var(&m.constant, "constant", 0, "added to every entry of the kernel, `B` at least 0: a bias term; default 0")
	f.Float64Var(&m.jitter, "jitter", 0, "added to the kernel's diagonal over the training examples, `J` at least 0; above 0 examples with equal inputs are kept apart; default 0")
	f.BoolVar(&m.noStandardize, "no-standardize", false, "take the features as they are; default: to mean 0 and population standard deviation 1 over DATA, constant columns to 0")
	f.BoolVar(&m.mapLabels, "map-labels", false, "say that a target of two values (0/1, 1/2, ...) is a label: the smaller stands for -1, the larger for +1; default: so for losses of labels")
	f.Var(&m.maxMemory, "max-memory", "memory that may be used, a number with unit (`SIZE`: 500MB, 8GiB); default: what the machine has left, 2GiB for the features")
}

// registerEngine adds the choice of the engine. Commands without it hold the
// kernel matrix whole.
func (m *modelFlags) registerEngine(f *pflag.FlagSet) {
	m.engine = &engineFlags{}
	m.engine.register(f)
}

// load reads DATA.
func (m *modelFlags) load(s *session, path string) (*dataset.Set, error) {
	set, err := s.readData(path, m.dataOptions(s))
	if err != nil || !m.mapLabels {
		return set, err
	}
	if err := set.Classify(""); err != nil {
		return nil, usagef("--map-labels: %w", err)
	}
	return set, nil
}

// inputs reads new inputs for a set, their targets mapped like its own.
func (m *modelFlags) inputs(s *session, path string, set *dataset.Set) (*dataset.Inputs, error) {
	return dataset.LoadInputs(path, set, m.dataOptions(s))
}

func (m *modelFlags) dataOptions(s *session) dataset.Options {
	return dataset.Options{MaxBytes: int64(m.maxMemory), Stdin: interruptible{s.ctx, s.stdin}}
}

// spec is the model of a data set: its preset, if it has one, with what the
// user asks for in its place; and where the preset comes from.
func (m *modelFlags) spec(set *dataset.Set) (model.Spec, string, error) {
	preset, known := model.PresetFor(set)
	spec := model.Spec{Set: set, MaxBytes: int64(m.maxMemory), Standardize: set.Sparse == nil}
	var err error
	if spec.Loss, m.used, err = m.choose(preset, known); err != nil {
		return spec, "", err
	}
	about, err := loss.About(spec.Loss.Name())
	switch {
	case err != nil:
	case about.Task == loss.Regression && set.Task == dataset.Classification:
		return spec, "", usagef("--loss %s is for regression; the targets of %s are the labels -1 and +1", spec.Loss.Name(), set.Name)
	case about.Task == loss.Classification && set.Task == dataset.Regression:
		if err := set.Classify(""); err != nil {
			return spec, "", err
		}
	}
	if spec.Kernel.Kind, err = kernel.ParseKind(m.kernel); err != nil {
		return spec, "", usagef("--kernel: %w", err)
	}
	if err := m.refuseZeros(); err != nil {
		return spec, "", err
	}
	kept := known && !m.given("kernel", "gamma", "length-scale")
	if kept {
		spec.Kernel, spec.Standardize = preset.Kernel, preset.Standardize
	}
	if spec.Kernel.Kind == kernel.Precomputed {
		spec.Standardize = false
	}
	if m.given("no-standardize") {
		spec.Standardize = !m.noStandardize
	}
	m.kernelParameters(&spec.Kernel)
	if m.engine != nil {
		if err := m.engine.apply(&spec); err != nil {
			return spec, "", err
		}
	}
	if err := spec.Kernel.Validate(set.D()); err != nil {
		return spec, "", asUsage(err)
	}
	return spec, m.source(preset, kept || known && !m.given(lossFlagNames...)), nil
}

// source says where a model comes from that holds something of a preset.
func (m *modelFlags) source(preset model.Preset, used bool) string {
	switch {
	case !used:
		return ""
	case m.given(modelFlagNames...):
		return preset.Source + ", changed"
	}
	return preset.Source
}

// given reports whether the user gave any of these flags.
func (m *modelFlags) given(names ...string) bool {
	return slices.ContainsFunc(names, m.flags.Changed)
}

// refuseZeros refuses zeros that a kernel.Spec would take for the default.
func (m *modelFlags) refuseZeros() error {
	for _, v := range []struct {
		name string
		zero bool
	}{{"gamma", m.gamma == 0}, {"amplitude", m.amplitude == 0}, {"degree", m.degree == 0}} {
		if m.given(v.name) && v.zero {
			return usagef("--%s is 0, must be above 0", v.name)
		}
	}
	if m.given("length-scale") && len(m.lengthScale) == 0 {
		return usagef("--length-scale names no length scale")
	}
	return nil
}

// kernelParameters sets those that the user gave.
func (m *modelFlags) kernelParameters(k *kernel.Spec) {
	if m.given("gamma") {
		k.Gamma = m.gamma
	}
	if m.given("length-scale") {
		k.LengthScale = m.lengthScale
	}
	if m.given("degree") {
		k.Degree = m.degree
	}
	if m.given("coef0") {
		k.Coef0 = m.coef0
	}
	if m.given("amplitude") {
		k.Amplitude = m.amplitude
	}
	if m.given("constant") {
		k.Constant = m.constant
	}
	if m.given("jitter") {
		k.Jitter = m.jitter
	}
}

// oneOf refuses a name that is not available.
func oneOf(flag, name string, available ...string) error {
	if slices.Contains(available, name) {
		return nil
	}
	return usagef("--%s %q is not available (there is %s)", flag, name, strings.Join(available, ", "))
}

// solverFlags steer the solve.
type solverFlags struct {
	tol       float64
	maxSweeps int
	method    string
}

func (v *solverFlags) register(f *pflag.FlagSet) {
	v.registerLimits(f)
	f.StringVar(&v.method, "method", "adatap", "approximation `METHOD`: adatap, the theory, or the weaker start, variational, meanfield of Malzahn and Opper 2003")
}

// registerTrace adds the trace of a solve.
func (v *solverFlags) registerTrace(s *session, f *pflag.FlagSet) {
	f.StringVar(&s.trace.path, "trace", "", "write what each sweep did, its residual and its seconds to `FILE`, between tabs; default: none")
}

func (v *solverFlags) registerLimits(f *pflag.FlagSet) {
	f.Float64Var(&v.tol, "tol", solver.DefaultTolerance, "largest relative change of a site parameter at convergence, `TOL` between 0 and 1")
	f.IntVar(&v.maxSweeps, "max-sweeps", solver.DefaultMaxSweeps, "refreshes of the response matrix at most, `K` at least 1")
}

func (v *solverFlags) settings() (solver.Settings, error) {
	settings := solver.Settings{Tolerance: v.tol, MaxSweeps: v.maxSweeps}
	if !(v.tol > 0 && v.tol < 1) {
		return settings, usagef("--tol is %v, must lie between 0 and 1", v.tol)
	}
	if v.maxSweeps < 1 {
		return settings, usagef("--max-sweeps is %d, must be at least 1", v.maxSweeps)
	}
	if v.method == "" {
		return settings, nil
	}
	var err error
	if settings.Method, err = solver.MethodByName(v.method); err != nil {
		return settings, usagef("--method: %w", err)
	}
	return settings, nil
}

// testFlags say how predictions are judged and what is printed of each example.
type testFlags struct {
	test     string
	noPoints bool
	level    float64
}

func (t *testFlags) register(f *pflag.FlagSet) {
	t.registerTest(f)
	f.BoolVar(&t.noPoints, "no-points", false, "leave the values per example out of the JSON document and the summary; default: they are in")
}

// registerTest adds the test loss alone.
func (t *testFlags) registerTest(f *pflag.FlagSet) {
	f.StringVar(&t.test, "test-loss", "", "by which left-out predictions are judged, `LOSS`: square, absolute, smooth-eps (eps-insensitive, eps 0.1, corners smoothed) or zero-one; default: square for regression, zero-one for classification")
}

// registerLevel adds the level of intervals.
func (t *testFlags) registerLevel(f *pflag.FlagSet) {
	f.Float64Var(&t.level, "level", 0.95, "share of the resamples whose prediction lies in the interval, `P` between 0 and 1: how far the trained predictor moves, not where a new observation falls")
}

func (t *testFlags) checkLevel() error {
	if !(t.level > 0 && t.level < 1) {
		return usagef("--level is %v, must lie between 0 and 1", t.level)
	}
	return nil
}

// of is the test loss for a data set.
func (t *testFlags) of(set *dataset.Set) (loss.Test, error) {
	switch {
	case t.test == "" && set.Task == dataset.Classification:
		return loss.ZeroOne{}, nil
	case t.test == "":
		return loss.SquareTest{}, nil
	}
	if err := oneOf("test-loss", t.test, loss.TestNames()...); err != nil {
		return nil, err
	}
	test, err := loss.TestByName(t.test)
	return test, asUsage(err)
}

// size is a number of bytes on the command line, 0 where it is not given.
type size int64

// String is the number as --help shows it.
func (b *size) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type is the flag's type in --help.
func (b *size) Type() string { return "SIZE" }

// Set reads a number with a unit: none or B, K, M, G, T with B (powers of 1000)
// or with nothing or iB (powers of 1024), in any case.
func (b *size) Set(text string) error {
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "kmgtib")
	unit, value := strings.TrimSpace(lower[len(digits):]), 0.0
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	factor, known := unitOf(unit)
	bytes := value * factor
	if err != nil || !known || !(bytes >= 1 && bytes < math.MaxInt64) {
		return fmt.Errorf("%q is not a size such as 500MB or 8GiB", text)
	}
	*b = size(bytes)
	return nil
}

func unitOf(unit string) (factor float64, known bool) {
	if unit == "" || unit == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgt", unit[0]) + 1
	switch unit[1:] {
	case "", "ib":
		return math.Pow(1024, float64(power)), power > 0
	case "b":
		return math.Pow(1000, float64(power)), power > 0
	}
	return 0, false
}

// ratios reads "a:b:count", count ratios from a to b in equal factors, or a
// list "a,b,c".
func ratios(text string) ([]float64, error) {
	bad := func() ([]float64, error) {
		return nil, usagef("--ratio %q is neither FROM:TO:COUNT (0.1:5:20) nor a list (0.5,1,2) of numbers above 0", text)
	}
	parts := strings.Split(text, ":")
	if len(parts) != 1 && len(parts) != 3 {
		return bad()
	}
	if len(parts) == 3 {
		from, err1 := strconv.ParseFloat(parts[0], 64)
		to, err2 := strconv.ParseFloat(parts[1], 64)
		count, err3 := strconv.Atoi(parts[2])
		const most = 100000
		if err1 != nil || err2 != nil || err3 != nil || !(from > 0 && to > 0) || math.IsInf(from*to, 0) || count < 2 || count > most {
			return bad()
		}
		return logSpaced(from, to, count), nil
	}
	var list []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return bad()
		}
		list = append(list, v)
	}
	return list, nil
}

// logSpaced is count values from from to to in equal factors, both ends exact.
func logSpaced(from, to float64, count int) []float64 {
	list := make([]float64, count)
	for i := range list {
		list[i] = from * math.Pow(to/from, float64(i)/float64(count-1))
	}
	list[count-1] = to
	return list
}
