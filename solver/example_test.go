package solver_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/machine"
)

// must ends the example at an error.
func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The program of doc/kernel.md: from inputs to averages over resamples, and the pieces that they are made of.
func Example() {
	ctx := context.Background()
	data := must(bootbench.Load("sonar", bootbench.ReadOptions{}))
	n, y := data.N(), data.Targets(0) // labels -1 and +1

	// The Gram matrix K of N inputs, a mat.Symmetric; linalg.NewSym takes one of yours.
	inputs := must(kernel.Spec{Kind: kernel.RBF, Gamma: 1}.Prepare(linalg.Design{X: data.X}))
	k := must(inputs.Gram(ctx))

	// Hard margins under the bootstrap: no model is trained.
	theory := must(solver.Solve(ctx, solver.Problem{Gram: k, Y: y, Loss: loss.HardMargin{},
		Law: resample.Poisson{Ratio: 1}}, solver.Settings{}))
	leftOut, rows := theory.LeftOut(loss.ZeroOne{})
	fmt.Printf("%v, left-out error %.3f, of row 1 %.2f\n", theory.Status, leftOut, rows[0])
	fmt.Printf("field of row 1: mean %.2f, variance %.2f over resamples\n", theory.Mean[0], theory.Var[0])

	// New inputs: covariances with the N inputs, a row each, which Predict overwrites.
	cross := blas64.General{Rows: 2, Cols: n, Stride: n, Data: make([]float64, 2*n)}
	must(0, inputs.Cross(linalg.Design{X: data.X.Gather([]int{3, 100})}, cross))
	mean, variance, err := theory.Predict(cross.Data)
	fmt.Printf("new inputs %.2f, variances %.2f, %v\n", mean, variance, err)

	// One training on all rows, to compare with.
	trainer := must(must(machine.For(loss.HardMargin{}, k, false, train.Settings{})).Trainer())
	fit := must(trainer(train.Set{Y: y, Weight: slices.Repeat([]float64{1}, n)}))
	fmt.Printf("trained: field of row 1 %.2f, %v\n", fit.F[0], fit.Status)

	// What a solve does: G = (K^-1 + diag(d))^-1 afresh, by a rank update, and a step of its diagonal.
	engine, d := linalg.NewCholeskyEngine(k), slices.Repeat([]float64{1}, n)
	must(0, engine.Factorize(d)) // N^3: a refresh
	engine.FormG()
	chi, _ := engine.Diag()
	fmt.Printf("chi_1 %.5f", chi[0])
	move, after, b := slices.Repeat([]float64{0.1}, n), make([]float64, n), make([]float64, n)
	linalg.NewResponse(engine).PredictDiag(move, after, b) // N^2: d + move to first order and beyond
	fmt.Printf(", all d 10%% larger %.5f", after[0])
	must(0, engine.RankUpdate([]int{0, 1}, []float64{-1, -1})) // 2 N^2: exact, rows 1 and 2 leave
	chi, _ = engine.Diag()
	fmt.Printf(", without two rows %.5f\n", chi[0])
	// Output:
	// converged, left-out error 0.139, of row 1 0.73
	// field of row 1: mean -0.59, variance 0.31 over resamples
	// new inputs [-0.63 0.84], variances [0.25 0.07], <nil>
	// trained: field of row 1 -1.00, converged
	// chi_1 0.42884, all d 10% larger 0.40958, without two rows 0.75081
}
