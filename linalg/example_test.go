package linalg_test

import (
	"fmt"

	"bootbench/linalg"
)

// three is a kernel matrix of order 3, an engine on it, and G = (K^-1 + diag(d))^-1 at d = (1, 2, 1).
func three() (engine *linalg.CholeskyEngine, d []float64) {
	k := linalg.ZeroSym(3)
	for i, row := range [][]float64{{1, 0.5, 0.2}, {1, 0.5}, {1}} {
		copy(k.Row(i), row)
	}
	engine, d = linalg.NewCholeskyEngine(k), []float64{1, 2, 1}
	if err := engine.Factorize(d); err != nil {
		fmt.Println(err)
	}
	engine.FormG()
	return engine, d
}

// A rank update (M03-65) moves G exactly where few sites change: here the second leaves.
func ExampleCholeskyEngine_RankUpdate() {
	engine, d := three()
	if err := engine.RankUpdate([]int{1}, []float64{-2}); err != nil {
		fmt.Println(err) // too large a change: factorise
	}
	chi, _ := engine.Diag()
	fmt.Printf("updated    %.6f\n", chi)

	d[1] = 0
	fresh, _ := three()
	if err := fresh.Factorize(d); err != nil {
		fmt.Println(err)
	}
	chi, _ = fresh.Diag()
	fmt.Printf("factorised %.6f\n", chi)
	// Output:
	// updated    [0.494949 0.772727 0.494949]
	// factorised [0.494949 0.772727 0.494949]
}

// Two estimates of diag(G) after a change of d, at the cost of a matrix-vector product: to all orders, and
// M03's cubic one (M03-67), which is for changes |delta| mean(G) < 0.1.
func ExampleResponse_PredictDiag() {
	engine, d := three()
	chi, b := make([]float64, 3), make([]float64, 3)
	for _, part := range []float64{0.1, 1} {
		move, moved := make([]float64, 3), make([]float64, 3)
		for i, v := range d {
			move[i], moved[i] = part*v, (1+part)*v
		}
		exact, _ := three()
		if err := exact.Factorize(moved); err != nil {
			fmt.Println(err)
		}
		want, _ := exact.Diag()
		fmt.Printf("%-10s %.5f\n", fmt.Sprintf("d + %.0f%%", 100*part), want)
		valid := linalg.NewResponse(engine).PredictDiag(move, chi, b)
		fmt.Printf("response   %.5f %t\n", chi, valid)
		if valid = linalg.CubicDiag(engine, move, chi, b); valid {
			fmt.Printf("cubic      %.5f\n", chi)
		} else {
			fmt.Println("cubic      too far")
		}
	}
	// Output:
	// d + 10%    [0.43324 0.28484 0.43324]
	// response   [0.43325 0.28487 0.43325] true
	// cubic      [0.43310 0.28467 0.43310]
	// d + 100%   [0.30769 0.18462 0.30769]
	// response   [0.30767 0.18498 0.30767] true
	// cubic      too far
}
