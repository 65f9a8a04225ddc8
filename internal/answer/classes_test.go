package answer_test

import (
	"bytes"
	"context"
	"math"
	"testing"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
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

// TestClasses: the joint error of left-out folds is that of models of each class that are trained without the
// fold and compared, count by count; the confusion adds up, and probabilities to one.
func TestClasses(t *testing.T) {
	set := threeClasses(t)
	const folds = 6
	v := answer.Validation{Design: resample.Design{N: set.N()}, Folds: folds, Seed: 3}
	for _, l := range []loss.Loss{loss.Square{Noise: 0.3}, loss.Hinge{C: 2}} {
		spec := model.NewSpec(set, l)
		design := resample.Design{N: set.N(), Stratum: answer.ClassesOf(set.Columns[0].Y)}
		scheme := testutil.Must(design.Of("kfold", resample.Options{Folds: folds}))(t)
		weight, wrong := make([]float64, set.N()), 0.0
		for b := range folds {
			resample.Resamples{Scheme: scheme, Seed: v.Seed, Y: set.Targets(0)}.Fit(b, weight)
			var rest []int
			for i, w := range weight {
				if w > 0 {
					rest = append(rest, i)
				}
			}
			var f [][]float64
			for k := range set.Levels() {
				part := spec
				part.Set, part.Standardize = set.Subset(rest), false
				m := testutil.Must(model.Build(t.Context(), part))(t)
				p := testutil.Must(answer.Train(t.Context(), m.Of(k)))(t)
				f = append(f, testutil.Must(p.Predict(set))(t))
			}
			for i, w := range weight {
				best := 0
				for k := range f {
					if f[k][i] > f[best][i] {
						best = k
					}
				}
				if w == 0 && best != int(set.Targets(0)[i]) {
					wrong++
				}
			}
		}
		unscaled := spec
		unscaled.Standardize = false
		c := testutil.Must(answer.New(t.Context(), unscaled, nil))(t)
		r := testutil.Must(c.CrossValidate(t.Context(), v))(t)
		if got := float64(r.Error) * float64(set.N()); math.Abs(got-wrong) > 1e-6 {
			t.Errorf("%s: %v wrong, one by one %v", l.Name(), got, wrong)
		}
		anew := v
		anew.Choose = func(_ context.Context, set *dataset.Set) (model.Spec, error) {
			part := unscaled
			part.Set = set
			return part, nil
		}
		nested := testutil.Must(c.CrossValidate(t.Context(), anew))(t)
		if math.Abs(float64(nested.Error-r.Error)) > 1e-12 {
			t.Errorf("%s: nested error %v, of the same models %v", l.Name(), nested.Error, r.Error)
		}
		total := 0
		for _, row := range r.Confusion {
			for _, count := range row {
				total += count
			}
		}
		for i := range set.N() {
			sum := 0.0
			for _, p := range r.Points.Probability.Of {
				sum += p[i]
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("%s: probabilities of row %d add up to %v", l.Name(), i+1, sum)
			}
		}
		if total != set.N() || !(*r.LogLoss > 0) || !(r.Error < r.Quality.Baseline) {
			t.Errorf("%s: confusion %v, log loss %v, error %v, baseline %v", l.Name(), r.Confusion,
				*r.LogLoss, r.Error, r.Quality.Baseline)
		}
	}
}

// TestClassResamples: the joint error of resamples in blocks is that of fits one by one, and a model file
// predicts the classes of the model that it was written of.
func TestClassResamples(t *testing.T) {
	set := threeClasses(t)
	c := testutil.Must(answer.New(t.Context(), model.NewSpec(set, loss.Hinge{C: 1}), nil))(t)
	s := answer.Question{Theory: answer.Yes, Exact: answer.Yes, Scheme: resample.Poisson{Ratio: 1},
		Resamples: 60}
	s.Solve.Tolerance = 1e-4
	r := testutil.Must(c.Estimate(t.Context(), s))(t)
	wrong, count := make([]float64, set.N()), make([]float64, set.N())
	weight := make([]float64, set.N())
	for b := range 60 {
		f := make([][]float64, 3)
		for k := range c.Functions {
			j := c.Model.Of(k)
			y := resample.Resamples{Scheme: s.Scheme, Y: j.Y}.Fit(b, weight)
			f[k] = testutil.Must(testutil.Must(testutil.Must(j.Machine(0))(t).Trainer())(t)(train.Set{Y: y,
				Site: j.Site, Weight: weight}))(t).F
		}
		for i, w := range weight {
			own, at := int(set.Targets(0)[i]), c.Site[i]
			if w != 0 {
				continue
			}
			count[i]++
			if f[own][at] <= math.Max(f[(own+1)%3][at], f[(own+2)%3][at]) {
				wrong[i]++
			}
		}
	}
	mean := 0.0
	for i := range wrong {
		mean += wrong[i] / count[i] / float64(len(wrong))
	}
	if math.Abs(mean-float64(r.Error)) > 2e-3 || !(r.ErrorSE > 0) || len(r.Each) != 3 {
		t.Errorf("error %v +- %v, one by one %v", r.Error, r.ErrorSE, mean)
	}
	p := testutil.Must(c.Train(t.Context()))(t)
	var file bytes.Buffer
	if err := p.Write(&file); err != nil {
		t.Fatal(err)
	}
	read := testutil.Must(model.ReadPredictor(&file))(t)
	a, b := testutil.Must(answer.PredictBy(p, set, loss.ZeroOne{}, &answer.Question{}))(t),
		testutil.Must(answer.PredictBy(read, set, loss.ZeroOne{}, &answer.Question{}))(t)
	if *a.TestError != *b.TestError || *a.LogLoss != *b.LogLoss || !(*a.TestError < 0.3) {
		t.Errorf("test error %v, of the file %v", *a.TestError, *b.TestError)
	}
}
