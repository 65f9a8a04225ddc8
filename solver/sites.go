package solver

import (
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver/site"
)

// smallestVariance stands for chi = 0.
const smallestVariance = site.SmallestVariance

// cavityPrecision is c = b/chi (T6).
func cavityPrecision(chi, b float64) float64 {
	return b / math.Max(chi, smallestVariance)
}

// siteModel maps cavities to site parameters, site by site (T4, T6), and reads the next cavities off G (T5,
// T6): the two halves of a sweep.
type siteModel struct {
	sites     []site.Site
	engine    linalg.Engine
	unit      float64     // root mean square of the targets
	off       []float64   // workspace: products with G without its diagonal
	cancelled func() bool // whether the solve has been cancelled
}

func newSiteModel(sites []site.Site, engine linalg.Engine, y []float64) *siteModel {
	s := &siteModel{sites: sites, engine: engine, unit: 1, off: make([]float64, len(sites)),
		cancelled: func() bool { return false }}
	if square := floats.Dot(y, y); square > 0 {
		s.unit = math.Sqrt(square / float64(len(y)))
	}
	return s
}

// scale is the unit of a cavity's mean.
func (s *siteModel) scale(variance float64) float64 {
	return math.Sqrt(s.unit*s.unit + variance)
}

// cavity is the cavity of site i.
func (s *siteModel) cavity(x cavities, i int) loss.Cavity {
	return s.newCavity(x.logC()[i], x.mean()[i], x.logV()[i])
}

func (s *siteModel) newCavity(logC, mean, logV float64) loss.Cavity {
	variance := math.Exp(logV)
	return loss.Cavity{C: math.Exp(logC), Mean: s.scale(variance) * mean, Var: variance}
}

// countCapped counts the sites with d at its upper limit.
func (s *siteModel) countCapped(x cavities) int {
	var high atomic.Int64
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		if s.sites[i].Response(cav.C, m) > m.Response {
			high.Add(1)
		}
	})
	return int(high.Load())
}

// siteParameters computes d, g and u of all sites (site.Site.Parameters).
func (s *siteModel) siteParameters(dst siteParams, x cavities) {
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		dst.D[i], dst.G[i], dst.U[i] = s.sites[i].Parameters(cav, m)
	})
}

// cavities computes the cavities from G, g and u (T5, T6); see Solution.readCavities.
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
	linalg.MulVecOffDiag(s.engine, s.off, p.G)
	for i, v := range s.off {
		mean[i] = v / b[i]
	}
	s.engine.MulVecSquaredOffDiag(s.off, p.U)
	for i, v := range s.off {
		variance := math.Max(v/(b[i]*b[i]), s.sites[i].MinVariance)
		mean[i] /= s.scale(variance)
		logV[i] = math.Log(variance)
	}
}

// negligibleVariance is the least variance, relative to the squared scale, in differences of log V_c.
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

// consistencyError is the largest difference between the two sides of T6, in the predictor's mean, its
// variance and d chi: of the sites in cavities read off G (T4), and of G with the parameters p
// (T5). The effect of a site on the others depends on d chi rather than d: near 1 the site is pinned.
func (s *siteModel) consistencyError(x cavities, p siteParams) float64 {
	chi, b := s.engine.Diag()
	apart := make([]struct{ fields, shrinkage, most float64 }, len(s.sites))
	s.eachMoments(x, func(i int, cav loss.Cavity, m loss.Moments) {
		at := &apart[i]
		response := s.sites[i].Response(cav.C, m)
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

// sitesPerTask is the number of sites of one task: a few microseconds' work for the fastest of losses. A task
// checks for cancellation every sitesPerLook sites: the slowest losses take some milliseconds per site.
const (
	sitesPerTask = 48
	sitesPerLook = 8
)

// each runs f for every site, in parallel. After cancellation it skips the remaining sites: the results of f
// must then not be used.
func (s *siteModel) each(f func(i int)) {
	n := len(s.sites)
	linalg.Parallel((n+sitesPerTask-1)/sitesPerTask, func(task int) {
		for i := task * sitesPerTask; i < min(n, (task+1)*sitesPerTask); i++ {
			if i%sitesPerLook == 0 && s.cancelled() {
				return
			}
			f(i)
		}
	})
}

// eachMoments is each with the cavity and the moments of the site (T4).
func (s *siteModel) eachMoments(x cavities, f func(i int, cav loss.Cavity, m loss.Moments)) {
	s.each(func(i int) {
		cav := s.cavity(x, i)
		f(i, cav, s.sites[i].Moments(cav))
	})
}

// siteSlopes computes the derivatives of d, g, u of all sites at an iterate with respect to log c, the scaled
// m_c and log V_c: those that the sites know, or forward differences.
func (s *siteModel) siteSlopes(dst [][3][3]float64, x *iterate) {
	s.each(func(i int) {
		cav := s.cavity(x.cavities, i)
		by, ok := s.sites[i].Slopes(cav, x.D[i], x.G[i], x.U[i])
		if !ok {
			dst[i] = s.differences(x, i)
			return
		}
		scale := s.scale(cav.Var)
		for k, v := range by[1] {
			by[1][k] = v * scale
			by[2][k] += v * cav.Mean * cav.Var / (2 * scale * scale) // the scale varies with V_c
		}
		dst[i] = by
	})
}

// differences are the forward differences of site i.
func (s *siteModel) differences(x *iterate, i int) (by [3][3]float64) {
	at, cav := x.cavities.of(i), s.cavity(x.cavities, i)
	for k := range at {
		to, moved := at, cav
		to[k] += differenceStep
		switch k {
		case 0:
			moved.C = math.Exp(to[0])
		case 1:
			moved.Mean = s.scale(cav.Var) * to[1]
		default:
			moved = s.newCavity(to[0], to[1], to[2])
		}
		d, g, u := s.sites[i].Parameters(moved, s.sites[i].Moments(moved))
		by[k] = [3]float64{(d - x.D[i]) / differenceStep, (g - x.G[i]) / differenceStep,
			(u - x.U[i]) / differenceStep}
	}
	return by
}
