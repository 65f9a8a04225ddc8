package answer

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// threeClasses are the thirds of a set of numbers.
func threeClasses(t *testing.T) *dataset.Set {
	set := load(t, "synthetic:friedman1,n=90")
	for i, y := range set.Columns[0].Y {
		set.Columns[0].Y[i] = math.Round(math.Max(0, math.Min(2, (y-8)/6)))
	}
	if err := set.Classify(""); err != nil || len(set.Levels()) != 3 {
		t.Fatal(err, set.Levels())
	}
	return set
}

// specOf is a model that is the same for a part of the rows: nothing is standardised, centred or scaled.
func specOf(set *dataset.Set, l loss.Loss) model.Spec {
	spec := model.NewSpec(set, l)
	spec.Standardize, spec.NormalizeTarget = false, false
	spec.Kernel = kernel.Spec{Kind: kernel.RBF, Gamma: 0.5, Amplitude: 2}
	return spec
}

// decidedByOne are the predictions for all rows by models of one target or two labels, each built and trained
// on the given rows, as often as these are given: of several classes, by their numbers, by a model of each
// class against the others or of the rows of each pair (Chang and Lin 2011). Of equal scores the first class
// in order wins.
func decidedByOne(t *testing.T, spec model.Spec, rows, order []int) []float64 {
	set := spec.Set
	fields := func(positive int, rows []int) []float64 {
		one := spec
		one.Set, one.Pairs = set.Subset(rows), false
		if len(set.Levels()) > 2 {
			column := dataset.Column{Levels: []string{"-1", "1"}}
			for _, i := range rows {
				column.Y = append(column.Y, math.Max(0, 1-math.Abs(set.Targets(0)[i]-float64(positive))))
			}
			one.Set.Columns = []dataset.Column{column}
		}
		return testutil.Must(testutil.Must(Train(t.Context(), build(t, one)))(t).Predict(set))(t)
	}
	if len(set.Levels()) < 3 {
		return fields(1, rows)
	}
	scores, class := make([][]float64, len(order)), make([]float64, set.N())
	for k := range order {
		scores[k] = make([]float64, set.N())
	}
	for a, first := range order {
		if !spec.Pairs {
			copy(scores[first], fields(first, rows))
			continue
		}
		for _, second := range order[a+1:] {
			for i, f := range fields(first, slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
				k := int(set.Targets(0)[i])
				return k != first && k != second
			})) {
				scores[map[bool]int{true: first, false: second}[f > 0]][i]++
			}
		}
	}
	for i := range class {
		best := order[0]
		for _, k := range order {
			if scores[k][i] > scores[best][i] {
				best = k
			}
		}
		class[i] = float64(best)
	}
	return class
}

// reference is what models that are trained one by one on the rows of fits say of the rows that these lack.
type reference struct {
	mean                 []float64 // of predictions, NaN for rows that no fit tests
	error, se, repeatsSE float64   // over rows or groups, and over repeats of some fits
}

