package answer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
)

// specOf is a model of the first n rows of data that is the same for a part of them: nothing is standardised,
// centred or scaled.
func specOf(t *testing.T, data string, n int, l loss.Loss) model.Spec {
	t.Helper()
	set, err := dataset.Load(data, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := model.NewSpec(set.Head(n), l)
	spec.Standardize, spec.NormalizeTarget = false, false
	spec.Kernel = kernel.Spec{Kind: kernel.RBF, Gamma: 0.5, Amplitude: 2}
	return spec
}

// TestCrossValidate: left-out predictions and errors, one by one, in blocks and from one inverse, are those
// of models that are built and trained on the other rows alone, to 1e-8 (square loss) or 10 times the
// trainers' tolerance; zero-one errors are equal. The standard errors follow from them by their definitions.
func TestCrossValidate(t *testing.T) {
	const n, folds, repeats = 48, 4, 3
	// by the targets that it is given, and standardised by their rows
	choose := func(_ context.Context, set *dataset.Set) (model.Spec, error) {
		spec := model.NewSpec(set, loss.Square{Noise: stat.Variance(set.Targets(0), nil) / 20})
		spec.Kernel = kernel.Spec{Kind: kernel.RBF, Gamma: 0.3, Amplitude: 2}
		return spec, nil
	}
	group := make([]int, n)
	for i := range group {
		group[i] = i * 7 % 11
	}
	for name, c := range map[string]struct {
		data      string
		loss      loss.Loss
		method    model.RetrainMethod
		design    resample.Design
		folds     int
		tolerance float64
		nested    bool
		weighted  bool
	}{
		"square": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Single, resample.Design{}, folds,
			1e-8, false, false},
		"nested": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Single, resample.Design{}, folds,
			1e-8,
			true, false},
		"square loo": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.AutoMethod, resample.Design{},
			0,
			1e-8,
			false, false},
		"square groups": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Downdate,
			resample.Design{Group: group}, folds, 1e-8, false, false},
		"group by group": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Downdate,
			resample.Design{Group: group}, 0, 1e-8, false, false},
		"forward": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Downdate,
			resample.Design{Block: 5},
			folds,
			1e-8, false, false},
		"hinge": {"sonar", loss.Hinge{C: 1}, model.Single, resample.Design{}, folds, 1e-2, false,
			false},
		"hinge blocks": {"sonar", loss.Hinge{C: 1}, model.Batch, resample.Design{}, folds, 3e-2, false,
			false},
		"square with bias": {"sonar", loss.Square{Noise: 0.5}, model.Downdate, resample.Design{}, folds, 1e-8,
			false, false},
		"weights": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Downdate,
			resample.Design{Group: group}, folds,
			1e-8, false, true},
		"weights one by one": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Single,
			resample.Design{},
			folds,
			1e-8, false, true},
		"weights forward": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Downdate,
			resample.Design{Block: 5},
			folds, 1e-8, false, true},
		"weights nested": {"synthetic:friedman1,n=48", loss.Square{Noise: 1}, model.Single, resample.Design{},
			folds,
			1e-8, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			spec := specOf(t, c.data, 208, c.loss)
			if !spec.Set.AreNumbers() {
				spec.Set = spec.Set.Subset(every(4, spec.Set.N()))
			}
			if c.design.N = spec.Set.N(); c.weighted {
				for i := range spec.Set.N() {
					spec.Set.Weights = append(spec.Set.Weights, 0.3+float64(i*5%7))
				}
			}
			j, err := answer.New(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			v := answer.Validation{Design: c.design, Folds: c.folds, Repeats: repeats, Seed: 5,
				Method: c.method}
			if c.nested {
				v.Choose = choose
			}
			r := testutil.Must(j.CrossValidate(context.Background(), v))(t)
			want := naive(t, spec, c.design, c.folds, r.Repeats, v.Choose)
			for i, f := range want.mean {
				if off := math.Abs(r.Points.Mean[i] - f); off > c.tolerance ||
					math.IsNaN(f) != math.IsNaN(r.Points.Mean[i]) {
					t.Errorf("example %d is predicted %.10g when it is left out, not %.10g", i,
						r.Points.Mean[i], f)
				}
			}
			if !spec.Set.AreNumbers() {
				c.tolerance = 1e-12
			}
			if off := math.Abs(float64(r.Error) - want.error); !(off <= c.tolerance*(1+want.error)) {
				t.Errorf("error %.12g, not %.12g", r.Error, want.error)
			}
			if off := math.Abs(float64(r.ErrorSE) - want.se); !(off <= c.tolerance*(1+want.se)) {
				t.Errorf("standard error %.12g, not %.12g", r.ErrorSE, want.se)
			}
			if se := float64(r.RepeatsSE); r.Repeats > 1 &&
				!(math.Abs(se-want.repeatsSE) <= c.tolerance*(1+se)) {
				t.Errorf("standard error over partitions %.12g, not %.12g", se, want.repeatsSE)
			}
		})
	}
}

