package gp

import "bootbench/linalg"

// FitLowRank is FitFull on a low-rank kernel matrix, in O(M rank^2): with d_i =
// count_i/noise, f = (K^-1 + diag(d))^-1 (d o target). noise must be positive. It
// returns the fit at the sites.
func FitLowRank(k *linalg.LowRankPlusDiag, noise float64, count []int, target []float64) ([]float64, error) {
	if err := checkFull(k.N(), noise, count, target); err != nil {
		return nil, err
	}
	d, g, f := make([]float64, k.N()), make([]float64, k.N()), make([]float64, k.N())
	for i, c := range count {
		d[i] = float64(c) / noise
		g[i] = d[i] * target[i]
	}
	engine := k.Engine()
	if err := engine.Factorize(d); err != nil {
		return nil, err
	}
	engine.FormG()
	engine.MulVecOffDiag(f, g)
	chi, _ := engine.Diag()
	for i := range f {
		f[i] += chi[i] * g[i]
	}
	return f, nil
}
