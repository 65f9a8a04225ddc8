package linalg

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// flat stands for an infinite constant in 300-bit arithmetic: it leaves 1e-40, and takes 40 of 90 digits.
const flat = 1e40

// biased are the engines with a bias, on a kernel matrix and on a factor of it.
var biasedEngines = map[string]func(k *Sym) Engine{
	"exact": func(k *Sym) Engine { return WithBias(k).Engine() },
	"lowrank": func(k *Sym) Engine {
		factor, err := PivotedCholesky(SymColumns{k}, RankOptions{})
		if err != nil {
			return failed{NewCholeskyEngine(k), err}
		}
		return WithBias(factor).Engine()
	},
}

// TestBiasAtNewInputs: an input whose feature vector is a combination of the sites', with weights that sum to
// 1, has t(x) the same combination of rows of G. From that follow mean and variance; a combination that does
// not sum to 1 would need the limit of c times a difference.
func TestBiasAtNewInputs(t *testing.T) {
	for name, build := range biasedEngines {
		const n, inputs = 24, 3
		rng := seeded(8)
		k, d := gaussianGram(n, false, rng), drawSites(n, siteRegimes["zeros"], rng)
		g, _ := referenceWith(k, flat, d)
		field, scatter := drawSites(n, siteRegimes["even"], rng), drawSites(n, siteRegimes["zeros"], rng)
		e := build(k)
		must(t, e.Factorize(d))
		kernels := newGeneral(inputs, n)
		rows := make([]float64, 0, inputs*n)
		wantMean, wantVariance, want := make([]float64, inputs), make([]float64, inputs), make([]float64, inputs*n)
		for p := range inputs {
			mix := normals(n, rng)
			mix[0] += 1 - floats.Sum(mix)
			for i, a := range mix {
				for j := range n {
					kernels.Data[p*kernels.Stride+j] += a * k.At(i, j)
					want[p*n+j] += a * g[i*n+j]
				}
			}
			for j, v := range want[p*n : (p+1)*n] {
				wantMean[p] += v * field[j]
				wantVariance[p] += v * v * scatter[j]
			}
			rows = append(rows, describe(t, e, mix, kernels.Data[p*kernels.Stride:][:n])...)
		}
		responses := Responses(e, kernels)
		for i, v := range responses.Data {
			if math.Abs(v-want[i]) > 1e-10 {
				t.Errorf("%s: response %d is %g, want %g", name, i, v, want[i])
			}
		}
		for i := range n { // at a site's own input G(x, x) is chi
			own := newGeneral(1, n)
			for j := range n {
				own.Data[j] = k.At(i, j)
			}
			variance := k.At(i, i) + BiasVariance(e, own.Data[:n])
			for j, v := range Responses(e, own).Data {
				variance -= v * d[j] * own.Data[j]
			}
			if math.Abs(variance-g[i*n+i]) > 1e-11 {
				t.Errorf("%s: G(x, x) at site %d is %g, want %g", name, i, variance, g[i*n+i])
			}
		}
		mean, variance := make([]float64, inputs), make([]float64, inputs)
		NewPredictor(e, field, scatter)(rows, mean, variance)
		for p := range mean {
			if relative(mean[p], wantMean[p], 1) > 1e-10 || relative(variance[p], wantVariance[p], 1) > 1e-10 {
				t.Errorf("%s: input %d: %g, %g, want %g, %g", name, p, mean[p], variance[p], wantMean[p], wantVariance[p])
			}
		}
	}
}

// describe is the row that describes the combination of sites: its kernel vector, or the same
// combination of rows of R.
func describe(t *testing.T, e Engine, mix, kernels []float64) []float64 {
	t.Helper()
	low, _ := lowRankOf(e)
	if low == nil {
		return slices.Clone(kernels)
	}
	row := make([]float64, low.k.rank)
	low.k.MulTrans(row, mix)
	return row
}

// TestBiasUpdates: after a rank update all is as after a factorisation at the new d, and the diagonals
// predicted for a small move are right to first order: the error falls with the square of the move.
func TestBiasUpdates(t *testing.T) {
	const n = 60
	rng := seeded(9)
	k := plane(n, 0.3, rng)
	d := drawSites(n, siteRegimes["even"], rng)
	e, at := WithBias(k).Engine(), WithBias(k).Engine()
	must(t, e.Factorize(d))
	moved := slices.Clone(d)
	moved[3] += 2
	moved[40] -= 0.7
	must(t, e.(Dense).RankUpdate([]int{3, 40}, []float64{2, -0.7}))
	must(t, at.Factorize(moved))
	compareEngines(t, e, at, 1e-11)
	low := WithBias(mustFactorise(t, SymColumns{k}, RankOptions{Tol: 1e-6})).Engine()
	for _, e := range []Engine{e, low} {
		var off [2]float64
		for step, size := range []float64{1e-2, 1e-3} {
			move, chi, b := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range move {
				move[i] = size * moved[i]
			}
			must(t, e.Factorize(moved))
			if !NewResponse(e).PredictDiag(move, chi, b) {
				t.Fatal("a small move is refused")
			}
			for i := range move {
				move[i] += moved[i]
			}
			must(t, e.Factorize(move))
			exact, _ := e.Diag()
			for i := range chi {
				off[step] = math.Max(off[step], relative(chi[i], exact[i], 0))
			}
		}
		if !(off[0] < 1e-2 && off[1] < off[0]/5) {
			t.Errorf("%T: predictions are off by %.1e and, a tenth as far, %.1e", e, off[0], off[1])
		}
	}
}

// TestBiasInvariance: a constant in K changes nothing beside an infinite one, a site's
// precision makes all of G d = 1, and single precision errs by what it says.
func TestBiasInvariance(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(10, 3))
	k := plane(n, 0.3, rng)
	d := drawSites(n, siteRegimes["even"], rng)
	shifted := symmetric(n, func(i, j int) float64 { return k.At(i, j) + 3 })
	e, other := WithBias(k).Engine(), WithBias(shifted).Engine()
	must(t, e.Factorize(d))
	must(t, other.Factorize(d))
	compareEngines(t, other, e, 1e-10)
	ones := make([]float64, n)
	MulVecOffDiag(e, ones, d)
	chi, _ := e.Diag()
	for i := range ones {
		if v := ones[i] + chi[i]*d[i]; math.Abs(v-1) > 1e-11 {
			t.Errorf("(G d)_%d is 1 + %.1e", i, v-1)
		}
	}
	if limit := other.(Dense).SingleError(d); limit < 1 {
		must(t, other.(Dense).FactorizeSingle(d))
		compareEngines(t, other, e, 10*limit)
	}
}