func every(step, n int) (rows []int) {
	for i := 0; i < n; i += step {
		rows = append(rows, i)
	}
	return rows
}

// reference is what retraining on the rows of every fold gives.
type reference struct {
	mean                 []float64
	error, se, repeatsSE float64
}

func naive(t *testing.T, spec model.Spec, design resample.Design, folds, repeats int,
	choose func(context.Context, *dataset.Set) (model.Spec, error)) (r reference) {
	t.Helper()
	set, test := spec.Set, model.DefaultTest(spec.Set)
	n := set.N()
	weight := func(i int) float64 {
		if set.Weights == nil {
			return 1
		}
		return set.Weights[i]
	}
	count := make([]float64, n)
	r.mean = make([]float64, n)
	each := make([]float64, n)
	var byRepeat []float64
	for repeat := range repeats {
		sum, judged := 0.0, 0.0
		for _, out := range leftOutRows(design, set, folds, repeat) {
			rest := every(1, n)
			rest = slices.DeleteFunc(rest, func(i int) bool {
				return slices.Contains(out, i) || design.Block > 0 && i > out[0]
			})
			part := spec
			part.Set = set.Subset(rest)
			if choose != nil {
				part, _ = choose(nil, part.Set)
			}
			m, err := model.Build(t.Context(), part)
			if err != nil {
				t.Fatal(err)
			}
			fit, err := m.Fit(t.Context(), model.FitSettings{})
			if err != nil {
				t.Fatal(err)
			}
			trained, err := m.Predictor(&fit.Result)
			if err != nil {
				t.Fatal(err)
			}
			f, err := trained.Predict(set)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range out {
				l := test.Value(f[i], set.Targets(0)[i])
				count[i], r.mean[i], each[i] = count[i]+1, r.mean[i]+f[i], each[i]+l
				sum, judged = sum+weight(i)*l, judged+weight(i)
			}
		}
		byRepeat = append(byRepeat, sum/judged)
	}
	unit, share, known, squares := map[int]float64{}, map[int]float64{}, 0.0, 0.0
	for _, e := range byRepeat {
		r.error += e / float64(repeats)
	}
	for i := range each {
		r.mean[i] /= count[i]
		if count[i] > 0 {
			k := i
			if design.Group != nil {
				k = design.Group[i]
			}
			unit[k] += weight(i) * (each[i]/count[i] - r.error)
			share[k] += weight(i)
			known += weight(i)
		}
	}
	for _, w := range share {
		squares += w * w / (known * known)
	}
	for k, v := range unit { // without bias where the units have equal variances
		r.se += v * v / (1 - 2*share[k]/known + squares)
	}
	r.se = math.Sqrt(r.se) / known
	for _, e := range byRepeat {
		r.repeatsSE += (e - r.error) * (e - r.error)
	}
	r.repeatsSE = math.Sqrt(r.repeatsSE / float64(repeats*(repeats-1)))
	return r
}

// leftOutRows are the rows of every fold of a partition.
func leftOutRows(d resample.Design, set *dataset.Set, folds, repeat int) (out [][]int) {
	n := set.N()
	switch {
	case d.Block > 0:
		for k := range folds {
			start := n - (folds-k)*d.Block
			out = append(out, every(1, n)[start:start+d.Block])
		}
		return out
	case folds == 0 && d.Group == nil:
		for i := range n {
			out = append(out, []int{i})
		}
		return out
	case folds == 0:
		for g := range 1 + slices.Max(d.Group) {
			out = append(out, nil)
			for i := range n {
				if d.Group[i] == g {
					out[g] = append(out[g], i)
				}
			}
		}
		return out
	}
	if !set.AreNumbers() {
		d.Stratum = make([]int, n)
		for i, y := range set.Targets(0) {
			d.Stratum[i] = int(y+1) / 2
		}
	}
	d.N = n
	scheme, _ := d.Of("kfold", resample.Options{Folds: folds})
	counts := make([]float64, n)
	for k := range folds {
		scheme.Draw(5, repeat*folds+k, counts)
		out = append(out, nil)
		for i, c := range counts {
			if c == 0 {
				out[k] = append(out[k], i)
			}
		}
	}
	return out
}