// byOne is the reference of fits of a scheme, several to a partition, of a model that is chosen for each if
// choose is set.
func byOne(t *testing.T, spec model.Spec, scheme resample.Sampler, seed uint64, fits, partition int,
	group []int, choose Chooser) (r reference) {
	t.Helper()
	set, n := spec.Set, spec.Set.N()
	plan := resample.Resamples{Scheme: scheme, Seed: seed, Y: set.Targets(0)}
	weights := set.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	count, each, weight := make([]float64, n), make([]float64, n), make([]float64, n)
	var parts []float64
	r.mean = make([]float64, n)
	for first := 0; first < fits; first += partition {
		sum, total := 0.0, 0.0
		for fit := first; fit < first+partition; fit++ {
			plan.Fit(fit, weight)
			var rows []int
			for i, w := range weight {
				rows = append(rows, slices.Repeat([]int{i}, int(w))...)
			}
			one := spec
			if choose != nil {
				one = testutil.Must(choose(t.Context(), set.Subset(rows)))(t)
				one.Set, one.Pairs = set, spec.Pairs
			}
			f := decidedByOne(t, one, rows, []int{2, 1, 0})
			from, end := resample.Tested(plan, fit, n)
			for i := from; i < end; i++ {
				y := set.Targets(0)[i]
				if weight[i] > 0 {
					continue
				}
				e := model.DefaultTest(set).Value(f[i], y)
				if len(set.Levels()) > 2 {
					e = math.Min(1, math.Abs(f[i]-y))
				}
				count[i], r.mean[i], each[i] = count[i]+1, r.mean[i]+f[i], each[i]+e
				sum, total = sum+weights[i]*e, total+weights[i]
			}
		}
		parts = append(parts, sum/total)
	}
	floats.Div(r.mean, count)
	floats.Div(each, count)
	var known, of []float64
	deviation, share, square := map[int]float64{}, map[int]float64{}, 0.0
	for i, e := range each {
		if count[i] > 0 {
			known, of = append(known, e), append(of, weights[i])
		}
	}
	r.error = stat.Mean(known, of)
	for i, e := range each {
		unit := i
		if group != nil {
			unit = group[i]
		}
		if count[i] > 0 {
			deviation[unit] += weights[i] * (e - r.error) / floats.Sum(of)
			share[unit] += weights[i] / floats.Sum(of)
		}
	}
	for _, v := range share {
		square += v * v
	}
	for unit, v := range deviation { // without bias where the units have equal variances
		r.se += v * v / (1 - 2*share[unit] + square)
	}
	r.se, r.repeatsSE = math.Sqrt(r.se), stat.StdErr(stat.StdDev(parts, nil), float64(len(parts)))
	return r
}

