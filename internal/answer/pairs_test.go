package answer_test

import (
	"math"
	"slices"
	"testing"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// votesOfRows are the classes of a set's rows by the votes of pairs (Chang and Lin 2011), each a model of the
// rows of its two classes alone among those given, as often as they are given.
func votesOfRows(t *testing.T, spec model.Spec, rows, order []int) (class []int) {
	set := spec.Set
	votes := make([][]int, set.N())
	for i := range votes {
		votes[i] = make([]int, len(order))
	}
	for a, first := range order {
		for _, second := range order[a+1:] {
			members := slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
				return int(set.Targets(0)[i]) != first && int(set.Targets(0)[i]) != second
			})
			one := spec
			one.Set = set.Subset(members)
			f := testutil.Must(testutil.Must(answer.Train(t.Context(), testutil.Must(model.Build(t.Context(),
				one))(t).Of(first)))(t).Predict(set))(t)
			for i, v := range f {
				if v > 0 {
					votes[i][first]++
				} else {
					votes[i][second]++
				}
			}
		}
	}
	for _, v := range votes {
		best := order[0]
		for _, k := range order {
			if v[k] > v[best] {
				best = k
			}
		}
		class = append(class, best)
	}
	return class
}

// TestPairs: votes of pairs are those of models of two classes' rows alone, of all rows and of resamples.
func TestPairs(t *testing.T) {
	set := threeClasses(t)
	rows := make([]int, set.N())
	for i := range rows {
		rows[i] = i
	}
	// 2 appears first
	slices.SortStableFunc(rows, func(a, b int) int { return int(set.Targets(0)[b] - set.Targets(0)[a]) })
	spec := model.NewSpec(set.Subset(rows), loss.Hinge{C: 2})
	spec.Standardize = false
	set = spec.Set
	var order, all []int
	for i, k := range answer.ClassesOf(set.Columns[0].Y) {
		if all = append(all, i); !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	voting := spec
	voting.Pairs = true
	pairs := testutil.Must(answer.New(t.Context(), voting, nil))(t)
	trained := testutil.Must(pairs.Train(t.Context()))(t)
	got := testutil.Must(answer.PredictBy(trained, set, loss.ZeroOne{}, &answer.Question{}))(t)
	for i, k := range votesOfRows(t, spec, all, order) {
		if got.Points.Class[i] != set.Levels()[k] {
			t.Errorf("row %d is taken for %s, one by one for %s", i+1, got.Points.Class[i], set.Levels()[k])
		}
	}
	trained.Bias, trained.Others[0].Bias, trained.Others[1].Bias = 1e6, -1e6, 1e6 // each class beats one
	tie := testutil.Must(answer.PredictBy(trained, set, loss.ZeroOne{}, &answer.Question{}))(t)
	if tie.Points.Class[0] != "2" {
		t.Errorf("of equal votes %s has it, not the class that appears first, 2", tie.Points.Class[0])
	}

	const resamples, seed = 6, 5
	s := answer.Question{Theory: answer.Yes, Exact: answer.Yes, Scheme: resample.Poisson{Ratio: 1},
		Resamples: resamples,
		Seed:      seed}
	r := testutil.Must(pairs.Estimate(t.Context(), s))(t)
	wrong, absent, counts := make([]float64, set.N()), make([]float64, set.N()), make([]float64, set.N())
	for b := range resamples {
		s.Scheme.Draw(seed, b, counts)
		var rows []int
		for i, count := range counts {
			rows = append(rows, slices.Repeat([]int{i}, int(count))...)
		}
		for i, k := range votesOfRows(t, spec, rows, order) {
			if counts[i] == 0 {
				absent[i]++
				if float64(k) != set.Targets(0)[i] {
					wrong[i]++
				}
			}
		}
	}
	mean, count := 0.0, 0.0
	for i, n := range absent {
		if n > 0 {
			mean, count = mean+wrong[i]/n, count+1
		}
	}
	if mean /= count; math.Abs(float64(r.Error)-mean) > 1e-9 || mean == 0 {
		t.Errorf("error of left-out votes %v, one by one %v", r.Error, mean)
	}

	const folds = 4
	cv := testutil.Must(pairs.CrossValidate(t.Context(),
		answer.Validation{Design: resample.Design{N: set.N()},
			Folds: folds, Seed: seed}))(t)
	parts := testutil.Must(resample.Design{N: set.N(),
		Stratum: answer.ClassesOf(set.Columns[0].Y)}.Of("kfold",
		resample.Options{Folds: folds}))(t)
	weight, misses := make([]float64, set.N()), 0.0
	for b := range folds {
		resample.Resamples{Scheme: parts, Seed: seed, Y: set.Targets(0)}.Fit(b, weight)
		var rows []int
		for i, w := range weight {
			if w > 0 {
				rows = append(rows, i)
			}
		}
		for i, k := range votesOfRows(t, spec, rows, order) {
			if weight[i] == 0 && float64(k) != set.Targets(0)[i] {
				misses++
			}
		}
	}
	if want := misses / float64(set.N()); math.Abs(float64(cv.Error)-want) > 1e-9 || cv.Multiclass == "" {
		t.Errorf("error of folds' votes %v, one by one %v", cv.Error, want)
	}
}

// TestClassesWithoutCurves: where there are no probabilities, as of more than 5000 examples, classes are the
// same.
func TestClassesWithoutCurves(t *testing.T) {
	set := threeClasses(t)
	p := testutil.Must(testutil.Must(answer.New(t.Context(), model.NewSpec(set,
		loss.Square{Noise: 0.3}), nil))(t).Train(t.Context()))(t)
	want := testutil.Must(answer.PredictBy(p, set, loss.ZeroOne{}, &answer.Question{}))(t)
	for _, one := range append([]*model.Predictor{p}, p.Others...) {
		one.LeftOut = nil
	}
	got := testutil.Must(answer.PredictBy(p, set, loss.ZeroOne{}, &answer.Question{}))(t)
	if !slices.Equal(got.Points.Class, want.Points.Class) || !got.Points.Probability.IsZero() ||
		len(slices.Compact(slices.Sorted(slices.Values(got.Points.Class)))) != 3 {
		t.Errorf("without curves %v, with %v", got.Points.Class, want.Points.Class)
	}
}

// TestClassesAsElsewhere: trained without every third row of iris, votes of pairs are the labels of
// svm-predict (LIBSVM, tolerance 1e-8), and fields of one class against the others the decision values of
// scikit-learn's OneVsRestClassifier.
func TestClassesAsElsewhere(t *testing.T) {
	set := testutil.Must(dataset.Open("iris"))(t)
	var rest, out []int
	for i := range set.N() {
		if i%3 == 0 {
			out = append(out, i)
		} else {
			rest = append(rest, i)
		}
	}
	spec := model.NewSpec(set.Subset(rest), loss.Hinge{C: 0.05})
	spec.Kernel.Gamma, spec.Standardize, spec.Bias = 1, false, true
	c := testutil.Must(answer.New(t.Context(), spec, nil))(t)
	spec.Pairs = true
	pairs := testutil.Must(testutil.Must(answer.New(t.Context(), spec, nil))(t).Train(t.Context()))(t)
	got := testutil.Must(answer.PredictBy(pairs, set.Subset(out), loss.ZeroOne{}, &answer.Question{}))(t)
	var wrong []int
	for i, row := range out {
		if got.Points.Class[i] != set.Levels()[answer.ClassesOf(set.Columns[0].Y)[row]] {
			wrong = append(wrong, row)
		}
	}
	if !slices.Equal(wrong, []int{57, 60, 72, 93}) {
		t.Errorf("votes of pairs are wrong at rows %v", wrong)
	}
	first := testutil.Must(c.Train(t.Context()))(t)
	want := [][]float64{{0.6606875, -0.7806172, -1.0028675}, {-1.0401480, -0.5159272, -1.0423241},
		{-1.0453278, -0.8414183, -0.0310010}} // of classes, at rows 0, 60, 120
	for k, one := range append([]*model.Predictor{first}, first.Others...) {
		for i, v := range testutil.Must(one.Predict(set.Subset([]int{0, 60, 120})))(t) {
			if math.Abs(v-want[k][i]) > 2e-3 {
				t.Errorf("class %d, row %d: field %v, scikit-learn %v", k, i, v, want[k][i])
			}
		}
	}
}