// TestPermutations: a model of targets that it can learn has the least p-value there is; of noise p-values
// are like those of a uniform law on 1/20, 2/20, ..., 1: over 40 sets their mean is 0.525 +- 3 x 0.046.
func TestPermutations(t *testing.T) {
	spec := specOf(t, "synthetic:friedman1,n=40", 40, loss.Square{Noise: 1})
	v := answer.Validation{Design: resample.Design{N: 40}, Folds: 4, Repeats: 1, Permutations: 19}
	p := func() float64 {
		t.Helper()
		j, err := answer.New(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		return float64(*testutil.Must(j.CrossValidate(context.Background(), v))(t).PValue)
	}
	if got := p(); got != 0.05 {
		t.Errorf("p-value %v of friedman1", got)
	}
	y, mean := spec.Set.Columns[0].Y, 0.0
	const sets = 40
	for k := range sets {
		v.Seed = uint64(k)
		spec.Set.Columns[0].Y = (&resample.Permuted{Y: y, Seed: 1000 + uint64(k)}).Targets(0)
		mean += p() / sets
	}
	if math.Abs(mean-0.525) > 0.14 {
		t.Errorf("p-values of noise have mean %.3f", mean)
	}
}

// TestPValue: for every kind of target and every design the p-value is by cross-validations, one after the
// other, of the permuted targets.
func TestPValue(t *testing.T) {
	const n, permutations = 36, 9
	three := threeClasses(t).Head(n)
	labels, targets := *three, *three
	labels.Columns = []dataset.Column{{Y: make([]float64, n), Levels: []string{"low", "high"},
		Texts: true}}
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
			design.N = n
			v := answer.Validation{Design: design, Folds: 4, Permutations: permutations}
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
			a := testutil.Must(testutil.Must(answer.New(t.Context(), spec, nil))(t).CrossValidate(t.Context(),
				v))(t)
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
				b := testutil.Must(testutil.Must(answer.New(t.Context(), moved, nil))(t).CrossValidate(
					t.Context(), v))(t)
				if b.Error <= a.Error*(1+1e-9) {
					asGood++
				}
			}
			if want := asGood / (1 + permutations); math.Abs(float64(*a.PValue)-want) > 1e-12 {
				t.Errorf("%s, %s: p-value %v, one by one %v", what, name, *a.PValue, want)
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
		v := answer.Validation{Design: resample.Design{N: set.N()}, Folds: 5, Repeats: 1}
		validate := func() *report.Answer {
			study := testutil.Must(answer.New(t.Context(), spec, nil))(t)
			return testutil.Must(study.CrossValidate(t.Context(), v))(t)
		}
		want := validate()
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
		if got := validate(); !slices.Equal(got.Points.Class, want.Points.Class) {
			t.Errorf("pairs %v: %v, want %v", pairs, got.Points.Class, want.Points.Class)
		}
	}
}

// TestPermutedChoices: where the model is chosen on the targets, and again for those of every permutation,
// one of twenty p-values of numbers or labels that depend on nothing is at most 1/20: at most 8% of tables,
// and 2% or more. The chosen models' errors on the permuted targets would make it one of five. Groups whose
// inputs and levels are alike change places as a whole.
func TestPermutedChoices(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	const n = 30
	ctx := t.Context()
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
				if err := set.Classify(""); err != nil {
					t.Fatal(err)
				}
			}
			of := spec
			of.Set, of.Kernel, of.Standardize = set, kernel.Spec{Kind: kernel.RBF}, true
			if of.Chosen = []string{"gamma", "noise"}; name == "labels" {
				of.Chosen = []string{"gamma", "C"}
			}
			v := answer.Validation{Design: resample.Design{N: n, Group: groups}, Folds: 5, Permutations: 19,
				Seed: uint64(k)}
			j := testutil.Must(answer.New(ctx, of, nil))(t)
			a := testutil.Must(j.CrossValidate(ctx, v))(t)
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