// TestCrossValidate: left-out predictions and errors, one by one, in blocks and from one inverse, are those
// of models that are built and trained on the other rows alone, to 1e-8 (square loss) or 10 times the
// trainers' tolerance; zero-one errors are equal. So are the errors of decisions between classes, whose
// confusion counts all rows and whose probabilities add up to one. Standard errors follow by their
// definitions.
func TestCrossValidate(t *testing.T) {
	const n, seed = 48, 5
	numbers, sonar, classes := load(t, "synthetic:friedman1,n=48"), load(t, "sonar"), sortedClasses(t)
	labels := sonar.Subset(every(4, sonar.N()))
	weighted, group := *numbers, make([]int, n)
	for i := range n {
		group[i], weighted.Weights = i*7%11, append(weighted.Weights, 0.3+float64(i*5%7))
	}
	square, hinge, half := loss.Square{Noise: 1}, loss.Hinge{C: 1}, loss.Square{Noise: 0.5}
	groups, blocks := resample.Design{Group: group}, resample.Design{Block: 5}
	for k, c := range []struct {
		set       *dataset.Set
		loss      loss.Loss
		method    model.RetrainMethod
		design    resample.Design
		folds     int
		tolerance float64
		chosen    bool // without each fold
		pairs     bool
	}{
		{numbers, square, model.Single, resample.Design{}, 4, 1e-8, false, false},
		{numbers, square, model.Single, resample.Design{}, 4, 1e-8, true, false},
		{numbers, square, model.AutoMethod, resample.Design{}, 0, 1e-8, false, false},
		{numbers, square, model.Downdate, groups, 4, 1e-8, false, false},
		{numbers, square, model.Downdate, groups, 0, 1e-8, false, false},
		{numbers, square, model.Downdate, blocks, 4, 1e-8, false, false},
		{labels, hinge, model.Single, resample.Design{}, 4, 1e-2, false, false},
		{labels, hinge, model.Batch, resample.Design{}, 4, 3e-2, false, false},
		{labels, hinge, model.Downdate, resample.Design{}, 0, 3e-3, false, false},
		{classes, hinge, model.AutoMethod, resample.Design{}, 0, 0, false, false},
		{labels, half, model.Downdate, resample.Design{}, 4, 1e-8, false, false},
		{&weighted, square, model.Downdate, groups, 4, 1e-8, false, false},
		{&weighted, square, model.Single, resample.Design{}, 4, 1e-8, false, false},
		{&weighted, square, model.Downdate, blocks, 4, 1e-8, false, false},
		{&weighted, square, model.Single, resample.Design{}, 4, 1e-8, true, false},
		{classes, half, model.AutoMethod, resample.Design{}, 4, 0, false, false},
		{classes, half, model.AutoMethod, resample.Design{}, 4, 0, true, false},
		{classes, hinge, model.AutoMethod, resample.Design{}, 4, 0, false, false},
		{classes, hinge, model.AutoMethod, resample.Design{}, 4, 0, false, true},
		{classes, half, model.AutoMethod, resample.Design{}, 4, 0, true, true},
	} {
		t.Run(fmt.Sprint(k+1, " ", c.loss.Name()), func(t *testing.T) {
			spec, v := specOf(c.set, c.loss), Validation{Design: c.design, Folds: c.folds,
				Single: c.folds == 0, Repeats: 3, Seed: seed, Method: c.method}
			v.Design.N, spec.Pairs = c.set.N(), c.pairs
			if c.chosen { // by the targets that it is given
				v.Choose = func(_ context.Context, set *dataset.Set) (model.Spec, error) {
					return specOf(set, loss.Square{Noise: stat.Variance(set.Columns[0].Y, nil) / 20}), nil
				}
			}
			a := validated(t, spec, v)
			scheme := resample.Sampler(resample.ForwardChain{Folds: c.folds, Length: 5})
			if c.design.Block == 0 {
				scheme = foldsOf(t, v.Design, c.set, c.folds)
			}
			want := byOne(t, spec, scheme, seed, a.Folds*a.Repeats, a.Folds, c.design.Group, v.Choose)
			for i := 0; c.set != classes && i < len(want.mean); i++ {
				if off := math.Abs(a.Points.Mean[i] - want.mean[i]); off > c.tolerance ||
					math.IsNaN(want.mean[i]) != math.IsNaN(a.Points.Mean[i]) {
					t.Errorf("row %d is predicted %.10g when it is left out, not %.10g", i, a.Points.Mean[i],
						want.mean[i])
				}
			}
			if !c.set.AreNumbers() {
				c.tolerance = 1e-12
			}
			near := func(what string, got report.Number, want float64) {
				if off := math.Abs(float64(got) - want); !(off <= c.tolerance*(1+want)) {
					t.Errorf("%s %.12g, not %.12g", what, got, want)
				}
			}
			near("error", a.Error, want.error)
			near("standard error", a.ErrorSE, want.se)
			if a.Repeats > 1 {
				near("standard error over partitions", a.RepeatsSE, want.repeatsSE)
			}
			if c.set != classes {
				return
			}
			total, sum := 0, 0.0
			for _, row := range a.Confusion {
				for _, count := range row {
					total += count
				}
			}
			for _, p := range a.Points.Probability.Of {
				sum += p[7]
			}
			if total != c.set.N() || math.Abs(sum-1) > 1e-12 || !(*a.LogLoss > 0) ||
				!c.pairs && !(a.Error < a.Quality.Baseline) || (a.Multiclass != "") != c.pairs {
				t.Errorf("confusion %v, probabilities %v", a.Confusion, sum)
			}
		})
	}
}

// sortedClasses are three classes of which the last one comes first.
func sortedClasses(t *testing.T) *dataset.Set {
	set := threeClasses(t)
	rows := every(1, set.N())
	slices.SortStableFunc(rows, func(a, b int) int { return int(set.Targets(0)[b] - set.Targets(0)[a]) })
	return set.Subset(rows)
}

// foldsOf are folds of a set by a design, with 0 folds of single rows or groups.
func foldsOf(t *testing.T, d resample.Design, set *dataset.Set, folds int) resample.Sampler {
	t.Helper()
	if folds == 0 && d.Group == nil {
		return resample.GivenFolds{Folds: d.N, Fold: every(1, d.N)}
	} else if folds == 0 {
		return resample.GivenFolds{Folds: 1 + slices.Max(d.Group), Fold: d.Group}
	}
	if !set.AreNumbers() {
		d.Stratum = ClassesOf(set.Columns[0].Y)
	}
	return testutil.Must(d.Of("kfold", resample.Options{Folds: folds}))(t)
}

