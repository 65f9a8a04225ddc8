package linalg

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
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

// TestCoupler: the products of Newton's method against sums over the elements of G and C from the reference,
// on factors with a remainder, with V kept and not, with a bias and not, and on a small kernel matrix, whose
// G o C is in single precision. Elements of C_ij are compared with (C_ii C_jj)^1/2.
func TestCoupler(t *testing.T) {
	const n = 30
	whole := gaussianGram(n, false, seeded(3))
	factor := func(rank int) *LowRankPlusDiag {
		return testutil.Must(PivotedCholesky(context.Background(), whole, RankOptions{MaxRank: rank}))(t)
	}
	for name, c := range map[string]struct {
		rank            int // 0: the whole matrix
		unkept, biased  bool
		accuracy, crude float64 // of G o G, and of C
	}{
		"rank 1":                {rank: 1, accuracy: 1e-12, crude: 1e-12},
		"rank 7":                {rank: 7, accuracy: 1e-12, crude: 1e-12},
		"rank 7, R only":        {rank: 7, unkept: true, accuracy: 1e-11, crude: 1e-11},
		"rank 7, bias":          {rank: 7, biased: true, accuracy: 1e-11, crude: 1e-11},
		"rank 7, bias, R only":  {rank: 7, biased: true, unkept: true, accuracy: 1e-11, crude: 1e-11},
		"all columns":           {rank: n, accuracy: 1e-10, crude: 1e-10},
		"small, if it has them": {accuracy: 1e-12, crude: 1e-6},
	} {
		for _, regime := range []string{"even", "zeros"} {
			t.Run(fmt.Sprintf("%s/d=%s", name, regime), func(t *testing.T) {
				rng := seeded(5)
				d, u := drawSites(n, siteRegimes[regime], rng), drawSites(n, siteRegimes["even"], rng)
				k, constant := Kernel(whole), 0.0
				if c.rank > 0 {
					k = factor(c.rank)
				} else if blas.SmallWork(n) == 0 {
					t.Skip("this backend has no kernels for small orders")
				}
				dense := whole
				if f := FactorOf(k); f != nil {
					dense = f.Dense()
				}
				if c.biased {
					k, constant = WithBias(k), flat
				}
				e := k.Engine()
				if low, _ := lowRankOf(e); c.unkept {
					low.solved = blas64.General{}
				}
				testutil.Check(t, e.Factorize(d))
				e.FormG()
				coupler := NewCoupler(e)
				coupler.Couple(u)
				g, _ := referenceWith(dense, constant, d)
				covariance := make([]float64, n*n)
				for i := range n {
					for j := range n {
						for m := range n {
							covariance[i*n+j] += g[i*n+m] * u[m] * g[m*n+j]
						}
					}
				}
				x, y, f := normals(n, rng), normals(n, rng), normals(n, rng)
				dst := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
				coupler.MulCoupled(&dst, x, y, f)
				for i := range n {
					var want, scale [3]float64
					for j := range n {
						if j == i {
							continue
						}
						gij, cij := g[i*n+j], covariance[i*n+j]
						unit := math.Sqrt(g[i*n+i] * g[j*n+j])
						cross := math.Sqrt(covariance[i*n+i] * covariance[j*n+j])
						for at, term := range [3]float64{gij * gij * x[j],
							gij*gij*y[j] - 2*gij*cij*x[j], gij * f[j]} {
							want[at] += term
						}
						scale[0] += unit * unit * math.Abs(x[j])
						scale[1] += unit * unit * math.Abs(y[j])
						scale[1] += unit * cross * math.Abs(x[j]) * c.crude / c.accuracy
						scale[2] += unit * math.Abs(f[j])
					}
					for at := range dst {
						if off := math.Abs(dst[at][i] - want[at]); !(off <= c.accuracy*scale[at]) {
							t.Errorf("product %d at %d: %g, want %g", at, i, dst[at][i], want[at])
						}
					}
				}
			})
		}
	}
	if NewCoupler(failed{}) != nil {
		t.Error("an engine without products of its own has a coupler")
	}
}
