package linalg

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// flat stands for an infinite constant in 300-bit arithmetic: it leaves 1e-40, and takes 40 of
// 90 digits.
const flat = 1e40

// biased are the engines with a bias, on a kernel matrix and on a factor of it.
var biased = map[string]func(t *testing.T, k *Sym) Engine{
	"exact": func(t *testing.T, k *Sym) Engine { return WithBias(k).Engine() },
	"lowrank": func(t *testing.T, k *Sym) Engine {
		return WithBias(mustFactorise(t, SymColumns{k}, RankOptions{})).Engine()
	},
}

func mustFactorizeAt(t *testing.T, e Engine, d []float64) {
	t.Helper()
	if err := e.Factorize(d); err != nil {
		t.Fatal(err)
	}
}

// TestBiasReadOuts holds every read-out against G of K + 1e40 in 300-bit arithmetic. The
// accuracies are those of TestReadOuts; b loses the digits that the engine on K loses
// in b0, and some in the sum of the others.
func TestBiasReadOuts(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(biased)) {
		for _, regime := range slices.Sorted(maps.Keys(siteRegimes)) {
			for _, twins := range []bool{false, true} {
				t.Run(fmt.Sprintf("engine=%s/d=%s/twins=%v", name, regime, twins), func(t *testing.T) {
					const n = 24
					rng := seeded(7)
					k, d := gaussianGram(n, twins, rng), drawSites(n, siteRegimes[regime], rng)
					e := biased[name](t, k)
					if regime == "none" {
						if err := e.Factorize(d); !errors.Is(err, ErrNoBias) {
							t.Fatalf("no site fixes the bias, and the error is %v", err)
						}
						return
					}
					g, b := referenceWith(k, flat, d)
					mustFactorizeAt(t, e, d)
					harsh := regime == "strong" || regime == "decades"
					accuracy := 1e-11
					if harsh {
						accuracy = 1e-4
					}
					checkProducts(t, e, g, b, d, accuracy, harsh)
				})
			}
		}
	}
}

// TestBiasAtNewInputs: an input whose feature vector is a combination of the sites', with
// weights that sum to 1, has t(x) the same combination of rows of G. From that follow
// mean and variance; a combination that does not sum to 1 would need the limit of c times
// a difference.
func TestBiasAtNewInputs(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(biased)) {
		const n, inputs = 24, 3
		rng := seeded(8)
		k, d := gaussianGram(n, false, rng), drawSites(n, siteRegimes["zeros"], rng)
		g, _ := referenceWith(k, flat, d)
		field, scatter := drawSites(n, siteRegimes["even"], rng), drawSites(n, siteRegimes["zeros"], rng)
		e := biased[name](t, k)
		mustFactorizeAt(t, e, d)
		kernels := blas64.General{Rows: inputs, Cols: n, Stride: n, Data: make([]float64, inputs*n)}
		rows := make([]float64, 0, inputs*n)
		wantMean, wantVariance, want := make([]float64, inputs), make([]float64, inputs), make([]float64, inputs*n)
		for p := range inputs {
			mix := make([]float64, n)
			rest := 1.0
			for i := range mix[1:] {
				mix[1+i] = rng.NormFloat64()
				rest -= mix[1+i]
			}
			mix[0] = rest
			for i, a := range mix {
				for j := range n {
					kernels.Data[p*n+j] += a * k.At(i, j)
					want[p*n+j] += a * g[i*n+j]
				}
			}
			for j, v := range want[p*n : (p+1)*n] {
				wantMean[p] += v * field[j]
				wantVariance[p] += v * v * scatter[j]
			}
			rows = append(rows, rowOf(t, e, mix, kernels.Data[p*n:(p+1)*n])...)
		}
		responses := Responses(e, kernels)
		for i, v := range responses.Data {
			if math.Abs(v-want[i]) > 1e-10 {
				t.Errorf("%s: response %d is %g, want %g", name, i, v, want[i])
			}
		}
		for i := range n { // at a site's own input G(x, x) is chi
			own := blas64.General{Rows: 1, Cols: n, Stride: n, Data: make([]float64, n)}
			for j := range n {
				own.Data[j] = k.At(i, j)
			}
			variance := k.At(i, i) + BiasVariance(e, own.Data)
			for j, v := range Responses(e, own).Data {
				variance -= v * d[j] * own.Data[j]
			}
			if math.Abs(variance-g[i*n+i]) > 1e-11 {
				t.Errorf("%s: G(x, x) at site %d is %g, want %g", name, i, variance, g[i*n+i])
			}
		}
		mean, variance := make([]float64, inputs), make([]float64, inputs)
		e.Predictor(field, scatter).Predict(rows, mean, variance)
		for p := range mean {
			if relative(mean[p], wantMean[p], 1) > 1e-10 || relative(variance[p], wantVariance[p], 1) > 1e-10 {
				t.Errorf("%s: input %d: %g, %g, want %g, %g", name, p, mean[p], variance[p], wantMean[p], wantVariance[p])
			}
		}
	}
}