func every(step, n int) (rows []int) {
	for i := 0; i < n; i += step {
		rows = append(rows, i)
	}
	return rows
}

// TestDecisions: decisions between classes, of a model and of its file, and of resamples, are the decisions
// of models of two labels, trained one by one. They do not need probabilities, which models of more than 5000
// rows lack.
func TestDecisions(t *testing.T) {
	set, scheme := sortedClasses(t), resample.Poisson{Ratio: 1}
	for _, fitted := range []loss.Loss{loss.Square{Noise: 0.3}, loss.Hinge{C: 2}} {
		for _, pairs := range []bool{false, true} {
			const resamples, seed = 12, 5
			name, spec := fmt.Sprint(fitted.Name(), ", pairs ", pairs), specOf(set, fitted)
			spec.Pairs = pairs
			study := ask(t, spec)
			var file bytes.Buffer
			trained := testutil.Must(study.Train(t.Context(), Training{}))(t)
			testutil.Check(t, trained.Write(&file))
			read := testutil.Must(model.ReadPredictor(&file))(t)
			want := decidedByOne(t, spec, every(1, set.N()), []int{2, 1, 0})
			classes := func(p *model.Predictor) []string {
				a := testutil.Must(PredictBy(p, set, loss.ZeroOne{}, &Question{}))(t)
				return a.Points.Class
			}
			check := func(what string, got []string) {
				for i, k := range want {
					if got[i] != set.Levels()[int(k)] {
						t.Errorf("%s, %s: row %d is classified as %s, one by one as %v", name, what, i+1,
							got[i], k)
					}
				}
			}
			check("trained", classes(trained))
			for _, one := range read.All() {
				one.LeftOut = nil
			}
			check("read, without curves", classes(read))
			a := testutil.Must(study.Estimate(t.Context(), Question{Theory: Yes,
				Exact: Yes, Scheme: scheme, Resamples: resamples, Seed: seed}))(t)
			alone := byOne(t, spec, scheme, seed, resamples, resamples, nil, nil)
			// fits in blocks are exact to their tolerance, by which some fields change signs
			if off := math.Abs(float64(a.Error) - alone.error); off > 5e-3 || pairs && off > 1e-9 ||
				!(a.ErrorSE > 0) {
				t.Errorf("%s: error of resamples %v, one by one %v", name, a.Error, alone.error)
			}
			if pairs { // each class beats one
				trained.Bias, trained.Others[0].Bias, trained.Others[1].Bias = 1e6, -1e6, 1e6
				if tie := classes(trained)[0]; tie != "2" {
					t.Errorf("of equal votes %s wins, not the class that appears first", tie)
				}
			}
		}
	}
}

// TestClassesAsElsewhere: trained without every third row of iris, votes of pairs are the labels of
// svm-predict (LIBSVM, tolerance 1e-8), and fields of one class against the others the decision values of
// scikit-learn's OneVsRestClassifier.
func TestClassesAsElsewhere(t *testing.T) {
	set := testutil.Must(dataset.Open("iris"))(t)
	out := every(3, set.N())
	rest := slices.DeleteFunc(every(1, set.N()), func(i int) bool { return i%3 == 0 })
	spec := model.NewSpec(set.Subset(rest), loss.Hinge{C: 0.05})
	spec.Kernel.Gamma, spec.Standardize, spec.Bias = 1, false, true
	trained := testutil.Must(ask(t, spec).Train(t.Context(), Training{}))(t)
	spec.Pairs = true
	pairs := testutil.Must(ask(t, spec).Train(t.Context(), Training{}))(t)
	got := testutil.Must(PredictBy(pairs, set.Subset(out), loss.ZeroOne{}, &Question{}))(t)
	var wrong []int
	for i, row := range out {
		if got.Points.Class[i] != set.Levels()[int(set.Targets(0)[row])] {
			wrong = append(wrong, row)
		}
	}
	if !slices.Equal(wrong, []int{57, 60, 72, 93}) {
		t.Errorf("votes of pairs are wrong at rows %v", wrong)
	}
	want := [][]float64{{0.6606875, -0.7806172, -1.0028675}, {-1.0401480, -0.5159272, -1.0423241},
		{-1.0453278, -0.8414183, -0.0310010}} // of classes, at rows 0, 60, 120
	for k, one := range trained.All() {
		for i, v := range testutil.Must(one.Predict(set.Subset([]int{0, 60, 120})))(t) {
			if math.Abs(v-want[k][i]) > 2e-3 {
				t.Errorf("class %d, row %d: field %v, scikit-learn %v", k, i, v, want[k][i])
			}
		}
	}
}

