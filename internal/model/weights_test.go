package model_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/train"
)

// TestClassWeightsAgainstLIBSVM: the fit is that of LIBSVM 3.24 (Debian 3.24+ds-6),
//
//	svm-train -s 0 -t 2 -g 1/d -c C -w-1 A -w1 B -e 1e-8
//
// on z-scored features: the numbers of support vectors, in all and at their bounds, the dual objective and
// the bias, both within 1e-6 of their size, what the kernel matrix of LIBSVM leaves in single precision.
func TestClassWeightsAgainstLIBSVM(t *testing.T) {
	for _, c := range []struct {
		name          string
		c             float64
		weights       loss.ClassWeights
		objective     float64
		rho           float64
		vectors, most int
	}{
		{"pima", 1, loss.ClassWeights{Negative: 0.5, Positive: 2}, -215.698953, -0.365145, 342, 275},
		{"crabs", 10, loss.ClassWeights{Negative: 3, Positive: 0.25}, -184.707463, 0.307632, 61, 51},
		{"sonar", 1, loss.ClassWeights{Negative: 1, Positive: 5}, -83.229106, -0.146178, 148, 60},
	} {
		set := load(t, c.name)
		m := build(t, model.Spec{Set: set, Standardize: true, Bias: true,
			Kernel: kernel.Spec{Gamma: 1 / float64(set.D())}, Loss: loss.Hinge{C: c.c,
				ClassWeights: c.weights}})
		fit, err := m.Fit(t.Context(), model.FitSettings{Tolerance: 1e-8})
		if err != nil || fit.Status.Err() != nil {
			t.Fatal(c.name, err, fit.Status.Err())
		}
		r, square := fit.SVM, 0.0
		for s, w := range fit.Weight {
			square += w * (fit.F[s] - fit.Bias)
		}
		if objective := square/2 - floats.Sum(r.Alpha); math.Abs(objective/c.objective-1) > 1e-6 ||
			math.Abs(fit.Bias+c.rho) > 1e-6 || r.Free+r.Bounded != c.vectors || r.Bounded != c.most {
			t.Errorf("%s: objective %.6f, bias %.6f, %d support vectors, %d at their bounds; svm-train %+v",
				c.name, objective, fit.Bias, r.Free+r.Bounded, r.Bounded, c)
		}
	}
}

// weightedSpecs are the losses with class weights on examples some of which share an input, with
// equal labels and with opposite ones.
func weightedSpecs(t *testing.T, w loss.ClassWeights) []model.Spec {
	t.Helper()
	set := load(t, "crabs").Subset(every(200, 1))
	for i := 1; i < 200; i += 20 {
		copy(set.X.Row(i), set.X.Row(i-1))
		copy(set.X.Row(i+9), set.X.Row((i+109)%200))
	}
	var all []model.Spec
	for _, l := range []loss.Loss{loss.Hinge{C: 0.5, ClassWeights: w},
		loss.SquaredHinge{C: 0.5, ClassWeights: w}, loss.Logistic{C: 1, ClassWeights: w}} {
		for _, bias := range []bool{false, true} {
			all = append(all, model.Spec{Set: set, Loss: l, Standardize: true, Bias: bias,
				Kernel: kernel.Spec{Gamma: 0.3}})
		}
	}
	return all
}

// TestClassWeightsOptimality: the weight of a site is minus the derivative of its examples' losses
// at f, C times the weight of the class each, worked out here: for hinge it lies between the
// derivatives on either side of the margin. Trainers come to 3e-7 of C.
func TestClassWeightsOptimality(t *testing.T) {
	w := loss.ClassWeights{Negative: 0.6, Positive: 4}
	for _, spec := range weightedSpecs(t, w) {
		m := build(t, spec)
		if m.Merged() < 10 {
			t.Fatalf("%d examples share an input", m.Merged())
		}
		fit, err := m.Fit(t.Context(), model.FitSettings{Tolerance: 1e-12})
		if err != nil || fit.Status == train.Diverged {
			t.Fatal(err)
		}
		const tol = 1e-6
		lo, hi := make([]float64, m.Sites()), make([]float64, m.Sites())
		for i, y := range m.Y {
			s := m.Site[i]
			margin, c := y*fit.F[s], 4.0
			if y < 0 {
				c = 0.6
			}
			var least, most float64 // of minus the derivative by y f
			switch m.Loss.(type) {
			case loss.Hinge:
				c *= 0.5
				if margin < 1-tol {
					least = c
				}
				if margin <= 1+tol {
					most = c
				}
			case loss.SquaredHinge:
				least = 2 * 0.5 * c * math.Max(0, 1-margin)
				most = least
			case loss.Logistic:
				least = c / (1 + math.Exp(margin))
				most = least
			}
			if y < 0 {
				least, most = -most, -least
			}
			lo[s] += least
			hi[s] += most
		}
		for s, a := range fit.Weight {
			if !(a >= lo[s]-tol && a <= hi[s]+tol) {
				t.Errorf("%s, bias %v, site %d: weight %v, must lie in [%v, %v]", m.Loss.Name(), m.Bias, s, a,
					lo[s], hi[s])
			}
		}
		if m.Bias && math.Abs(floats.Sum(fit.Weight)) > 1e-6 {
			t.Errorf("%s: weights sum to %v", m.Loss.Name(), floats.Sum(fit.Weight))
		}
	}
}
