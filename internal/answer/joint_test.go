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
)

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
