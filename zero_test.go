package bootbench_test

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"path"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"bootbench"
	"bootbench/bench"
	"bootbench/blas"
	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
	"bootbench/train"
	"bootbench/train/erm"
	"bootbench/train/gp"
	"bootbench/train/machine"
	"bootbench/train/svm"
)

// publicPackages are the packages that other modules import.
var publicPackages = []string{".", "bench", "blas", "fits", "kernel", "linalg", "loss", "resample", "solver",
	"solver/adjoint", "train", "train/erm", "train/gp", "train/machine", "train/svm"}

// publicFunctions are their exported functions.
var publicFunctions = []any{
	bootbench.Choose, bootbench.Columns, bootbench.CrossValidate, bootbench.Estimate,
	bootbench.Load, bootbench.LoadInputs, bootbench.New, bootbench.NewInputs,
	bootbench.NewSpec, bootbench.Predict,
	bootbench.ReadModel, bootbench.Invert, bootbench.Retrain, bootbench.Train, bootbench.Tune,
	bench.CompareTasks, bench.DefaultCases, bench.Median, bench.NewRetrained, bench.NewSetup,
	bench.NewVarianceAccuracy,
	blas.Bind, blas.Bound, blas.Describe, blas.Names, blas.NewSmall, blas.SingleThreaded, blas.SmallWork,
	blas.Syrk, blas.ThreadsForOrder, blas.Trmm,
	fits.Against, fits.Along, fits.Batch, fits.BlockBytes, fits.ControlledBytes, fits.CostOf, fits.Estimate,
	fits.Jackknife, fits.NewBlocks, fits.NewControlled, fits.NewSums, fits.NumbersPerExample, fits.OfTheory,
	fits.PairsOf, fits.Predicting, fits.RankWithin, fits.Run, fits.RunPath, fits.Single, fits.SizeOfBlock,
	fits.Train, fits.Wide,
	kernel.Names, kernel.ParseKind, kernel.Unmarshal,
	linalg.AvailableMemory, linalg.BiasVariance, linalg.CheckDiagonal, linalg.CheckMemory, linalg.NewCoupler,
	linalg.CubicDiag,
	linalg.DenseBytes, linalg.Diagonal, linalg.Eigenvalues, linalg.FactorOf, linalg.FormatBytes,
	linalg.InputDim,
	linalg.LowRankBytes, linalg.LowerGram, linalg.MulVecOffDiag, linalg.NewCholeskyEngine,
	linalg.NewCSR, linalg.NewMatrix, linalg.NewPredictor, linalg.NewProduct32, linalg.NewResponse,
	linalg.NewSym, linalg.PaddedStride,
	linalg.Parallel, linalg.PivotedCholesky, linalg.RankThatFits, linalg.Reserve, linalg.Responses,
	linalg.RoughEngine,
	linalg.Room, linalg.Row, linalg.Share, linalg.SideBySide, linalg.SymBytes, linalg.SymFromDense,
	linalg.SymOf, linalg.WithBias, linalg.ZeroSym,
	loss.About, loss.Balanced, loss.ByName, loss.Drawn, loss.FromPiecewise, loss.FromSmooth, loss.Names,
	loss.NoiseOf, loss.Normal,
	loss.ParametersOf, loss.ProxEach, loss.Range, loss.Share, loss.TestByName, loss.TestNames, loss.Times,
	loss.TraitsOf,
	resample.ByName, resample.Cache, resample.Check, resample.CheckFor, resample.IsDependent,
	resample.Tested, resample.Names, resample.GeneratedNames, resample.NewGenerated,
	resample.ProbAbsent, resample.ProbZero,
	solver.CheckLevel, solver.Combine632, solver.Is632Applicable, solver.NormalInterval, solver.Solve,
	solver.WorkspaceBytes,
	adjoint.Differentiate, adjoint.Influence, adjoint.Interactions,
	train.Default[int], train.Room, train.Until, machine.For,
	erm.NewTrainer, gp.Evidence, gp.FitByEngine, gp.FitFull, gp.LeaveOneOut, gp.NewEP, gp.NewInverse,
	gp.NewLeftOut, gp.NewTrainer,
	svm.Box, svm.BoxesWithout, svm.NewRows, svm.NewTrainer, svm.TrainPerceptron, svm.TrainPrimal,
}

