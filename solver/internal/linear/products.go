package linear

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// minRoot keeps u^1/2 away from zero, so that G can be recovered from G diag(u)^1/2; its square adds nothing.
const minRoot = 1e-70

// Averages are the diagonal of G, and the mean and variance of the predictor at the site parameters g and u.
type Averages struct{ Chi, Mean, Var []float64 }

// NewAverages makes room for n sites.
func NewAverages(n int) Averages {
	return Averages{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// Average computes chi, m and V.
func (a *Averages) Average(engine linalg.Engine, g, u []float64) {
	chi, _ := engine.Diag()
	copy(a.Chi, chi)
	linalg.MulVecOffDiag(engine, a.Mean, g)
	engine.MulVecSquaredOffDiag(a.Var, u)
	for i, v := range chi {
		a.Mean[i] += v * g[i]
		a.Var[i] += v * v * u[i]
	}
}

// Products are the linalg.Coupler of any engine: with C = G diag(u) G, the matrices G o G and G o C.
type Products struct {
	Pairs      blas64.General // G o G above the diagonal, G o C below it, 0 on it
	Scaled     blas64.General // G diag(Root), nil before Couple
	Root       []float64      // u^1/2, at least minRoot
	Covariance blas64.General // C in its lower triangle, if allocated
	engine     linalg.Engine
	inverse    []float64 // 1/Root
	cross      []float64 // workspace
}

// NewProducts makes room for the products of an engine.
func NewProducts(engine linalg.Engine) *Products {
	n := len(engine.Precisions())
	return &Products{Pairs: square(n), Root: make([]float64, n), engine: engine, inverse: make([]float64, n),
		cross: make([]float64, n)}
}

// NewCoupler is the engine's own Coupler, or Products.
func NewCoupler(engine linalg.Engine) linalg.Coupler {
	if own := linalg.NewCoupler(engine); own != nil {
		return own
	}
	return NewProducts(engine)
}

// KeepCovariance allocates C.
func (p *Products) KeepCovariance() { p.Covariance = square(len(p.Root)) }

func square(n int) blas64.General {
	return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
}

// Couple computes the products, in M^3 flops.
func (p *Products) Couple(u []float64) {
	if p.Scaled.Data == nil {
		p.Scaled = square(len(u))
	}
	for j, v := range u {
		p.Root[j] = math.Max(math.Sqrt(v), minRoot)
		p.inverse[j] = 1 / p.Root[j]
	}
	p.engine.Rows(p.Scaled, 0)
	linalg.Parallel(len(u), func(i int) {
		row := Row(p.Scaled, i)
		for j, r := range p.Root {
			row[j] *= r
		}
	})
	linalg.LowerGram(p.Pairs, p.Scaled)
	if p.Covariance.Rows > 0 {
		for i := range u {
			copy(Row(p.Covariance, i)[:i+1], Row(p.Pairs, i))
		}
	}
	linalg.Parallel(len(u), func(i int) {
		row, pairs := Row(p.Scaled, i), Row(p.Pairs, i)
		for j, v := range row[:i] {
			pairs[j] *= v * p.inverse[j]
		}
		pairs[i] = 0
		for j := i + 1; j < len(row); j++ {
			g := row[j] * p.inverse[j]
			pairs[j] = g * g
		}
	})
}

// MulCoupled implements linalg.Coupler.
func (p *Products) MulCoupled(dst *[3][]float64, d, u, f []float64) {
	p.MulSquared(dst[0], d)
	p.MulSquared(dst[1], u)
	p.MulCross(p.cross, d)
	floats.AddScaled(dst[1], -2, p.cross)
	linalg.MulVecOffDiag(p.engine, dst[2], f)
}

// MulSquared is dst = (G o G) x, and MulCross is dst = (G o C) x, without the diagonals.
func (p *Products) MulSquared(dst, x []float64) { p.mul(blas.Upper, dst, x) }
func (p *Products) MulCross(dst, x []float64)   { p.mul(blas.Lower, dst, x) }

// mul multiplies by the symmetric matrix in a triangle.
func (p *Products) mul(uplo blas.Uplo, dst, x []float64) {
	a := blas64.Symmetric{Uplo: uplo, N: p.Pairs.Rows, Stride: p.Pairs.Stride, Data: p.Pairs.Data}
	blas64.Symv(1, a, vector(x), 0, vector(dst))
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Row is row i of a.
func Row(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }
