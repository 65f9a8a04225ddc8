package answer

import (
	"math"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

// TestROC: with each ratio of the weights of the classes the balanced error is the one of cross-validation,
// by the same folds, of a model whose loss has these class weights; sensitivity rises with the ratio from
// none to all, within intervals; and the area is near the one under the curve of the thresholds of one model.
func TestROC(t *testing.T) {
	set := testutil.Must(dataset.Load("synthetic:blobs,n=60", dataset.Options{}))(t)
	if err := set.Classify(""); err != nil {
		t.Fatal(err)
	}
	s := testutil.Must(New(t.Context(), model.NewSpec(set, loss.Hinge{C: 2}), nil))(t)
	v := tenFolds(set)
	v.Seed, v.Repeats, v.ErrorsAlone = 7, measuredPartitions, true
	own := testutil.Must(s.CrossValidate(t.Context(), v))(t)
	s.AddROC(t.Context(), own, v.Seed, 0.95)
	r := own.ROC
	if r == nil || len(r.Weights) != 10 {
		t.Fatalf("%+v, %v", r, own.Checks)
	}
	positive := 0.0
	for _, y := range set.Columns[0].Y {
		positive += y
	}
	n := float64(set.N())
	for k, ratio := range r.Weights {
		negative := n / (n - positive + ratio*positive)
		of := testutil.Must(New(t.Context(), model.NewSpec(set, loss.Hinge{C: 2,
			ClassWeights: loss.ClassWeights{Negative: negative, Positive: ratio * negative}}), nil))(t)
		a := testutil.Must(of.CrossValidate(t.Context(), v))(t)
		want := float64(*a.Quality.Balanced)
		if got := 1 - (r.Sensitivity.Value[k]+r.Specificity.Value[k])/2; math.Abs(got-want) > 1e-9 {
			t.Errorf("weight %v: balanced error %v, of a loss with class weights %v", ratio, got, want)
		}
		for _, shares := range []int{0, 1} {
			of := []float64{r.Sensitivity.Lower[k], r.Sensitivity.Value[k], r.Sensitivity.Upper[k]}
			if shares == 1 {
				of = []float64{r.Specificity.Lower[k], r.Specificity.Value[k], r.Specificity.Upper[k]}
			}
			if !(0 <= of[0] && of[0] <= of[1] && of[1] <= of[2] && of[2] <= 1 && of[0] < of[2]) {
				t.Errorf("weight %v: %v", ratio, of)
			}
		}
		if k > 0 && r.Sensitivity.Value[k] < r.Sensitivity.Value[k-1]-0.05 {
			t.Errorf("weight %v: sensitivity falls to %v", ratio, r.Sensitivity.Value[k])
		}
	}
	if !(r.Sensitivity.Value[0] < 0.2 && r.Sensitivity.Value[9] > 0.9) ||
		math.Abs(float64(r.Area-*own.Quality.AUC)) > 0.05 {
		t.Errorf("sensitivities %v, area %v, by thresholds %v", r.Sensitivity.Value, r.Area, *own.Quality.AUC)
	}
	for _, of := range []loss.Loss{loss.HardMargin{}, loss.Probit{}} {
		if spec := model.NewSpec(set, of); CheckROC(&spec) == nil {
			t.Errorf("%s has a ROC", of.Name())
		}
	}
}