// publicTypes are the types that no signature of these leads to, and the types of internal packages that the
// root package names.
var publicTypes = []any{bootbench.Data{}, bootbench.ReadOptions{}, bootbench.Spec{}, bootbench.Trained{},
	bootbench.Inverse{}, bootbench.Folds{},
	gp.PivotError{}, &gp.Downdate{}, svm.InfeasibleError{}, svm.ModelFile{}, svm.LeftOut{}, svm.Response{},
	svm.Downdate{}, svm.Downdates{},
	&blas.Crew{}, blas.Fault{}, linalg.PivotError{}, linalg.EntryError{}, &linalg.LowRankSystem{},
	linalg.RankError{},
	fits.Decided{}, fits.Expectation{}, fits.Joint{}, fits.Largest(0), fits.Moments{}, fits.Votes{},
	&fits.UnconvergedError{}, &fits.Controlled{}, fits.Work{}, fits.BlockStats{},
	loss.Absolute{}, loss.EpsInsensitive{}, loss.HardMargin{}, loss.Hinge{}, loss.Huber{},
	loss.LeastAbsolute{},
	loss.Logistic{}, loss.Logit{}, loss.Moments{}, loss.Prediction{}, loss.Probit{}, loss.SmoothEps{},
	loss.Square{}, loss.SquareTest{}, loss.SquaredHinge{}, loss.Vote{}, loss.ZeroOne{},
	resample.Bayesian{}, resample.Bernoulli{}, resample.CircularBlocks{}, resample.Designed{},
	resample.ForwardChain{}, resample.Generated{}, resample.GivenFolds{}, resample.Grouped{},
	resample.KFold{},
	resample.Multinomial{}, resample.Partition{}, resample.Path{}, resample.Permuted{}, resample.Poisson{},
	resample.Resamples{}, resample.Stratified{}, resample.Subsample{}, resample.Weighted{},
	resample.Without{}, solver.Ensemble{}}

// mayPanic are the functions without an error result, and the methods of types that a function makes, that
// need more than zero values.
var mayPanic = regexp.MustCompile(strings.Join([]string{
	// As gonum does, their packages say; methods of values that functions make.
	`^(blas|linalg)\.`, `^kernel\.Inputs\.`, `^resample\.Cached\.`,
	// Of a solution, averages, a model, a set, an answer, a site, a matrix, examples or a law.
	`^fits\.(Against|Batch|OfTheory|Joint\.\w+|Moments\.\w+)$`,
	`^bench\.(NewRetrained|NewSetup|Case\.Title)$`,
	`^internal/(dataset\.Set\.Against|model\.Spec\.(Key|CompleteKernel))$`,
	`^solver\.(Solution\.(Distribution|InputDim)|Combine632|Is632Applicable)$`,
	`^resample\.Prob(Zero|Absent)$`,
	// Fields must be set: what takes a scheme or a loss checks it.
	`^train/svm\.(BoxesWithout|NewTrainer|TrainPerceptron|TrainPrimal)$`, `^train/(erm|gp|svm)\.\w+\.`,
	`^resample\.\w+\.(Alternatives|Draw|Fit|Period|Targets|Tested)$`, `^resample\.Designed\.`,
	`^loss\.\w+\.Prox$`,
}, "|"))

// TestZeroValues: every exported function and method returns when it is called with zero values, a method on
// a zero value. Functions with an error result have no exception; mayPanic lists exceptions among the others.
func TestZeroValues(t *testing.T) {
	known := map[string]bool{}
	call := func(name string, f reflect.Value) {
		name, _, _ = strings.Cut(name, "[")
		known[name] = true
		in := make([]reflect.Value, f.Type().NumIn())
		for i := range in {
			in[i] = reflect.Zero(f.Type().In(i))
		}
		defer func() {
			outs := f.Type().NumOut()
			fails := outs > 0 && f.Type().Out(outs-1) == reflect.TypeFor[error]() &&
				strings.Count(name, ".") == 1
			if p := recover(); p != nil && (fails || !mayPanic.MatchString(name)) {
				t.Errorf("%s panics: %v", name, p)
			}
		}()
		if f.Type().IsVariadic() {
			f.CallSlice(in)
		} else {
			f.Call(in)
		}
	}
	nameOf := func(of reflect.Type) string {
		generic, _, _ := strings.Cut(of.Name(), "[")
		return strings.TrimPrefix(of.PkgPath(), "bootbench/") + "." + generic
	}
	types := map[reflect.Type]bool{}
	var reach func(reflect.Type)
	reach = func(of reflect.Type) {
		if types[of] {
			return
		}
		types[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			reach(of.Elem())
		case reflect.Func:
			for i := range of.NumIn() {
				reach(of.In(i))
			}
			for i := range of.NumOut() {
				reach(of.Out(i))
			}
		case reflect.Struct:
			for _, field := range reflect.VisibleFields(of) {
				reach(field.Type)
			}
		}
	}
	for _, f := range publicFunctions {
		v := reflect.ValueOf(f)
		call(strings.TrimPrefix(runtime.FuncForPC(v.Pointer()).Name(), "bootbench/"), v)
		reach(v.Type())
	}
	named := map[string]bool{}
	for _, v := range publicTypes {
		reach(reflect.TypeOf(v))
		named[nameOf(reflect.TypeOf(v))] = true
	}
	for of := range maps.Clone(types) {
		name := nameOf(of)
		if known[name] = true; of.Kind() == reflect.Interface || of.Name() == "" ||
			!slices.Contains(publicPackages, path.Dir(name+"/")) && !named[name] {
			continue
		}
		v := reflect.New(of)
		for i := range v.NumMethod() {
			call(name+"."+v.Type().Method(i).Name, v.Method(i))
		}
	}
	for _, name := range exported(t) {
		if !known[name] {
			t.Errorf("%s is not in the lists of this test", name)
		}
	}
}

