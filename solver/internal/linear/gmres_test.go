package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestGMRES: the system is solved as a dense LU factorisation solves it.
func TestGMRES(t *testing.T) {
	const n = 25
	rng := rand.New(rand.NewPCG(51, 2))
	a := mat.NewDense(n, n, nil)
	right := make([]float64, n)
	for i := range n {
		for j := range n {
			a.Set(i, j, 0.3*rng.NormFloat64())
		}
		a.Set(i, i, a.At(i, i)+1)
		right[i] = rng.NormFloat64()
	}
	var want mat.VecDense
	if err := want.SolveVec(a, mat.NewVecDense(n, right)); err != nil {
		t.Fatal(err)
	}
	apply := func(dst, x []float64) { mat.NewVecDense(n, dst).MulVec(a, mat.NewVecDense(n, x)) }
	x := make([]float64, n)
	k := NewGMRES(n, n)
	if steps := k.Solve(x, right, apply, 1e-13); steps > n {
		t.Errorf("%d steps", steps)
	}
	for i := range x {
		if math.Abs(x[i]-want.AtVec(i)) > 1e-9*(1+math.Abs(want.AtVec(i))) {
			t.Errorf("%d: %g, want %g", i, x[i], want.AtVec(i))
		}
	}
	// What it leaves within few steps is what it says.
	left := make([]float64, n)
	steps := k.Solve(x, right, apply, 0.3)
	apply(left, x)
	sum, all := 0.0, 0.0
	for i, v := range right {
		sum += (v - left[i]) * (v - left[i])
		all += v * v
	}
	if steps == 0 || steps == n || sum > 0.3*0.3*all*(1+1e-9) {
		t.Errorf("%d steps leave %g", steps, math.Sqrt(sum/all))
	}
	if k.Solve(x, make([]float64, n), apply, 0.1) != 0 || x[3] != 0 {
		t.Error("no right side")
	}
}
