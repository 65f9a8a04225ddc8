package solver

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// differenceStep is the step of the differences in a site's parameters. Newton's method
// needs their derivative to some digits only.
const differenceStep = 1e-5

// minRoot keeps u^1/2 away from zero, so that G can be recovered from G
// diag(u)^1/2; its square adds nothing.
const minRoot = 1e-70

// jacobian is the derivative F' of a sweep: of the cavities that are read off G with
// respect to those from which the site parameters were computed. With A_ij = G_ij/chi_i, j != i,
// C = G diag(u) G the covariance of the predictor and V its diagonal, a change of
// the site parameters changes what T6 says of the cavities by
//
//	c_i:              sum_j A_ij^2 dd_j
//	c_i m_c:          sum_j A_ij (dg_j - m_j dd_j) + m_i sum_j A_ij^2 dd_j
//	c_i^2 V_c:        sum_j A_ij^2 du_j - 2/chi_i^2 sum_j G_ij (C_ij - V_i G_ij/chi_i) dd_j.
//
// The site's own parameters have dropped out: its cavity is the model without it.
type jacobian struct {
	sites    *siteModel
	slopes   [][3][3]float64 // of d, g, u of a site in its log c, m_c, log V_c
	products blas64.General  // below the diagonal G o C, above it G o G unless coupler has that
	scaled   blas64.General  // G diag(u)^1/2, nil before it is needed
	readings []reading
	chi      []float64
	m, v     []float64 // mean and variance of the predictor
	root     []float64 // u^1/2, at least minRoot
	inverse  []float64 // 1/root
	move     siteParams

	coupler    linalg.Coupler // what multiplies in the place of the products, for few sites; else nil
	covariance blas64.General // C in its lower triangle, where it has room
	product    [4][]float64   // with G o G of dd and du, with G o C of dd, with G of dg - m dd
}

// reading is how changes of the sums over the other sites change the cavity of a site.
type reading struct {
	logC, mean, logV float64 // units of sums in log c, in m_c and in log V_c, 0 where V_c is held
	meanByC, meanByV float64 // by which m_c moves with log c and log V_c besides
	variance         float64 // 2 V/chi
}

func newJacobian(w *workspace, n int) *jacobian {
	t := &jacobian{products: blas64.General{Rows: n, Cols: n, Stride: n, Data: w.vector(n * n)},
		move: siteParams{w.vector(n), w.vector(n), w.vector(n)}}
	if w.bytes += (72 + 48) * int64(n); !w.dry {
		t.slopes, t.readings = make([][3][3]float64, n), make([]reading, n)
	}
	t.chi, t.m, t.v, t.root, t.inverse = w.vector(n), w.vector(n), w.vector(n), w.vector(n), w.vector(n)
	t.product = [4][]float64(w.vectors(4, n))
	return t
}

// linearize computes the derivative at an iterate at which G stands, and whose sweep
// leads to image. It takes M^3 flops and some.
func (t *jacobian) linearize(x *iterate, image cavities) {
	s := t.sites
	s.siteSlopes(t.slopes, x)
	t.average(x.siteParams)
	t.read(image)
	if t.coupler = linalg.CouplerOf(s.engine); t.coupler != nil {
		t.coupler.Couple(t.products, x.U)
		return
	}
	t.couple(x.siteParams)
}

// average computes chi, m and V of G, which stands at p.
func (t *jacobian) average(p siteParams) {
	s := t.sites
	chi, _ := s.engine.Diag()
	copy(t.chi, chi)
	s.engine.MulVecOffDiag(t.m, p.G)
	s.engine.MulVecSquaredOffDiag(t.v, p.U)
	for i, v := range chi {
		t.m[i] += v * p.G[i]
		t.v[i] += v * v * p.U[i]
	}
}

