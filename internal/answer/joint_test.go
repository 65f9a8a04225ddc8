package answer_test

import (
	"bytes"
	"context"
	"fmt"
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

// threeClasses are the thirds of a set of numbers.
func threeClasses(t *testing.T) *dataset.Set {
	set := testutil.Must(dataset.Load("synthetic:friedman1,n=90", dataset.Options{}))(t)
	for i, y := range set.Columns[0].Y {
		set.Columns[0].Y[i] = math.Round(math.Max(0, math.Min(2, (y-8)/6)))
	}
	if err := set.Classify(""); err != nil || len(set.Levels()) != 3 {
		t.Fatal(err, set.Levels())
	}
	return set
}

// decisions are the classes of all rows of a set by models of two labels, trained on the rows given, as often
// as they are given: of each class against the others, or of the rows of each pair of classes (Chang and Lin
// 2011), of which the first in order has ties.
func decisions(t *testing.T, spec model.Spec, rows, order []int) (class []int) {
	set, scores := spec.Set, make([][]float64, spec.Set.N())
	for i := range scores {
		scores[i] = make([]float64, len(order))
	}
	fields := func(positive int, rows []int) []float64 {
		part, labels := *set.Subset(rows), []float64(nil)
		for _, i := range rows {
			labels = append(labels, math.Max(0, 1-math.Abs(set.Targets(0)[i]-float64(positive))))
		}
		part.Columns = []dataset.Column{{Y: labels, Levels: []string{"-1", "1"}}}
		one := spec
		one.Set, one.Pairs = &part, false
		m := testutil.Must(model.Build(t.Context(), one))(t)
		return testutil.Must(testutil.Must(answer.Train(t.Context(), m))(t).Predict(set))(t)
	}
	for a, first := range order {
		if !spec.Pairs {
			for i, f := range fields(first, rows) {
				scores[i][first] = f
			}
			continue
		}
		for _, second := range order[a+1:] {
			for i, f := range fields(first, slices.DeleteFunc(slices.Clone(rows), func(i int) bool {
				k := int(set.Targets(0)[i])
				return k != first && k != second
			})) {
				scores[i][map[bool]int{true: first, false: second}[f > 0]]++
			}
		}
	}
	for _, s := range scores {
		best := order[0]
		for _, k := range order {
			if s[k] > s[best] {
				best = k
			}
		}
		class = append(class, best)
	}
	return class
}

// TestDecisions: decisions between classes, of a model and its file, of left-out folds and of resamples, are
// those of models of two labels, trained one by one; so are those of models chosen without each fold. The
// confusion counts them, and probabilities add up to one.
func TestDecisions(t *testing.T) {
	set := threeClasses(t)
	all := make([]int, set.N())
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return int(set.Targets(0)[b] - set.Targets(0)[a]) })
	set = set.Subset(all) // the last class comes first
	for i := range all {
		all[i] = i
	}
	order, n, truth := []int{2, 1, 0}, set.N(), answer.ClassesOf(set.Columns[0].Y)
	for _, fitted := range []loss.Loss{loss.Square{Noise: 0.3}, loss.Hinge{C: 2}} {
		for _, pairs := range []bool{false, true} {
			name := fmt.Sprint(fitted.Name(), ", pairs ", pairs)
			spec := model.NewSpec(set, fitted)
			spec.Standardize, spec.Pairs = false, pairs
			study := testutil.Must(answer.New(t.Context(), spec, nil))(t)

			var file bytes.Buffer
			trained := testutil.Must(study.Train(t.Context()))(t)
			if err := trained.Write(&file); err != nil {
				t.Fatal(err)
			}
			read := testutil.Must(model.ReadPredictor(&file))(t)
			for _, p := range []*model.Predictor{trained, read} {
				a := testutil.Must(answer.PredictBy(p, set, loss.ZeroOne{}, &answer.Question{}))(t)
				for i, k := range decisions(t, spec, all, order) {
					if a.Points.Class[i] != set.Levels()[k] {
						t.Errorf("%s: row %d is classified as %s, one by one as %s", name, i+1,
							a.Points.Class[i], set.Levels()[k])
					}
				}
			}

			const folds, resamples, seed = 4, 12, 5
			left := func(plan resample.Plan, fits int) float64 {
				wrong, absent, weight := make([]float64, n), make([]float64, n), make([]float64, n)
				for r := range fits {
					plan.Fit(r, weight)
					var rows []int
					for i, w := range weight {
						rows = append(rows, slices.Repeat([]int{i}, int(w))...)
					}
					for i, k := range decisions(t, spec, rows, order) {
						if weight[i] == 0 {
							absent[i]++
							wrong[i] += math.Min(1, math.Abs(float64(k-truth[i])))
						}
					}
				}
				sum, count := 0.0, 0.0
				for i, c := range absent {
					if c > 0 {
						sum, count = sum+wrong[i]/c, count+1
					}
				}
				return sum / count
			}
			v := answer.Validation{Design: resample.Design{N: n}, Folds: folds, Seed: seed}
			parts := testutil.Must(resample.Design{N: n, Stratum: truth}.Of("kfold",
				resample.Options{Folds: folds}))(t)
			want := left(resample.Resamples{Scheme: parts, Seed: seed, Y: set.Targets(0)}, folds)
			same := func(_ context.Context, part *dataset.Set) (model.Spec, error) {
				other := spec
				other.Set = part
				return other, nil
			}
			for _, choose := range []answer.Chooser{nil, same} {
				v.Choose = choose
				a := testutil.Must(study.CrossValidate(t.Context(), v))(t)
				total := 0
				for _, row := range a.Confusion {
					for _, count := range row {
						total += count
					}
				}
				sum := 0.0
				for _, p := range a.Points.Probability.Of {
					sum += p[7]
				}
				if math.Abs(float64(a.Error)-want) > 1e-9 || total != n || math.Abs(sum-1) > 1e-12 ||
					!(*a.LogLoss > 0) || !pairs && !(a.Error < a.Quality.Baseline) ||
					(a.Multiclass != "") != pairs {
					t.Errorf("%s: error of folds %v, one by one %v; confusion %v", name, a.Error, want,
						a.Confusion)
				}
			}

			q := answer.Question{Theory: answer.Yes, Exact: answer.Yes, Scheme: resample.Poisson{Ratio: 1},
				Resamples: resamples, Seed: seed}
			a := testutil.Must(study.Estimate(t.Context(), q))(t)
			want = left(resample.Resamples{Scheme: q.Scheme, Seed: seed, Y: set.Targets(0)}, resamples)
			// fits in blocks are exact to their tolerance, by which some fields change signs
			off := math.Abs(float64(a.Error) - want)
			if off > 5e-3 || pairs && off > 1e-9 || !(a.ErrorSE > 0) {
				t.Errorf("%s: error of resamples %v, one by one %v", name, a.Error, want)
			}
			if pairs {
				// each class beats one
				trained.Bias, trained.Others[0].Bias, trained.Others[1].Bias = 1e6, -1e6, 1e6
				tie := testutil.Must(answer.PredictBy(trained, set, loss.ZeroOne{}, &answer.Question{}))(t)
				if tie.Points.Class[0] != "2" {
					t.Errorf("of equal votes %s wins, not the class that appears first",
						tie.Points.Class[0])
				}
			}
		}
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