// rowOf is the row that describes the combination of sites: its kernel vector, or the same
// combination of rows of R.
func rowOf(t *testing.T, e Engine, mix, kernels []float64) []float64 {
	t.Helper()
	low, ok := biasOf(e).inner.(*lowRankEngine)
	if !ok {
		return slices.Clone(kernels)
	}
	row := make([]float64, low.k.rank)
	low.k.MulTrans(row, mix)
	return row
}

// TestBiasUpdates: after a rank update all is as after a factorisation at the new d, and the
// diagonals predicted for a small move are right to first order: the error falls with the
// square of the move.
func TestBiasUpdates(t *testing.T) {
	const n = 60
	rng := seeded(9)
	k := plane(n, 0.3, rng)
	d := drawSites(n, siteRegimes["even"], rng)
	e, at := WithBias(k).Engine(), WithBias(k).Engine()
	mustFactorizeAt(t, e, d)
	moved := slices.Clone(d)
	moved[3] += 2
	moved[40] -= 0.7
	if err := e.(Dense).RankUpdate([]int{3, 40}, []float64{2, -0.7}); err != nil {
		t.Fatal(err)
	}
	mustFactorizeAt(t, at, moved)
	compareDiagonals(t, e, at, 1e-11)
	low := WithBias(mustFactorise(t, SymColumns{k}, RankOptions{Tol: 1e-6})).Engine()
	for _, e := range []Engine{e, low} {
		var off [2]float64
		for step, size := range []float64{1e-2, 1e-3} {
			move, chi, b := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range move {
				move[i] = size * moved[i]
			}
			mustFactorizeAt(t, e, moved)
			if !NewResponse(e).PredictDiag(move, chi, b) {
				t.Fatal("a small move is refused")
			}
			for i := range move {
				move[i] += moved[i]
			}
			mustFactorizeAt(t, e, move)
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

func compareDiagonals(t *testing.T, got, want Engine, accuracy float64) {
	t.Helper()
	chi, b := got.Diag()
	wantChi, wantB := want.Diag()
	for i := range chi {
		if relative(chi[i], wantChi[i], 0) > accuracy || relative(b[i], wantB[i], 0) > accuracy {
			t.Errorf("site %d: chi %g, b %g, want %g, %g", i, chi[i], b[i], wantChi[i], wantB[i])
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
	shifted := NewSym(n)
	for i := range n {
		for j := range i + 1 {
			shifted.Set(i, j, k.At(i, j)+3)
		}
	}
	e, other := WithBias(k).Engine(), WithBias(shifted).Engine()
	mustFactorizeAt(t, e, d)
	mustFactorizeAt(t, other, d)
	compareDiagonals(t, other, e, 1e-10)
	ones := make([]float64, n)
	e.MulVecOffDiag(ones, d)
	chi, _ := e.Diag()
	for i := range ones {
		if v := ones[i] + chi[i]*d[i]; math.Abs(v-1) > 1e-11 {
			t.Errorf("(G d)_%d is 1 + %.1e", i, v-1)
		}
	}
	if limit := other.(Dense).SingleError(d); limit < 1 {
		if err := other.(Dense).FactorizeSingle(d); err != nil {
			t.Fatal(err)
		}
		compareDiagonals(t, other, e, 10*limit)
	}
}
