package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// FactorEngine is an engine on a low-rank factor, with a bias or without.
type FactorEngine interface {
	Engine
	// Crossed prepares products with G o C, C = G diag(u) G, at the d of G.
	Crossed(u []float64) Crossed
}

// Crossed are products with G o G and G o C.
type Crossed interface {
	// MulVecOffDiag is squared = (G o G) x and mixed = (G o G) y - 2 (G o C) x, without the diagonals.
	MulVecOffDiag(squared, mixed, x, y []float64)
	// Diagonal is that of C, a view.
	Diagonal() []float64
}

// thinCrossed are those of a LowRankEngine.
type thinCrossed struct {
	engine   *LowRankEngine
	u        []float64
	a        []float64      // diag(a) of G
	m2       blas64.General // U' diag(u) U
	q2       []float64      // u_i' m2 u_i
	variance []float64      // diag(C)
}

// Crossed takes 2 N r^2 flops.
func (e *LowRankEngine) Crossed(u []float64) Crossed { return e.crossed(u) }

func (e *LowRankEngine) crossed(u []float64) *thinCrossed {
	n := len(u)
	c := &thinCrossed{engine: e, u: u, a: make([]float64, n), q2: make([]float64, n),
		variance: make([]float64, n)}
	for i, v := range e.inverse {
		c.a[i] = e.k.residual[i] * v
	}
	c.m2 = e.thinGram(u)
	e.thinForms(c.q2, c.m2)
	for i, v := range c.q2 {
		c.variance[i] = u[i]*(c.a[i]*c.a[i]+2*c.a[i]*e.uNorm2[i]) + v
	}
	return c
}

// Diagonal is that of C.
func (c *thinCrossed) Diagonal() []float64 { return c.variance }

// MulVecOffDiag: (G o C) x is the diagonal of H diag(u) G less G_ii C_ii x_i. With
// U of Engine, A = diag(a), X = diag(x) and M1 = U'XU,
//
//	H = G X G = A X A + A X U U' + U U' X A + U M1 U',
//
// and (G o G) y is a quadratic form of the rows of U as well, so that sums of such forms are all it takes: 4
// N r^2 flops.
func (c *thinCrossed) MulVecOffDiag(squared, mixed, x, y []float64) {
	e := c.engine
	for i, v := range x {
		mixed[i] = y[i] - 2*v*c.a[i]*c.u[i]
	}
	m3, m1 := e.thinGram(mixed), e.thinGram(x)
	if r := e.k.rank; r > 0 { // symmetrised: (m1 m2 + m2 m1)/2, twice
		blas64.Syr2k(gblas.NoTrans, -1, m1, c.m2, 1, blas64.Symmetric{Uplo: gblas.Lower, N: r, Stride: m3.Stride,
			Data: m3.Data})
	}
	e.thinForms(squared, m1)
	e.thinForms(mixed, m3)
	for i, q1 := range squared {
		a, z := c.a[i], e.uNorm2[i]
		h := a*a*x[i] + 2*a*x[i]*z + q1
		cross := c.u[i]*a*h + a*a*x[i]*c.u[i]*z + a*x[i]*c.q2[i] - e.chi[i]*c.variance[i]*x[i]
		squared[i] -= z * z * x[i]
		mixed[i] -= z*z*y[i] + 2*cross
	}
}

// biasedCrossed are those of G = G0 + v v', v = z/w^1/2. With C0 = G0 diag(u) G0, p = G0 (u o v) and s = v'(u
// o v),
//
//	C = C0 + v p' + p v' + s v v'.
type biasedCrossed struct {
	inner    *thinCrossed
	engine   *LowRankEngine
	share    Share
	v, p     []float64
	s        float64
	variance []float64 // diag(C)
	chi      []float64 // diag(G)
}

// Crossed is of a bias over a low-rank factor: others have none.
func (e *BiasEngine) Crossed(u []float64) Crossed {
	low := e.inner.(*LowRankEngine)
	n := len(u)
	c := &biasedCrossed{inner: low.crossed(u), engine: low, share: e.Sites(), v: make([]float64, n),
		variance: make([]float64, n), chi: e.sites.Chi}
	floats.ScaleTo(c.v, 1/math.Sqrt(e.w), e.z)
	weighted := make([]float64, n)
	floats.MulTo(weighted, u, c.v)
	c.p, c.s = c.times(weighted), c.share.SumOf(floats.Dot(c.v, weighted))
	for i, v := range c.v {
		c.variance[i] = c.inner.variance[i] + 2*v*c.p[i] + c.s*v*v
	}
	return c
}

// Diagonal is that of C.
func (c *biasedCrossed) Diagonal() []float64 { return c.variance }

// times is G0 x.
func (c *biasedCrossed) times(x []float64) []float64 {
	dst := make([]float64, len(x))
	c.engine.MulVecOffDiag(dst, x)
	for i, chi := range c.engine.chi {
		dst[i] += chi * x[i]
	}
	return dst
}