// TestRareClass: where a class has one row, the choice without it sees only classes that have rows; a choice
// of the same model gives the decisions of that model, for each class against the others and for pairs.
func TestRareClass(t *testing.T) {
	set := threeClasses(t).Head(30)
	y := set.Columns[0].Y
	for i := range y {
		y[i] = float64(i % 2)
	}
	y[7] = 2
	for _, pairs := range []bool{false, true} {
		spec := model.NewSpec(set, loss.Hinge{C: 2})
		spec.Pairs, spec.Standardize = pairs, false
		v := Validation{Design: resample.Design{N: set.N()}, Folds: 5}
		want := validated(t, spec, v)
		v.Choose = func(_ context.Context, of *dataset.Set) (model.Spec, error) {
			for k, name := range of.Levels() {
				if !slices.Contains(of.Columns[0].Y, float64(k)) {
					t.Errorf("no row of %s", name)
				}
			}
			other := spec
			other.Set = of
			return other, nil
		}
		got := validated(t, spec, v)
		if !slices.Equal(got.Points.Class, want.Points.Class) {
			t.Errorf("pairs %v: %v, want %v", pairs, got.Points.Class, want.Points.Class)
		}
	}
}

// TestFoldsOfOne: with as many folds as examples the theory's left-out error is the closed form of leaving
// one out for the square loss, sum_i ((y_i - f_i)/(1 - H_ii))^2/n, also where inputs repeat. For the hinge
// loss it is within two of 60 rows of the error of exact fits, of which some are near 0.
func TestFoldsOfOne(t *testing.T) {
	errors := func(spec model.Spec) (theory, exact float64) {
		n := spec.Set.N()
		a := estimated(t, spec, Question{Scheme: resample.KFold{Folds: n, N: n}, Theory: Yes, Exact: No,
			Level: 0.9, Solve: solver.Settings{Tolerance: 1e-9}})
		b := validated(t, spec, Validation{Single: true, Design: resample.Design{N: n}})
		return float64(*a.TestError), float64(b.Error)
	}
	for _, spec := range []model.Spec{specOf(load(t, "synthetic:friedman1,n=60"), loss.Square{Noise: 0.5}),
		grid(t, 50)} {
		if theory, exact := errors(spec); math.Abs(theory/exact-1) > 1e-6 {
			t.Errorf("%s: %v, exact fits %v", spec.Set.Name, theory, exact)
		}
	}
	theory, exact := errors(specOf(load(t, "synthetic:rings,n=60"), loss.Hinge{C: 1}))
	if off := math.Abs(theory - exact); off > 2.0/60 {
		t.Errorf("hinge: off by %v", off)
	}
}

