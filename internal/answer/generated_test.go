package answer_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// generated is the question of the theory alone, about targets of that kind.
func generated(kind string, n int) answer.Question {
	return answer.Question{Scheme: resample.NewGenerated(kind, n), Theory: answer.Yes, Exact: answer.No,
		Level: 0.9, Solve: solver.Settings{Tolerance: 1e-6}}
}

// TestGeneratedAgainstRefits: the theory's variances are those of 500 refits, one by one by each loss's
// trainer, to targets that the trained model generates: the median of their ratio is within 5% of 1, and the
// bias within 0.15 standard deviations in the median. A variance of 500 fits has a standard error of 6%, the
// median over rows less.
func TestGeneratedAgainstRefits(t *testing.T) {
	spec := func(set string, l loss.Loss, k kernel.Spec) model.Spec {
		s := model.NewSpec(load(t, set), l)
		s.Kernel = k
		return s
	}
	friedman := spec("synthetic:friedman1,n=100", loss.EpsInsensitive{C: 1, Epsilon: 0.5},
		kernel.Spec{Gamma: 0.05})
	copies := grid(t, 45)
	copies.Loss = loss.Huber{C: 2, Epsilon: 0.3}
	for _, c := range []struct {
		kind string
		spec model.Spec
	}{
		{resample.Parametric, spec("sonar", loss.Hinge{C: 1}, kernel.Spec{})},
		{resample.Parametric, spec("synthetic:rings,n=60", loss.Logistic{C: 1}, kernel.Spec{})},
		{resample.Parametric, friedman},
		{resample.Residual, friedman},
		{resample.Wild, friedman},
		{resample.Residual, copies},
		{resample.Wild, grid(t, 90)},
	} {
		if testing.Short() && c.spec.Set == friedman.Set && c.kind != resample.Wild {
			continue // the run without -short has it
		}
		t.Run(c.kind+"/"+c.spec.Loss.Name(), func(t *testing.T) {
			ask := func() *answer.Study { return testutil.Must(answer.New(t.Context(), c.spec, nil))(t) }
			n := c.spec.Set.N()
			theory := testutil.Must(ask().Estimate(t.Context(), generated(c.kind, n)))(t)
			how := answer.Retraining{Method: model.Single, Scheme: resample.NewGenerated(c.kind, n),
				RetrainSettings: model.RetrainSettings{Settings: fits.Settings{Resamples: 500}}}
			refits := testutil.Must(ask().Retrain(t.Context(), how, nil))(t)
			var ratios, off []float64
			for i, v := range refits.Points.Variance {
				ratios = append(ratios, theory.Points.Variance[i]/v)
				off = append(off, math.Abs(theory.Points.Bias[i]-refits.Points.Bias[i])/math.Sqrt(v))
			}
			slices.Sort(ratios)
			slices.Sort(off)
			if r := ratios[n/2]; !(math.Abs(r-1) <= 0.05) {
				t.Errorf("median variance ratio %.3f", r)
			}
			if b := off[n/2]; !(b <= 0.15) {
				t.Errorf("biases differ by %.3f standard deviations", b)
			}
		})
	}
}

