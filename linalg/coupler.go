package linalg

import (
	"math"
	"slices"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// Coupler multiplies by the derivatives of G and of the covariance C = G diag(u) G of the predictor, at the
// engine's present d: the products of Newton's method.
type Coupler interface {
	// Couple prepares for the u of C. It needs all of G.
	Couple(u []float64)

	// MulCoupled is dst = (G o G) d, (G o G) u - 2 (G o C) d and G f without the diagonals of G o G, G o C
	// and G. The second is the change of the diagonal of C with the d and u of the other sites.
	MulCoupled(dst *[3][]float64, d, u, f []float64)
}

// NewCoupler is the engine's own Coupler, on a factor or by kernels of small orders; nil for other engines,
// whose G o G and G o C must be formed. It is valid as long as the engine, at whose d it multiplies.
func NewCoupler(e Engine) Coupler {
	if low, bias := lowRankOf(e); low != nil {
		return newFactorCoupler(e, low, bias)
	}
	if dense, ok := e.(*CholeskyEngine); ok && dense.small.Usable() {
		n := dense.k.N()
		return &smallCoupler{engine: dense, crossed: contiguous(n, n), cross: make([]float64, n)}
	}
	return nil
}

// smallCoupler multiplies by kernels of small orders, with G o C below the diagonal of crossed, accurate to
// single precision.
type smallCoupler struct {
	engine  *CholeskyEngine
	crossed blas64.General
	cross   []float64 // (G o C) d
}

func (c *smallCoupler) Couple(u []float64) {
	c.engine.mustHoldG()
	c.engine.small.Couple(c.engine.k.Scratch(), c.engine.sites.Chi, u, c.crossed)
}

func (c *smallCoupler) MulCoupled(dst *[3][]float64, d, u, f []float64) {
	c.engine.mustHoldG()
	c.engine.small.MulCoupled(c.engine.k.Scratch(), c.crossed, d, u, f,
		&[4][]float64{dst[0], dst[1], c.cross, dst[2]})
	floats.AddScaled(dst[1], -2, c.cross)
}

// factorCoupler multiplies on a factor, in N r^2 flops and without a matrix of N^2 elements. With
// T = U' diag(u) U and S_x = U' diag(x) U, and G o G without its diagonal,
//
//	C_ij = (a_i u_i + a_j u_j) U_i'U_j + U_i' T U_j for j != i,
//	[(G o G) x]_i = U_i' S_x U_i - x_i |U_i|^4,
//	sum_{j != i} G_ij C_ij x_j = a_i u_i [(G o G) x]_i + [(G o G)(a o u o x)]_i + U_i' S_x T U_i
//	                             - x_i |U_i|^2 U_i' T U_i.
//
// A bias is a further column z/w^1/2 of U.
type factorCoupler struct {
	engine           Engine // with the bias
	factor           rows
	bias             *biasEngine
	level            []float64 // e z/w^1/2
	norm2, own, form []float64 // |U_i|^2, a_i u_i, U_i' T U_i
	mixed, scale     []float64 // u - 2 a u d; workspace

	t, byD, byMixed blas64.General // T; S_d; S_mixed - S_d T - T S_d
}

func newFactorCoupler(engine Engine, low *lowRankEngine, bias *biasEngine) *factorCoupler {
	n, order := low.k.n, low.k.rank
	v := func() []float64 { return make([]float64, n) }
	c := &factorCoupler{engine: engine, factor: low.factor(), bias: bias, norm2: v(), own: v(), form: v(),
		mixed: v(), scale: v()}
	if bias != nil {
		order++
		c.level, c.factor.lanes = v(), newLanes(n, order)
		c.factor.panels = append(slices.Clip(c.factor.panels), rowOf(c.level))
	}
	c.t, c.byD, c.byMixed = newGeneral(order, order), newGeneral(order, order), newGeneral(order, order)
	return c
}

func (c *factorCoupler) Couple(u []float64) {
	low := c.factor.lowRankEngine
	copy(c.norm2, low.uNorm2)
	if c.bias != nil {
		for i, z := range c.bias.z {
			z /= math.Sqrt(c.bias.w)
			c.norm2[i] += z * z
			c.level[i] = z / low.inverse[i]
		}
	}
	for i, v := range u {
		c.own[i] = low.k.residual[i] * low.inverse[i] * v
	}
	c.factor.weighted(c.t, u, c.scale)
	copy(c.byD.Data, c.t.Data)
	c.factor.forms(c.form, c.byD)
}

func (c *factorCoupler) MulCoupled(dst *[3][]float64, d, u, f []float64) {
	byD, change := dst[0], dst[1]
	for i, v := range c.own {
		c.mixed[i] = u[i] - 2*v*d[i]
	}
	c.factor.weighted(c.byD, d, c.scale)
	c.factor.weighted(c.byMixed, c.mixed, c.scale)
	core.AddProduct(c.byMixed, -1, c.byD, gblas.NoTrans, c.t)
	core.AddProduct(c.byMixed, -1, c.t, gblas.NoTrans, c.byD)
	c.factor.forms(change, c.byMixed)
	c.factor.forms(byD, c.byD)
	for i, v := range c.norm2 {
		byD[i] -= d[i] * v * v
		change[i] += 2*(d[i]*v*c.form[i]-c.own[i]*byD[i]) - c.mixed[i]*v*v
	}
	MulVecOffDiag(c.engine, dst[2], f)
}
