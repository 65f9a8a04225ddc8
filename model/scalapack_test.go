//go:build mpi && openblas

package model_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"bootbench/blas"
	"bootbench/blas/scalapack"
	"bootbench/dataset"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/solver"
)

var world *scalapack.World

// Under mpirun every rank runs every test: scripts/mpi-test.sh.
func TestMain(m *testing.M) {
	var err error
	if world, err = scalapack.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	blas.Bound().SetThreads(world.Threads())
	status := m.Run()
	if status != 0 {
		world.Abort(status)
	}
	world.End()
	os.Exit(0)
}

func newGrid(t testing.TB) linalg.Grid {
	t.Helper()
	grid, err := world.NewGrid(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return grid
}

// answers are all that a solve is read for.
func answers(t *testing.T, m *model.Model, law resample.Law) map[string][]float64 {
	t.Helper()
	fitted, err := m.FullFit()
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Solve(context.Background(), law, solver.Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != solver.Converged {
		t.Fatalf("%v, residual %g", s.Status, s.Residual)
	}
	_, left := s.LeftOut(loss.SquareTest{})
	covariance := make([]float64, s.Sites())
	s.Covariance(covariance, 1)
	a := map[string][]float64{"fitted": fitted, "mean": s.Mean, "variance": s.Var, "left out": left, "covariance": covariance}
	for _, c := range s.Cavity {
		a["log c"] = append(a["log c"], math.Log(c.C))
		a["cavity mean"] = append(a["cavity mean"], c.Mean)
		a["cavity variance"] = append(a["cavity variance"], c.Var)
	}
	inputs := dataset.Inputs{X: m.Set.X.Gather([]int{3, 8, 1}), Sparse: nil}
	if m.Set.Sparse != nil {
		inputs = dataset.Inputs{Sparse: m.Set.Sparse.Gather([]int{3, 8, 1})}
	} else {
		for i := range inputs.X.Data {
			inputs.X.Data[i] += 0.25
		}
	}
	err = m.CrossInputs(&inputs, func(_ int, rows []float64) error {
		mean, variance := s.Predict(rows)
		a["new mean"], a["new variance"] = append(a["new mean"], mean...), append(a["new variance"], variance...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The same fixed points as on the exact engine, to 1e-9 of the largest value of a
// vector: both solves stop at 1e-11, and what is left is multiplied by how much the
// problem amplifies it.
func TestScaLAPACKFindsTheExactFixedPoint(t *testing.T) {
	regression := load(t, "synthetic:friedman1,n=120,seed=3")
	sonar := load(t, "sonar")
	sonar = &dataset.Set{Name: "sonar", X: sonar.X.Gather(every(sonar.N(), 2)), Y: gather(sonar.Y, every(sonar.N(), 2)), Task: sonar.Task}
	classes := kernel.Spec{Gamma: 0.5 / float64(sonar.D())}
	cases := map[string]model.Spec{
		"square":     {Set: regression, Loss: loss.Square{Noise: 0.5}, Kernel: kernel.Spec{Amplitude: 20, Constant: 100}, Standardize: true},
		"merged":     grid(t, 150),
		"hard":       {Set: sonar, Loss: loss.HardMargin{}, Kernel: classes, Standardize: true},
		"hinge":      {Set: sonar, Loss: loss.Hinge{C: 1}, Kernel: classes, Standardize: true},
		"logistic":   {Set: sonar, Loss: loss.Logistic{C: 2}, Kernel: classes, Standardize: true},
		"insensible": {Set: regression, Loss: loss.EpsInsensitive{C: 1, Epsilon: 0.5}, Kernel: kernel.Spec{Kind: kernel.Matern32, Amplitude: 20, Constant: 100}, Standardize: true},
	}
	for _, name := range []string{"square", "merged", "hard", "hinge", "logistic", "insensible"} {
		spec := cases[name]
		want := answers(t, build(t, spec), resample.Poisson{Ratio: 1})
		for _, block := range []int{1, 7, 64} {
			t.Run(fmt.Sprintf("%s/block=%d", name, block), func(t *testing.T) {
				spread := spec
				spread.Engine, spread.Grid, spread.Block = model.ScaLAPACK, newGrid(t), block
				got := answers(t, build(t, spread), resample.Poisson{Ratio: 1})
				for what := range want {
					largest, worst := 0.0, 0.0
					for i, v := range want[what] {
						largest = math.Max(largest, math.Abs(v))
						worst = math.Max(worst, math.Abs(v-got[what][i]))
					}
					if !(worst <= 1e-9*largest) || len(got[what]) != len(want[what]) {
						t.Errorf("%s is off by %.1e of its largest value", what, worst/largest)
					}
				}
			})
		}
	}
}

func every(n, step int) (list []int) {
	for i := 0; i < n; i += step {
		list = append(list, i)
	}
	return list
}

func gather(y []float64, list []int) (some []float64) {
	for _, i := range list {
		some = append(some, y[i])
	}
	return some
}

// Ranks that have read different data are told so, all of them.
func TestScaLAPACKRefusesDifferentData(t *testing.T) {
	if world.Size() == 1 {
		t.Skip("there is one rank")
	}
	spec := grid(t, 50)
	spec.Engine, spec.Grid = model.ScaLAPACK, newGrid(t)
	if world.Rank() == 1 {
		spec.Set.Y[7]++
	}
	if _, err := model.Build(spec); err == nil || !strings.Contains(err.Error(), "not those of rank 0") {
		t.Errorf("rank %d: %v", world.Rank(), err)
	}
}
