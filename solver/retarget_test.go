package solver_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestRetarget compares the solution of other targets on the same G with a solve of its own, also where
// examples with different targets share a site.
func TestRetarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	const n, merged = 40, 6
	_, k := line(rng, n, 0.7, 1e-3)
	site := make([]int, n+merged)
	for i := range site {
		site[i] = i % n
	}
	problem := solver.Problem{Gram: k, Site: site, Y: normals(rng, n+merged), Loss: loss.Square{Noise: 0.3},
		Law: resample.Poisson{Ratio: 1}}
	const tolerance = 1e-9
	first, err := solver.Solve(t.Context(), problem, solver.Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	other := problem
	other.Y = normals(rng, n+merged)
	got, err := first.Retarget(other.Y, tolerance)
	if err != nil {
		t.Fatal(err)
	}
	gotError, _ := got.LeftOut(loss.SquareTest{})
	want, err := solver.Solve(t.Context(), other, solver.Settings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}
	wantError, _ := want.LeftOut(loss.SquareTest{})
	const allowed = 1e-7 // both stop within the tolerance, the linear equations within a thousandth of it
	if got.Status != solver.Converged || math.Abs(gotError-wantError) > allowed*wantError {
		t.Errorf("left-out error %v (%v), by a solve %v", gotError, got.Status, wantError)
	}
	for i := range n {
		if math.Abs(got.Mean[i]-want.Mean[i]) > allowed || math.Abs(got.Var[i]-want.Var[i]) > allowed {
			t.Fatalf("site %d: mean %v, variance %v; by a solve %v, %v", i, got.Mean[i], got.Var[i], want.Mean[i],
				want.Var[i])
		}
	}
	if _, err := first.Retarget(problem.Y, tolerance); err == nil {
		t.Error("a G that another solve has overwritten was read")
	}
	labels := problem
	labels.Y, labels.Loss, labels.Site, labels.Gram = []float64{-1, 1, 1}, loss.Hinge{C: 1}, nil,
		symmetric(3, func(i, j int) float64 { return rbf(float64(i), float64(j), 1) })
	hinge, err := solver.Solve(t.Context(), labels, solver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := hinge.Retarget([]float64{1, -1, 1}, 0); err == nil {
		t.Error("the G of a hinge loss served other targets")
	}
}