// failure is the error of a call with a value.
func failure[V any](_ V, err error) error { return err }

// TestOddArguments: what is out of range or missing is refused by an error, with a whole specification.
func TestOddArguments(t *testing.T) {
	ctx := t.Context()
	data := testutil.Must(bootbench.Load("synthetic:friedman1,n=12", bootbench.ReadOptions{}))(t)
	spec := bootbench.NewSpec(data, bootbench.Square{Noise: 1})
	refused := func(name string, ask func() error) {
		t.Helper()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s panics: %v", name, p)
			}
		}()
		if err := ask(); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	each := func(name string, ctx context.Context, spec bootbench.Spec, o bootbench.Options) {
		t.Helper()
		refused("Estimate: "+name, func() error { return failure(bootbench.Estimate(ctx, spec, o)) })
		refused("Predict: "+name, func() error { return failure(bootbench.Predict(ctx, spec, data, o)) })
		refused("Retrain: "+name, func() error { return failure(bootbench.Retrain(ctx, spec, o)) })
	}
	each("no context", nil, spec, bootbench.Options{})
	each("no loss", ctx, bootbench.NewSpec(data, nil), bootbench.Options{})
	for _, scheme := range []bootbench.Scheme{bootbench.KFold{Folds: 1000}, bootbench.KFold{},
		bootbench.KFold{Folds: 1000, N: 12}, bootbench.KFold{Folds: 4, N: 8}, bootbench.Poisson{},
		bootbench.Poisson{Ratio: -1}, bootbench.Poisson{Ratio: math.NaN()}, bootbench.Multinomial{},
		bootbench.Multinomial{Size: 12}, bootbench.Multinomial{Size: 12, N: 7}, resample.Subsample{},
		resample.Subsample{Size: 13, N: 12}, resample.Subsample{Size: 3, N: 5}, resample.Bernoulli{},
		resample.Bernoulli{Rate: 2}, resample.Bayesian{}, resample.Bayesian{N: 3, Shape: 1},
		resample.Designed{}, resample.Designed{Design: resample.Design{N: 3}}} {
		each(fmt.Sprintf("%T%+[1]v", scheme), ctx, spec, bootbench.Options{Scheme: scheme})
	}
	for _, folds := range []bootbench.Folds{{Folds: 1000}, {Folds: -1}, {Folds: 3, Repeats: -1},
		{Given: []int{0, 1}}, {Given: make([]int, 12)}, {Folds: 3, Permutations: -1},
		{Folds: 3, Design: resample.Design{Group: []int{1}}},
		{Folds: 3, Design: resample.Design{Stratum: []int{1}}},
		{Folds: 3, Design: resample.Design{Block: -1}}} {
		refused(fmt.Sprintf("CrossValidate: %+v", folds), func() error {
			return failure(bootbench.CrossValidate(ctx, spec, folds, bootbench.Options{}))
		})
	}
	for _, level := range []float64{-1, 1, 2, math.NaN()} {
		refused(fmt.Sprint("Predict: level ", level), func() error {
			return failure(bootbench.Predict(ctx, spec, data, bootbench.Options{Level: level}))
		})
	}
	judged, labels := spec, spec
	judged.Measure.Name = "auc"
	labels.Set = testutil.Must(bootbench.Load("synthetic:blobs,n=12", bootbench.ReadOptions{}))(t)
	labels.Loss, labels.Measure.Name = bootbench.Hinge{C: 1}, "nosuch"
	each("a measure of numbers", ctx, judged, bootbench.Options{})
	each("an unknown measure", ctx, labels, bootbench.Options{})
	refused("Tune: a measure of numbers", func() error { return failure(bootbench.Tune(ctx, judged)) })
	refused("Predict: sets of numbers", func() error {
		return failure(bootbench.Predict(ctx, spec, data, bootbench.Options{Sets: true}))
	})
	refused("Columns: level 2", func() error {
		return failure(bootbench.Columns(ctx, spec, bootbench.Options{Level: 2}))
	})
	refused("Predict: no inputs", func() error {
		return failure(bootbench.Predict(ctx, spec, nil, bootbench.Options{}))
	})
	refused("Train: no loss", func() error {
		return failure(bootbench.Train(ctx, bootbench.Spec{Set: data}))
	})
	refused("Tune: unknown", func() error { return failure(bootbench.Tune(ctx, spec, "nosuch")) })
}

