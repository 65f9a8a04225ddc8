package fits

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestCoefficients: the coefficients of two correlated controls are the solution of the ridge regression
// about the prior ones; a control that is constant within the floor keeps its prior one.
func TestCoefficients(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := newRegression(1, 1)
	for range 40 {
		a, b, e := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		r.Add(0, 0, []float64{a, 0.8*a + 0.3*b, 2*a - b + 0.1*e})
	}
	m := r.Total(0)
	prior := [controls]float64{1.5, -0.5}
	ridged, side := mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil)
	for i := range 2 {
		side.SetVec(i, m.Central(i, 2)-prior[0]*m.Central(i, 0)-prior[1]*m.Central(i, 1))
		for j := range 2 {
			ridged.Set(i, j, m.Central(i, j))
		}
		ridged.Set(i, i, ridged.At(i, i)*(1+priorWeight/m.Count()))
	}
	var move mat.VecDense
	if err := move.SolveVec(ridged, side); err != nil {
		t.Fatal(err)
	}
	got := r.coefficients(m, plan{prior: [][controls]float64{prior}})[0]
	for i, v := range got {
		if want := prior[i] + move.AtVec(i); math.Abs(v-want) > 1e-12 {
			t.Errorf("coefficient %d is %v, want %v", i, v, want)
		}
	}
	got = r.coefficients(m, plan{prior: [][controls]float64{prior}, floor: [controls]float64{0, 1e9}})[0]
	if got[1] != prior[1] || got[0] == prior[0] {
		t.Errorf("a constant second control has the coefficients %v", got)
	}
}
