package solver

import (
	"math"

	"bootbench/linalg"
	"bootbench/loss"
)

// sitesPerTask is the number of sites of one task: a few microseconds' work for the
// fastest of losses. A task looks every sitesPerLook sites whether the solve has been
// called off: the slowest of losses take some milliseconds per site.
const (
	sitesPerTask = 48
	sitesPerLook = 8
)

// each runs f for every site, in parallel. Once the solve has been called off it leaves
// out what is left: the caller must then not use what f has made.
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

// siteSlopes computes the derivatives of d, g, u of all sites at an iterate with respect to log c, m_c, log
// V_c, by forward differences.
func (s *siteModel) siteSlopes(dst [][3][3]float64, x *iterate) {
	s.each(func(i int) {
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
			dst[i][k] = [3]float64{(d - x.D[i]) / differenceStep, (g - x.G[i]) / differenceStep,
				(u - x.U[i]) / differenceStep}
		}
	})
}
