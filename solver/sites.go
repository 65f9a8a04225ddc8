package solver

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
)

// Limits of the site parameters.
const (
	// minResponse bounds c chi from below, and so d = c (1 - c chi)/(c chi) from
	// above. A site whose p(0) is smaller is present for certain; a d of c/p(0)
	// would overflow, and 1e10 c pins the predictor as well: c and the fields of
	// the others change by a share of 1e-10.
	minResponse = 1e-10

	// minInverse is the smallest 1/d, as a share of K_ii. Nothing of K is known to
	// better than 2^-53; with K replaced by its numerical low-rank factor
	// (linalg.Dense.UseFactor), d may grow up to 2^60/K_ii without loss of accuracy.
	minInverse = 0x1p-60

	// minVariance is the smallest V_c, as a share of K_ii: a standard
	// deviation of 1e-10 is a jump as good as any.
	minVariance = 1e-20
)

// smallestVariance stands for chi = 0, where K_ii = 0: the predictor is 0 there
// in every resample, which a c as large as this expresses without overflow of
// its fourth power.
const smallestVariance = 1e-70

// cavityPrecision is c = b/chi (T6).
func cavityPrecision(chi, b float64) float64 {
	return b / math.Max(chi, smallestVariance)
}

// siteModel maps cavities to site parameters, site by site (T4, T6), and reads the
// cavities that follow off G (T5, T6): the two halves of a sweep.
type siteModel struct {
	sites  []site
	engine linalg.Engine
	unit   float64 // root mean square of the targets
	// probability with which a site's examples are there at all: 1, or less along a continuation
	presence  float64
	minVar    []float64   // smallest V_c
	minInvD   []float64   // smallest 1/d
	off       []float64   // workspace: products with G without its diagonal
	cancelled func() bool // whether the solve has been called off
}

func newSiteModel(sites []site, engine linalg.Engine, gram linalg.Kernel, y []float64) *siteModel {
	n := len(sites)
	s := &siteModel{engine: engine, unit: 1, presence: 1,
		cancelled: func() bool { return false }}
	s.sites = sites
	s.minVar, s.minInvD, s.off = make([]float64, n), make([]float64, n), make([]float64, n)
	if square := floats.Dot(y, y); square > 0 {
		s.unit = math.Sqrt(square / float64(len(y)))
	}
	for i, v := range linalg.Diagonal(gram) {
		k := math.Max(v, smallestVariance)
		s.minVar[i] = minVariance * k
		s.minInvD[i] = k * minInverse
	}
	return s
}

// scale is what the mean of a cavity is measured in.
func (s *siteModel) scale(variance float64) float64 {
	return math.Sqrt(s.unit*s.unit + variance)
}

// cavity is that of site i.
func (s *siteModel) cavity(x cavities, i int) loss.Cavity {
	return s.newCavity(x.logC()[i], x.mean()[i], x.logV()[i])
}

func (s *siteModel) newCavity(logC, mean, logV float64) loss.Cavity {
	variance := math.Exp(logV)
	return loss.Cavity{C: math.Exp(logC), Mean: s.scale(variance) * mean, Var: variance}
}

// moments are those of site i (T4).
func (s *siteModel) moments(i int, cav loss.Cavity) loss.Moments {
	return s.thinned(cav, s.sites[i].Moments(cav))
}

// thinned are the moments m where examples are there with probability presence only: a
// mixture with the cavity itself.
func (s *siteModel) thinned(cav loss.Cavity, m loss.Moments) loss.Moments {
	if t := s.presence; t < 1 {
		off := m.Mean - cav.Mean
		m = loss.Moments{
			Mean:      cav.Mean + t*off,
			Var:       t*m.Var + (1-t)*cav.Var + t*(1-t)*off*off,
			Response:  t*m.Response + (1 - t),
			Shrinkage: t * m.Shrinkage,
		}
	}
	return m
}

// response is c chi of a site, kept away from zero.
func (s *siteModel) response(i int, c float64, m loss.Moments) float64 {
	least := c * s.minInvD[i]
	return math.Max(m.Response, math.Max(minResponse, least/(1+least)))
}

// countCapped counts the sites whose d is held at the largest that response allows.
func (s *siteModel) countCapped(x cavities) int {
	var high atomic.Int64
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		if s.response(i, cav.C, m) > m.Response {
			high.Add(1)
		}
	})
	return int(high.Load())
}