// MulVecOffDiag multiplies out, with o for products by elements,
//
//	(G o C) x = (G0 o C0) x + v o G0 (p o x) + (p + s v) o G0 (v o x) + v o C0 (v o x)
//	          + v o v (v o p)'x + (v o p + s v o v) (v o v)'x,
//
// and takes the diagonal away.
func (c *biasedCrossed) MulVecOffDiag(squared, mixed, x, y []float64) {
	n := len(x)
	c.inner.MulVecOffDiag(squared, mixed, x, y)
	turnedV, byP := c.addSquared(squared, x), make([]float64, n)
	c.addSquared(mixed, y)
	floats.MulTo(byP, c.p, x)
	turnedP := c.times(byP)
	sums := []float64{floats.Dot(c.v, byP), 0}
	for i, v := range c.v {
		sums[1] += v * v * x[i]
	}
	c.share.Sum(sums)
	floats.MulTo(byP, c.inner.u, turnedV)
	pushed := c.times(byP)
	for i, v := range c.v {
		p, chi := c.p[i], c.engine.chi[i]
		mixed[i] -= 2 * (chi*c.inner.variance[i]*x[i] + v*(turnedP[i]+pushed[i]) + (p+c.s*v)*turnedV[i] +
			v*v*sums[0] + v*(p+c.s*v)*sums[1] - c.chi[i]*c.variance[i]*x[i])
	}
}

// addSquared adds what the bias does to (G o G) x without the diagonal,
//
//	(G o G) x = (G0 o G0) x + 2 v o G0 (v o x) + v o v (v o v)'x,
//
// to dst and returns G0 (v o x).
func (c *biasedCrossed) addSquared(dst, x []float64) []float64 {
	byV := make([]float64, len(x))
	floats.MulTo(byV, c.v, x)
	turned, sum := c.times(byV), c.share.SumOf(floats.Dot(c.v, byV))
	for i, v := range c.v {
		inner, chi := c.engine.chi[i], c.chi[i]
		dst[i] += (inner*inner-chi*chi)*x[i] + 2*v*turned[i] + v*v*sum
	}
	return turned
}

// thinGram is U' diag(x) U.
func (e *LowRankEngine) thinGram(x []float64) blas64.General {
	e.quadraticForm(e.basis(), x)
	m := newGeneral(e.k.rank, e.k.rank)
	copyRows(m, e.ws.form)
	return m
}

// thinForms is dst_i = u_i' m u_i over the rows of U, for the lower triangle of a symmetric m.
func (e *LowRankEngine) thinForms(dst []float64, m blas64.General) {
	copyRows(e.ws.form, m)
	mirrorLower(e.ws.form)
	e.quadraticForms(dst, e.basis())
	for i, v := range e.inverse {
		dst[i] *= v * v
	}
}

// ColumnWeights takes derivatives by the elements of K~, a symmetric W, to those by the columns of K
// at the pivots, which stay where they are. mul computes dst = x W for rows x over own sites, diagonal is
// that of W there. With C these columns, Q their rows at the pivots and B = C Q^-1, K~ = C Q^-1 C' but for
// its diagonal, which is that of K:
//
//	dE = sum_ij P_ij dC_ij + sum_q P~_q dQ_q + sum_i W_ii dK_ii,   P = 2 (W - diag(W)) B,   P~ = -1/2 B' P.
//
// dQ are rows of dC, so that P~ is added to P there. The result is rank x own sites: its transpose, of which
// a member of a team has the columns of its own sites.
func (k *LowRankPlusDiag) ColumnWeights(mul func(dst, x blas64.General), diagonal []float64) blas64.General {
	r, own := k.rank, k.share.Own()
	b, p := newGeneral(r, own), newGeneral(r, own)
	if r == 0 {
		return p
	}
	k.block(b, 0, own, nil)
	if own > 0 {
		blas64.Trsm(gblas.Left, gblas.Trans, 1, lowerOf(k.triangle), b)
	}
	for first := 0; first < r; first += k.panelRows() {
		last := min(r, first+k.panelRows())
		mul(core.Rows(p, first, last), core.Rows(b, first, last))
	}
	for q := range r {
		to, from := p.Data[q*p.Stride:], b.Data[q*b.Stride:]
		for i, v := range diagonal {
			to[i] = 2 * (to[i] - v*from[i])
		}
	}
	half := newGeneral(r, r)
	if own > 0 {
		blas64.Gemm(gblas.NoTrans, gblas.Trans, -0.5, p, b, 0, half)
	}
	k.share.Sum(half.Data)
	for q := range r {
		for s, pivot := range k.pivots {
			if k.share.Holds(pivot) {
				p.Data[q*p.Stride+pivot-k.share.First] += half.Data[q*half.Stride+s]
			}
		}
	}
	return p
}

// copyRows copies the elements of a matrix of the same size.
func copyRows(dst, a blas64.General) {
	for r := range a.Rows {
		copy(dst.Data[r*dst.Stride:r*dst.Stride+a.Cols], a.Data[r*a.Stride:])
	}
}