// TestDualWeights: what svm_light's -a prints. The weights and slacks of the model of all rows are those of
// its dual: f = sum_j a_j y_j K_ij + b has y_i f_i = 1 - xi_i where a_i > 0 is below C or xi_i > 0, and
// sum a_i y_i = 0; every left-out error has a bound of 1 or more; the left-out margin is the one by a model
// of the other rows; the rows that train lists have these weights.
func TestDualWeights(t *testing.T) {
	const c, n = 1.5, 60
	spec := specOf(load(t, "sonar").Subset(every(3, 3*n)), loss.Hinge{C: c})
	spec.Kernel.Gamma = 0.3
	s := ask(t, spec)
	a := testutil.Must(s.LeaveOneOut(t.Context(), leaveout.Settings{Method: leaveout.Exact}))(t)
	p, m := a.Points, s.Model
	_, r, err := s.TrainBy(t.Context(), Training{Tolerance: 1e-6, Bare: true})
	testutil.Check(t, err)
	listed := make([]float64, n)
	for k, row := range r.Support.Rows {
		listed[row-1] = r.Support.Alpha[k]
		if math.Abs(r.Support.Slack[k]-p.Slack[row-1]) > 1e-4 {
			t.Errorf("row %d: slack %v, of loo %v", row, r.Support.Slack[k], p.Slack[row-1])
		}
	}
	var bias, sum float64
	f := make([]float64, n)
	for i := range n {
		for j := range n {
			f[i] += p.Alpha[j] * m.Y[j] * m.Gram().At(m.Site[i], m.Site[j])
		}
		if sum += p.Alpha[i] * m.Y[i]; p.Alpha[i] > 1e-4 && p.Alpha[i] < c-1e-4 {
			bias = m.Y[i] - f[i]
		}
	}
	if math.Abs(sum) > 1e-6 {
		t.Errorf("sum of a y is %v", sum)
	}
	for i := range n {
		margin := m.Y[i] * (f[i] + bias)
		if math.Abs(math.Max(0, 1-margin)-p.Slack[i]) > 1e-4 || p.Slack[i] > 1e-4 && p.Alpha[i] < c-1e-6 ||
			p.Alpha[i] == 0 && margin < 1-1e-4 {
			t.Errorf("row %d: a %v, slack %v, y f %v", i, p.Alpha[i], p.Slack[i], margin)
		}
		if math.Abs(listed[i]-p.Alpha[i]) > 1e-3 {
			t.Errorf("row %d: a %v, train lists %v", i, p.Alpha[i], listed[i])
		}
		if p.Error[i] == 1 && p.Bound[i] < 1 {
			t.Errorf("row %d: an error of bound %v", i, p.Bound[i])
		}
		if i%10 != 0 {
			continue
		}
		others := spec
		others.Set = spec.Set.Subset(slices.Delete(every(1, n), i, i+1))
		trained := testutil.Must(Train(t.Context(), build(t, others)))(t)
		left := testutil.Must(trained.Predict(spec.Set))(t)
		if math.Abs(m.Y[i]*left[i]-p.Margin[i]) > 1e-2 {
			t.Errorf("row %d: left-out margin %v, of a model without it %v", i, p.Margin[i], m.Y[i]*left[i])
		}
	}
}

// TestPValue: for every kind of target and every design the p-value is by cross-validations, one after the
// other, of the permuted targets.
func TestPValue(t *testing.T) {
	const n, permutations = 36, 9
	three := threeClasses(t).Head(n)
	labels, targets := *three, *three
	labels.Columns = []dataset.Column{{Y: make([]float64, n), Levels: []string{"low", "high"}, Texts: true}}
	targets.Columns = []dataset.Column{{Name: "a", Y: make([]float64, n)}, {Name: "b", Y: make([]float64, n)}}
	for i, y := range three.Targets(0) {
		labels.Columns[0].Y[i] = math.Min(1, y)
		targets.Columns[0].Y[i], targets.Columns[1].Y[i] = three.X.At(i, 0)+float64(i%5), 9*three.X.At(i, 3)
	}
	numbers := targets
	numbers.Columns = targets.Columns[:1]
	pairs, stratum, unequal, weights := make([]int, n), make([]int, n), make([]int, n), make([]float64, n)
	for i := range n {
		pairs[i], stratum[i], unequal[i], weights[i] = i/2, i%2, int(math.Sqrt(2*float64(i))), 1+float64(i%3)
	}
	square, hinge := loss.Square{Noise: 2}, loss.Hinge{C: 2}
	for what, spec := range map[string]model.Spec{"numbers": model.NewSpec(&numbers, square),
		"labels": model.NewSpec(&labels, hinge), "classes": model.NewSpec(three, hinge),
		"pairs": model.NewSpec(three, hinge), "targets": model.NewSpec(&targets, square)} {
		spec.Pairs = what == "pairs"
		for name, design := range map[string]resample.Design{"rows": {}, "groups": {Group: pairs},
			"unequal groups": {Group: unequal}, "rows of weights, twice": {},
			"strata": {Stratum: stratum}, "blocks": {Block: 6}, "rows, standardised without each fold": {}} {
			if testing.Short() && (len(what)+len(name)/2)%2 > 0 {
				continue // the run without -short has it
			}
			design.N = n
			v := Validation{Design: design, Folds: 4, Permutations: permutations}
			if of := *spec.Set; strings.Contains(name, "weights") {
				of.Weights, v.Repeats = weights, 2
				spec.Set = &of
			}
			if strings.Contains(name, "standardised") {
				v.Choose = func(_ context.Context, set *dataset.Set) (model.Spec, error) {
					other := spec
					other.Set = set
					return other, nil
				}
			}
			a := validated(t, spec, v)
			v.Permutations = 0
			asGood := 1.0
			for k := range permutations {
				moved := spec
				set := *spec.Set
				moved.Set, set.Columns = &set, slices.Clone(set.Columns)
				for c := range set.Columns {
					column := &set.Columns[c]
					column.Y = (&resample.Permuted{Y: column.Y, Group: design.Group, Within: design.Stratum,
						Labels: column.Levels != nil}).Targets(k)
				}
				if validated(t, moved, v).Error <= a.Error*(1+1e-9) {
					asGood++
				}
			}
			if want := asGood / (1 + permutations); math.Abs(float64(*a.PValue)-want) > 1e-12 {
				t.Errorf("%s, %s: p-value %v, one by one %v", what, name, *a.PValue, want)
			}
		}
	}
}