// siteParameters computes the parameters with which each site has, beside its cavity,
// the moments that it gives itself (T4, T6):
//
//	d = c (1 - c chi)/(c chi),   g = m/chi - c m_c,   u = V/chi^2 - c^2 V_c.
//
// u >= 0, since by Cauchy and Schwarz V V_c >= cov(f, h)^2 = (V_c c chi)^2.
func (s *siteModel) siteParameters(dst siteParams, x cavities) {
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		dst.D[i], dst.G[i], dst.U[i] = s.siteParameter(i, cav, m)
	})
}

// siteParameter is d, g, u of site i of moments m at a cavity.
func (s *siteModel) siteParameter(i int, cav loss.Cavity, m loss.Moments) (d, g, u float64) {
	response := s.response(i, cav.C, m)
	g, u = matchMoments(cav, m, response)
	return cav.C * m.Shrinkage / response, g, u
}

// matchMoments computes the g and u that give the site its mean and variance if chi is
// response/c.
func matchMoments(cav loss.Cavity, m loss.Moments, response float64) (g, u float64) {
	return cav.C * (m.Mean/response - cav.Mean), math.Max(0, cav.C*cav.C*(m.Var/(response*response)-cav.Var))
}

// cavities computes the cavities that follow from G and from g and u (T5, T6); see
// Solution.readCavities.
func (s *siteModel) cavities(dst cavities, p siteParams) {
	chi, b := s.engine.Diag()
	for i := range chi {
		dst.logC()[i] = math.Log(cavityPrecision(chi[i], b[i]))
	}
	s.cavityFields(dst, p)
}

// cavityFields computes m_c and V_c only.
func (s *siteModel) cavityFields(dst cavities, p siteParams) {
	_, b := s.engine.Diag()
	mean, logV := dst.mean(), dst.logV()
	s.engine.MulVecOffDiag(s.off, p.G)
	for i, v := range s.off {
		mean[i] = v / b[i]
	}
	s.engine.MulVecSquaredOffDiag(s.off, p.U)
	for i, v := range s.off {
		variance := math.Max(v/(b[i]*b[i]), s.minVar[i])
		mean[i] /= s.scale(variance)
		logV[i] = math.Log(variance)
	}
}

// negligibleVariance is the share of the squared scale below which variances are not told
// apart when differences are measured.
const negligibleVariance = 1e-8

// maxChange is the largest difference between the cavities a and b.
func (s *siteModel) maxChange(a, b cavities) float64 {
	worst := 0.0
	for i := range s.sites {
		variance := math.Exp(b.logV()[i])
		weight := variance / (variance + negligibleVariance*s.unit*s.unit)
		maxNaN(&worst, math.Abs(a.logC()[i]-b.logC()[i]))
		maxNaN(&worst, math.Abs(a.mean()[i]-b.mean()[i]))
		maxNaN(&worst, math.Abs(a.logV()[i]-b.logV()[i])*weight)
	}
	return worst
}

// consistencyError is the largest difference between the two sides of T6: what the
// sites say at cavities that were read off G (T4), and what G says with the parameters
// p from which they were read (T5): of the predictor's mean, of its variance, and of
// d chi. That, not d itself, tells how a site acts on the others: where it is near 1
// the site is pinned, whatever its d.
func (s *siteModel) consistencyError(x cavities, p siteParams) float64 {
	chi, b := s.engine.Diag()
	apart := make([]struct{ fields, shrinkage, most float64 }, len(s.sites))
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		at := &apart[i]
		response := s.response(i, cav.C, m)
		mean := b[i]*cav.Mean + chi[i]*p.G[i]
		variance := b[i]*b[i]*cav.Var + chi[i]*chi[i]*p.U[i]
		at.fields = math.Abs(m.Mean-mean) / s.scale(cav.Var)
		maxNaN(&at.fields, math.Abs(m.Var-variance)/(m.Var+negligibleVariance*s.unit*s.unit))
		bySite, byG := m.Shrinkage, p.D[i]*chi[i]
		if response > m.Response {
			bySite = 1 - response
		}
		at.shrinkage, at.most = math.Abs(bySite-byG), math.Max(bySite, byG)
	})
	var worst, shrinkage, most float64
	for _, at := range apart {
		maxNaN(&worst, at.fields)
		maxNaN(&shrinkage, at.shrinkage)
		maxNaN(&most, at.most)
	}
	if shrinkage > 0 {
		maxNaN(&worst, shrinkage/most)
	}
	return worst
}
