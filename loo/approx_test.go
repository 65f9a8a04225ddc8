package loo

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/svm"
)

func trained(t *testing.T, k *linalg.Sym, site []int, y []float64, without int) *svm.Result {
	t.Helper()
	c := make([]float64, len(y))
	for i := range c {
		c[i] = math.Inf(1)
	}
	if without >= 0 {
		c[without] = 0
	}
	trainer, err := svm.NewTrainer(k)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trainer.Train(svm.Problem{Y: y, Site: site, C: c}, svm.Settings{Tolerance: 1e-10})
	if err != nil || r.Status != svm.Converged {
		t.Fatal(err, r.Status)
	}
	return r
}

// Where every example is a support vector and stays one, the estimate is exact:
// three points, retrained without each.
func TestExactWhileSupportStays(t *testing.T) {
	k := linalg.NewSym(3)
	for i := range 3 {
		for j := i; j < 3; j++ {
			k.Set(i, j, math.Pow(0.4, float64(j-i)))
		}
	}
	y := []float64{1, -1, 1}
	all := trained(t, k, nil, y, -1)
	a, err := Approximate(k, nil, y, all.Beta, all.F, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y {
		want := y[i] * trained(t, k, nil, y, i).F[i]
		if math.Abs(a.Margin[i]-want) > 1e-9 {
			t.Errorf("example %d: margin %v, retrained %v", i, a.Margin[i], want)
		}
	}
}

// On real data the count stays within two in a hundred examples of exact
// leave-one-out, and an example whose input stands twice is never an error.
func TestAgainstRetraining(t *testing.T) {
	for name, scale := range map[string]float64{"crabs": 1, "sonar": 0.5} {
		set, err := dataset.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := dataset.Standardize(set.X)
		k, err := kernel.Spec{Gamma: scale / float64(set.D())}.Gram(blas64.General(z))
		if err != nil {
			t.Fatal(err)
		}
		all := trained(t, k, nil, set.Y, -1)
		beta, f := append([]float64(nil), all.Beta...), append([]float64(nil), all.F...)
		a, err := Approximate(k, nil, set.Y, beta, f, 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		exact := 0
		for i, y := range set.Y {
			if y*trained(t, k, nil, set.Y, i).F[i] <= 0 {
				exact++
			}
		}
		if off := math.Abs(float64(a.Errors - exact)); off > 0.02*float64(set.N()) {
			t.Errorf("%s: %d errors, exact %d", name, a.Errors, exact)
		}
	}
}

func TestCopiesKeepTheirMargin(t *testing.T) {
	k := linalg.NewSym(2)
	k.Set(0, 0, 1)
	k.Set(1, 1, 1)
	site, y := []int{0, 0, 1}, []float64{1, 1, -1}
	r := trained(t, k, site, y, -1)
	a, err := Approximate(k, site, y, r.Beta, r.F, 1e-9)
	if err != nil {
		t.Fatal(err)
	}
	if a.Margin[0] != 1 || a.Margin[1] != 1 || a.Margin[2] != 0 || a.Errors != 1 {
		t.Errorf("%+v", a)
	}
}

func TestSingularSupport(t *testing.T) {
	k := linalg.NewSym(2) // two sites, one direction
	for i := range 2 {
		for j := range 2 {
			k.Set(i, j, 1)
		}
	}
	var pivot *linalg.PivotError
	if _, err := Approximate(k, nil, []float64{1, 1}, []float64{0.5, 0.5}, []float64{1, 1}, 1e-9); !errors.As(err, &pivot) {
		t.Errorf("error %v", err)
	}
}
