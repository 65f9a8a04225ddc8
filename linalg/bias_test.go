package linalg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/testutil"
	"bootbench/linalg/internal/core"
)

// flat stands for an infinite constant in 300-bit arithmetic: it leaves 1e-40, and takes 40 of 90 digits.
const flat = 1e40

// biasedEngines are those with a bias, on a kernel matrix and on a factor of it.
var biasedEngines = map[string]func(k *Sym) Engine{
	"exact": func(k *Sym) Engine { return WithBias(k).Engine() },
	"lowrank": func(k *Sym) Engine {
		factor, err := PivotedCholesky(context.Background(), k, RankOptions{})
		if err != nil {
			return failed{NewCholeskyEngine(k), err}
		}
		return WithBias(factor).Engine()
	},
}

// TestNewInputs: an input whose feature vector is a combination of the sites', with weights that sum to 1,
// has t(x) the same combination of rows of G. From that follow mean and variance. With a bias a combination
// that does not sum to 1 would need the limit of c times a difference.
func TestNewInputs(t *testing.T) {
	for name, build := range allEngines() {
		for _, regime := range []string{"even", "zeros", "none"} {
			constant, accuracy := 0.0, 1e-11
			if strings.HasSuffix(name, "+bias") {
				constant, accuracy = flat, 1e-10
			}
			for _, twins := range []bool{false, true} {
				if regime != "none" || constant == 0 {
					t.Run(fmt.Sprintf("engine=%s/twins=%v/d=%s", name, twins, regime), func(t *testing.T) {
						checkNewInputs(t, build, twins, constant, regime, accuracy)
					})
				}
			}
		}
	}
}

func checkNewInputs(t *testing.T, build func(k *Sym) Engine, twins bool, constant float64, regime string,
	accuracy float64) {
	const n, inputs = 24, 3
	rng := seeded(8)
	k, d := gaussianGram(n, twins, rng), drawSites(n, siteRegimes[regime], rng)
	g, _ := referenceWith(k, constant, d)
	field, scatter := drawSites(n, siteRegimes["even"], rng), drawSites(n, siteRegimes["zeros"], rng)
	e := build(k)
	testutil.Check(t, e.Factorize(d))
	e.FormG()
	kernels, want, rows := newGeneral(inputs, n), contiguous(inputs, n), make([]float64, 0, inputs*n)
	wantMean, wantVariance := make([]float64, inputs), make([]float64, inputs)
	for p := range inputs {
		mix := normals(n, rng)
		mix[0] += 1 - floats.Sum(mix)
		for i, a := range mix {
			floats.AddScaled(core.Row(want, p), a, g[i*n:(i+1)*n])
			for j := range n {
				core.Row(kernels, p)[j] += a * k.At(i, j)
			}
		}
		for j, v := range core.Row(want, p) {
			wantMean[p] += v * field[j]
			wantVariance[p] += v * v * scatter[j]
		}
		rows = append(rows, describe(e, mix, core.Row(kernels, p))...)
	}
	for i, v := range Responses(e, kernels).Data {
		if math.Abs(v-want.Data[i]) > 1e-10 {
			t.Errorf("response %d is %g, want %g", i, v, want.Data[i])
		}
	}
	for i := range n { // at a site's own input G(x, x) is chi
		own := rowOf(make([]float64, n))
		for j := range n {
			own.Data[j] = k.At(i, j)
		}
		variance := k.At(i, i) + BiasVariance(e, own.Data)
		for j, v := range Responses(e, own).Data {
			variance -= v * d[j] * own.Data[j]
		}
		if math.Abs(variance-g[i*n+i]) > 1e-11 {
			t.Errorf("G(x, x) at site %d is %g, want %g", i, variance, g[i*n+i])
		}
	}
	mean, variance := make([]float64, inputs), make([]float64, inputs)
	NewPredictor(e, field, scatter)(rows, mean, variance)
	for p := range mean {
		if relative(mean[p], wantMean[p], 1) > accuracy || relative(variance[p], wantVariance[p], 1) > 1e-10 {
			t.Errorf("input %d: %g, %g, want %g, %g", p, mean[p], variance[p], wantMean[p], wantVariance[p])
		}
	}
}

// describe is the row that describes the combination of sites: its kernel vector, or the same
// combination of rows of R.
func describe(e Engine, mix, kernels []float64) []float64 {
	low, _ := lowRankOf(e)
	if low == nil {
		return kernels
	}
	return low.k.coordinates(rowOf(mix)).Data
}

// TestBiasPredictions: with a bias the diagonals predicted for a small move are right to first order: the
// error falls with the square of the move.
func TestBiasPredictions(t *testing.T) {
	const n = 60
	rng := seeded(9)
	k := plane(n, 0.3, rng)
	d, e := drawSites(n, siteRegimes["even"], rng), WithBias(k).Engine()
	low := WithBias(mustFactorise(t, k, RankOptions{Tol: 1e-6})).Engine()
	for _, e := range []Engine{e, low} {
		var off [2]float64
		for step, size := range []float64{1e-2, 1e-3} {
			move, chi, b := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range move {
				move[i] = size * d[i]
			}
			testutil.Check(t, e.Factorize(d))
			if !NewResponse(e).PredictDiag(move, chi, b) {
				t.Fatal("a small move is refused")
			}
			for i := range move {
				move[i] += d[i]
			}
			testutil.Check(t, e.Factorize(move))
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
	testutil.Check(t, e.Factorize(d))
	testutil.Check(t, other.Factorize(d))
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
		testutil.Check(t, other.(Dense).FactorizeSingle(d))
		compareEngines(t, other, e, 10*limit)
	}
}