// TestPermutedChoices: where the model is chosen on the targets, and again for the targets of every
// permutation, one of twenty p-values of numbers or labels that depend on nothing is at most 1/20: at most 8%
// of tables, and 2% or more. The chosen models' errors on the permuted targets would make it one of five.
// Groups whose inputs and levels are alike change places as a whole.
func TestPermutedChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	const n = 30
	square := model.Spec{Loss: loss.Square{Noise: 1}, NormalizeTarget: true}
	for name, spec := range map[string]model.Spec{"numbers": square, "groups": square,
		"labels": {Loss: loss.Hinge{C: 1}, Bias: true}} {
		rng, hits, tables := rand.New(rand.NewPCG(77, 7)), 0.0, 200
		if name == "labels" { // whose fits have no closed form
			tables = 100
		}
		for k := range tables {
			x, y, groups := mat.NewDense(n, 2, nil), make([]float64, n), []int(nil)
			first, second, effect := 0.0, 0.0, 0.0
			for i := range y {
				if y[i] = rng.NormFloat64(); name == "groups" {
					if groups = append(groups, i/3); i%3 == 0 {
						first, second, effect = 3*rng.NormFloat64(), 3*rng.NormFloat64(), 3*rng.NormFloat64()
					}
				} else if name == "labels" {
					y[i] = float64(i % 2)
				}
				x.SetRow(i, []float64{first + rng.NormFloat64(), second + rng.NormFloat64()})
				y[i] += effect
			}
			set := testutil.Must(dataset.New(x, y))(t)
			if set.Groups = groups; name == "labels" {
				testutil.Check(t, set.Classify(""))
			}
			of := spec
			of.Set, of.Kernel, of.Standardize = set, kernel.Spec{Kind: kernel.RBF}, true
			if of.Chosen = []string{"gamma", "noise"}; name == "labels" {
				of.Chosen = []string{"gamma", "C"}
			}
			v := Validation{Design: resample.Design{N: n, Group: groups}, Folds: 5, Permutations: 19,
				Seed: uint64(k)}
			a := validated(t, of, v)
			if *a.PValue <= 0.05 {
				hits++
			}
			if k == 0 && !strings.Contains(a.NullHypothesis, "chosen again without each fold among 2") {
				t.Errorf("%s: %s", name, a.NullHypothesis)
			}
		}
		if share := hits / float64(tables); share < 0.02 || share > 0.08 {
			t.Errorf("%s: a share of %v of p-values is at most 0.05", name, share)
		}
	}
}