// TestGeneratedSquare: for the square loss the variance is sum_j (H_ij)^2 var(y_j), H = K (K + s2 I)^-1, by a
// dense inverse, the mean that of the predictor of the mean targets, and no key of an error is in the
// document.
func TestGeneratedSquare(t *testing.T) {
	const n, noise = 40, 0.3
	spec := model.Spec{Set: load(t, "synthetic:friedman1,n=40"), Loss: loss.Square{Noise: noise},
		Kernel: kernel.Spec{Gamma: 0.4, Amplitude: 8}}
	s := testutil.Must(answer.New(t.Context(), spec, nil))(t)
	k, ridge, inverse, h := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), new(mat.Dense), new(mat.Dense)
	for i := range n {
		for j := range n {
			k.Set(i, j, s.Model.Gram().At(i, j))
		}
	}
	ridge.Copy(k)
	for i := range n {
		ridge.Set(i, i, k.At(i, i)+noise)
	}
	testutil.Check(t, inverse.Inverse(ridge))
	h.Mul(k, inverse)
	y := s.Model.Set.Columns[0].Y
	f, again := make([]float64, n), make([]float64, n)
	for i := range n {
		f[i] = mat.Dot(h.RowView(i), mat.NewVecDense(n, y))
	}
	var centred []float64
	for i := range n {
		again[i] = mat.Dot(h.RowView(i), mat.NewVecDense(n, f))
		centred = append(centred, (y[i]-f[i])/(1-h.At(i, i))) // of the fit without the row
	}
	for kind, variance := range map[string]func(j int) float64{
		resample.Parametric: func(int) float64 { return noise },
		resample.Residual:   func(int) float64 { return stat.PopVariance(centred, nil) },
		resample.Wild:       func(j int) float64 { return (y[j] - f[j]) * (y[j] - f[j]) },
	} {
		a := testutil.Must(s.Estimate(t.Context(), generated(kind, n)))(t)
		for i := range n {
			want := 0.0
			for j := range n {
				want += h.At(i, j) * h.At(i, j) * variance(j)
			}
			if p := a.Points; !(math.Abs(p.Variance[i]-want) < 1e-5*want &&
				math.Abs(p.Bias[i]-(again[i]-f[i])) < 1e-5) {
				t.Fatalf("%s: variance %v for %v, bias %v for %v", kind, p.Variance[i], want, p.Bias[i],
					again[i]-f[i])
			}
		}
		text := string(testutil.Must(json.Marshal(a))(t))
		for _, key := range []string{"error", "error_se", "test_error", "err632", "bagged_error"} {
			if strings.Contains(text, `"`+key+`"`) {
				t.Errorf("%s has the key %s", kind, key)
			}
		}
	}
}

// TestGeneratedAtNewInputs: predictions for the rows themselves, as new inputs, have the mean, the variance
// and the bias that they have as rows; several targets are those of each alone; labels have no residuals, and
// several classes no generated targets.
func TestGeneratedAtNewInputs(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=60")
	spec := model.Spec{Set: set, Loss: loss.Square{Noise: 1}, Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 9}}
	study := func() *answer.Study { return testutil.Must(answer.New(t.Context(), spec, nil))(t) }
	q := generated(resample.Residual, set.N())
	rows := testutil.Must(study().Estimate(t.Context(), q))(t)
	fresh := testutil.Must(study().Predict(t.Context(), set, q))(t)
	for i := range set.N() {
		a, b := rows.Points, fresh.Points
		if math.Abs(a.Mean[i]-b.Mean[i])+math.Abs(a.Variance[i]-b.Variance[i])+math.Abs(a.Bias[i]-b.Bias[i]) >
			1e-6 {
			t.Fatalf("row %d: %v, %v, %v as a new one, %v, %v, %v", i, b.Mean[i], b.Variance[i], b.Bias[i],
				a.Mean[i], a.Variance[i], a.Bias[i])
		}
	}
	own := *set
	second := own.Columns[0]
	second.Name, second.Y = "second", slices.Clone(second.Y)
	slices.Reverse(second.Y)
	own.Columns = append(slices.Clone(own.Columns), second)
	spec.Set = &own
	both := testutil.Must(study().Estimate(t.Context(), q))(t)
	one := both.Targets[set.Columns[0].Name]
	for i, v := range rows.Points.Variance {
		if math.Abs(one.Points.Variance[i]-v) > 1e-6 {
			t.Fatalf("row %d: variance %v beside another target, %v alone", i, one.Points.Variance[i], v)
		}
	}
	if both.Quote != nil || both.Targets["second"].Spread.SD <= 0 {
		t.Error("the second target has no spread, or there is an error")
	}
	spec = model.NewSpec(load(t, "sonar"), loss.Hinge{C: 1})
	refused(study().Estimate(t.Context(), generated(resample.Wild, 208)))(t, "residuals of labels")
}