// read prepares what mulResidual says of the cavities in the image.
func (t *jacobian) read(image cavities) {
	s := t.sites
	_, b := s.engine.Diag()
	for i, chi := range t.chi {
		c, mean, variance := cavityPrecision(chi, b[i]), image.mean()[i], math.Exp(image.logV()[i])
		scale := s.scale(variance)
		t.readings[i] = reading{
			logC: 1 / (chi * chi * c), mean: 1 / (chi * c * scale),
			meanByC: t.m[i]/scale - mean, meanByV: 0.5 * mean * variance / (scale * scale), variance: 2 * t.v[i] / chi,
		}
		if variance > s.minVar[i] {
			t.readings[i].logV = 1 / (chi * chi * c * c * variance)
		}
	}
}

// couple computes the products of G, which stands at p.
func (t *jacobian) couple(p siteParams) {
	s, n := t.sites, len(t.chi)
	if t.scaled.Data == nil {
		t.scaled = blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	for j, u := range p.U {
		t.root[j] = math.Max(math.Sqrt(u), minRoot)
		t.inverse[j] = 1 / t.root[j]
	}
	linalg.CopyG(s.engine, t.scaled)
	s.each(func(i int) {
		row := rowOf(t.scaled, i)
		for j, r := range t.root {
			row[j] *= r
		}
	})
	linalg.LowerGram(t.products, t.scaled)
	if t.covariance.Rows > 0 {
		copyLower(t.covariance, t.products)
	}
	s.each(func(i int) {
		row, products := rowOf(t.scaled, i), rowOf(t.products, i)
		for j, v := range row[:i] {
			products[j] *= v * t.inverse[j]
		}
		products[i] = 0
		for j := i + 1; j < len(row); j++ {
			g := row[j] * t.inverse[j]
			products[j] = g * g
		}
	})
}

// copyLower copies a lower triangle.
func copyLower(dst, a blas64.General) {
	for i := range a.Rows {
		copy(rowOf(dst, i)[:i+1], rowOf(a, i))
	}
}

func rowOf(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }

// half is a triangle of the products as the symmetric matrix that it stands for.
func (t *jacobian) half(uplo gblas.Uplo) blas64.Symmetric {
	return blas64.Symmetric{Uplo: uplo, N: t.products.Rows, Stride: t.products.Stride, Data: t.products.Data}
}

// multiply is dst = (G o G) x of the upper triangle, (G o C) x of the lower, without
// their diagonals.
func (t *jacobian) multiply(dst []float64, uplo gblas.Uplo, x []float64) {
	blas64.Symv(1, t.half(uplo), vector(x), 0, vector(dst))
}

// mulResidual is dst = (I - F') x.
func (t *jacobian) mulResidual(dst, x []float64) {
	in, out := cavities(x), cavities(dst)
	for i := range t.slopes {
		d := &t.slopes[i]
		a, b, c := in.logC()[i], in.mean()[i], in.logV()[i]
		t.move.D[i] = d[0][0]*a + d[1][0]*b + d[2][0]*c
		t.move.G[i] = d[0][1]*a + d[1][1]*b + d[2][1]*c - t.m[i]*t.move.D[i]
		t.move.U[i] = d[0][2]*a + d[1][2]*b + d[2][2]*c
	}
	byD, byU, cross, byG := t.product[0], t.product[1], t.product[2], t.product[3]
	if t.coupler != nil {
		t.coupler.MulCoupled(&t.product, t.products, t.move.D, t.move.U, t.move.G)
	} else {
		t.multiply(byD, gblas.Upper, t.move.D)
		t.multiply(byU, gblas.Upper, t.move.U)
		t.multiply(cross, gblas.Lower, t.move.D)
		t.sites.engine.MulVecOffDiag(byG, t.move.G)
	}
	for i, q := range t.readings {
		logC, logV := q.logC*byD[i], 0.0
		if q.logV > 0 {
			logV = q.logV*(byU[i]-2*cross[i]+q.variance*byD[i]) - 2*logC
		}
		out.logC()[i] = in.logC()[i] - logC
		out.mean()[i] = in.mean()[i] - (q.mean*byG[i] + q.meanByC*logC - q.meanByV*logV)
		out.logV()[i] = in.logV()[i] - logV
	}
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }
