package solver

import (
	"math"

	"bootbench/linalg"
	"bootbench/solver/internal/linear"
)

// differenceStep is the step of the differences in a site's parameters. Newton's method
// needs their derivative to some digits only.
const differenceStep = 1e-5

// jacobian is the derivative F' of a sweep: of the cavities read off G with respect to those that determined
// the site parameters. With A_ij = G_ij/chi_i, j != i, C = G diag(u) G the covariance of the predictor and V
// its diagonal, a change of the site parameters changes the cavities of T6 by
//
//	c_i:              sum_j A_ij^2 dd_j
//	c_i m_c:          sum_j A_ij (dg_j - m_j dd_j) + m_i sum_j A_ij^2 dd_j
//	c_i^2 V_c:        sum_j A_ij^2 du_j - 2/chi_i^2 sum_j G_ij (C_ij - V_i G_ij/chi_i) dd_j.
//
// The site's own parameters drop out: its cavity is the model without it.
type jacobian struct {
	linear.Averages
	sites    *siteModel
	slopes   [][3][3]float64 // of d, g, u of a site in its log c, m_c, log V_c
	readings []reading
	move     siteParams
	coupler  linalg.Coupler
	product  [3][]float64 // the coupler's with dd, du and dg - m dd
}

// reading maps changes of the sums over the other sites to the change of a site's cavity.
type reading struct {
	logC, mean, logV float64 // units of sums in log c, in m_c and in log V_c, 0 if V_c is at its limit
	meanByC, meanByV float64 // derivatives of the scaled m_c with respect to log c and log V_c
	variance         float64 // 2 V/chi
}

func newJacobian(s *siteModel) *jacobian {
	n := len(s.sites)
	t := &jacobian{Averages: linear.NewAverages(n), sites: s, slopes: make([][3][3]float64, n),
		readings: make([]reading, n), move: newSiteParams(n), coupler: linear.NewCoupler(s.engine)}
	for k := range t.product {
		t.product[k] = make([]float64, n)
	}
	return t
}

// linearize computes the derivative at the iterate of G. It takes M^3 flops, on a factor M r^2.
func (t *jacobian) linearize(x *iterate) {
	s := t.sites
	s.siteSlopes(t.slopes, x)
	t.Average(s.engine, x.G, x.U)
	t.read(x.image)
	if !s.cancelled() {
		t.coupler.Couple(x.U)
	}
}

// read computes the readings at the image.
func (t *jacobian) read(image cavities) {
	s := t.sites
	_, b := s.engine.Diag()
	for i, chi := range t.Chi {
		c, mean, variance := cavityPrecision(chi, b[i]), image.mean()[i], math.Exp(image.logV()[i])
		scale := s.scale(variance)
		t.readings[i] = reading{
			logC: 1 / (chi * chi * c), mean: 1 / (chi * c * scale),
			meanByC: t.Mean[i]/scale - mean, meanByV: 0.5 * mean * variance / (scale * scale),
			variance: 2 * t.Var[i] / chi,
		}
		if variance > s.sites[i].MinVariance {
			t.readings[i].logV = 1 / (chi * chi * c * c * variance)
		}
	}
}

// mulResidual is dst = (I - F') x.
func (t *jacobian) mulResidual(dst, x []float64) {
	in, out := cavities(x), cavities(dst)
	for i := range t.slopes {
		d := &t.slopes[i]
		a, b, c := in.logC()[i], in.mean()[i], in.logV()[i]
		t.move.D[i] = d[0][0]*a + d[1][0]*b + d[2][0]*c
		t.move.G[i] = d[0][1]*a + d[1][1]*b + d[2][1]*c - t.Mean[i]*t.move.D[i]
		t.move.U[i] = d[0][2]*a + d[1][2]*b + d[2][2]*c
	}
	t.coupler.MulCoupled(&t.product, t.move.D, t.move.U, t.move.G)
	byD, byU, byG := t.product[0], t.product[1], t.product[2]
	for i, q := range t.readings {
		logC, logV := q.logC*byD[i], 0.0
		if q.logV > 0 {
			logV = q.logV*(byU[i]+q.variance*byD[i]) - 2*logC
		}
		out.logC()[i] = in.logC()[i] - logC
		out.mean()[i] = in.mean()[i] - (q.mean*byG[i] + q.meanByC*logC - q.meanByV*logV)
		out.logV()[i] = in.logV()[i] - logV
	}
}