// TestDefaultScheme: without a scheme resamples are drawn over the groups of the data, or within classes of
// fewer than 30 rows.
func TestDefaultScheme(t *testing.T) {
	data := testutil.Must(bootbench.Load("synthetic:blobs,n=40", bootbench.ReadOptions{}))(t)
	var classes []int
	grouped := *data
	for i, y := range data.Columns[0].Y {
		classes, grouped.Groups = append(classes, int(y)), append(grouped.Groups, i/4)
	}
	for _, c := range []struct {
		data   *bootbench.Data
		name   string
		design bootbench.Design
	}{
		{data, "multinomial", bootbench.Design{N: 40, Stratum: classes}},
		{&grouped, "poisson", bootbench.Design{N: 40, Group: grouped.Groups}},
	} {
		spec := bootbench.NewSpec(c.data, bootbench.Hinge{C: 1})
		scheme := testutil.Must(c.design.Of(c.name, resample.Options{Ratio: 1}))(t)
		var errors [2]float64
		for k, s := range []bootbench.Scheme{nil, scheme} {
			o := bootbench.Options{Scheme: s}
			errors[k] = testutil.Must(bootbench.Estimate(t.Context(), spec, o))(t).Error
		}
		if errors[0] != errors[1] {
			t.Errorf("%s: error %v by default, %v over the design", c.name, errors[0], errors[1])
		}
	}
}

// TestAliasesAreDescribed: since a reader of go doc does not see the fields and methods behind an alias of an
// internal type, its comment lists them.
func TestAliasesAreDescribed(t *testing.T) {
	comments := map[string]string{}
	sources(t, ".", "bootbench.go", parser.ParseComments, func(_ *token.FileSet, _ string, file *ast.File) {
		for _, declaration := range file.Decls {
			if d, is := declaration.(*ast.GenDecl); is && d.Tok == token.TYPE && len(d.Specs) == 1 {
				comments[d.Specs[0].(*ast.TypeSpec).Name.Name] = d.Doc.Text()
			}
		}
	})
	for name, of := range map[string]reflect.Type{"Data": reflect.TypeFor[bootbench.Data](),
		"Column":      reflect.TypeFor[bootbench.Column](),
		"ReadOptions": reflect.TypeFor[bootbench.ReadOptions](), "Spec": reflect.TypeFor[bootbench.Spec](),
		"Inverse": reflect.TypeFor[*bootbench.Inverse]()} {
		var parts []string
		if of.Kind() == reflect.Struct {
			for _, field := range reflect.VisibleFields(of) {
				parts = append(parts, field.Name)
			}
		}
		for i := 0; i < of.NumMethod() && of.Kind() == reflect.Pointer; i++ {
			parts = append(parts, of.Method(i).Name)
		}
		for _, part := range parts {
			listed := regexp.MustCompile(`(?m)^\t.*\b` + part + `\b`)
			if ast.IsExported(part) && !listed.MatchString(comments[name]) {
				t.Errorf("the comment of %s does not list %s", name, part)
			}
		}
	}
}

// exported are the names of the exported functions and types of the public packages, without aliases and
// interfaces.
func exported(t *testing.T) (names []string) {
	for _, folder := range publicPackages {
		sources(t, folder, "*.go", 0, func(_ *token.FileSet, _ string, file *ast.File) {
			for name, object := range file.Scope.Objects {
				listed := object.Kind == ast.Fun
				if is, isType := object.Decl.(*ast.TypeSpec); isType && is.Assign == 0 {
					_, isInterface := is.Type.(*ast.InterfaceType)
					listed = !isInterface
				}
				if listed && ast.IsExported(name) {
					names = append(names, strings.Replace(folder, ".", "bootbench", 1)+"."+name)
				}
			}
		})
	}
	return names
}
