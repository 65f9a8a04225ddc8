package solver

import (
	"math"
	"sync"

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
	s.tasks(func(first, last int) {
		for i := first; i < last; i++ {
			if i%sitesPerLook == 0 && s.cancelled() {
				return
			}
			f(i)
		}
	})
}

// tasks runs f for ranges of sites, in parallel.
func (s *siteModel) tasks(f func(first, last int)) {
	n := len(s.sites)
	linalg.Parallel((n+sitesPerTask-1)/sitesPerTask, func(task int) {
		f(task*sitesPerTask, min(n, (task+1)*sitesPerTask))
	})
}

// siteBatch is room for what is asked of the sites of a task.
type siteBatch struct {
	cavities, moved [sitesPerTask]loss.Cavity
	moments, after  [sitesPerTask]loss.Moments
	by              [sitesPerTask][3]loss.Moments
	known, done     [sitesPerTask]bool
}

var siteBatches = sync.Pool{New: func() any { return new(siteBatch) }}

// eachMoments is each with the cavity and the moments of the site (T4).
func (s *siteModel) eachMoments(x Cavities, f func(i int, cav loss.Cavity, m loss.Moments)) {
	s.eachMomentsIn(func(i int) loss.Cavity { return s.cavity(x, i) }, f)
}

// eachMomentsIn is eachMoments in cavities of any kind.
func (s *siteModel) eachMomentsIn(cavity func(i int) loss.Cavity, f func(i int, cav loss.Cavity,
	m loss.Moments)) {
	s.tasks(func(first, last int) {
		b := siteBatches.Get().(*siteBatch)
		defer siteBatches.Put(b)
		n := last - first
		for k := range n {
			b.cavities[k] = cavity(first + k)
		}
		clear(b.done[:n])
		if s.ask(s.bound[first:last], b.moments[:n], b.done[:n], b.cavities[:n]) {
			for k, cav := range b.cavities[:n] {
				f(first+k, cav, s.thinned(cav, b.moments[k]))
			}
		}
	})
}

// ask computes the moments of those sites that are not done, examples being there. It reports false where the
// solve was called off meanwhile.
func (s *siteModel) ask(sites []loss.Site, dst []loss.Moments, done []bool, cavities []loss.Cavity) bool {
	if s.cancelled() {
		return false
	}
	loss.MomentsTogether(dst, done, sites, cavities)
	asked := 0
	for k, site := range sites {
		if done[k] {
			continue
		}
		if asked++; asked%sitesPerLook == 0 && s.cancelled() {
			return false
		}
		dst[k] = site.Moments(cavities[k])
	}
	return true
}

// siteSlopes computes the derivatives of d, g, u of all sites at an iterate with respect to log c, m_c, log
// V_c, by forward differences: of the moments as their slopes carry them on, where the loss knows these.
func (s *siteModel) siteSlopes(dst [][3][3]float64, x *Iterate) {
	s.tasks(func(first, last int) {
		b := siteBatches.Get().(*siteBatch)
		defer siteBatches.Put(b)
		n := last - first
		b.askSlopes(s, x.Cavities, first, n)
		for k := range 3 {
			b.move(s, x.Cavities, first, n, k)
			if !s.ask(s.bound[first:last], b.after[:n], b.done[:n], b.moved[:n]) {
				return
			}
			for j, to := range b.moved[:n] {
				i := first + j
				d, g, u := s.siteParameter(i, to, s.thinned(to, b.after[j]))
				dst[i][k] = [3]float64{(d - x.D[i]) / differenceStep, (g - x.G[i]) / differenceStep,
					(u - x.U[i]) / differenceStep}
			}
		}
	})
}

// move steps along coordinate k, and carries known moments on.
func (b *siteBatch) move(s *siteModel, x Cavities, first, n, k int) {
	for j, cav := range b.cavities[:n] {
		at := x.of(first + j)
		to, moved := at, &b.moved[j]
		to[k] += differenceStep
		switch *moved = cav; k {
		case 0:
			moved.C = math.Exp(to[0])
		case 1:
			moved.Mean = s.scale(cav.Var) * to[1]
		default:
			*moved = s.newCavity(to[0], to[1], to[2])
		}
		if b.done[j] = b.known[j]; b.known[j] {
			b.after[j] = carried(b.moments[j], b.by[j], [3]float64{to[0] - at[0], moved.Mean - cav.Mean,
				to[2] - at[2]})
		}
	}
}

// askSlopes asks n sites from first on for their moments and derivatives, where these are known.
func (b *siteBatch) askSlopes(s *siteModel, x Cavities, first, n int) {
	sites := s.bound[first : first+n]
	for k := range n {
		b.cavities[k] = s.cavity(x, first+k)
	}
	clear(b.known[:n])
	loss.MomentSlopesTogether(b.moments[:n], b.by[:n], b.known[:n], sites, b.cavities[:n])
	for k, cav := range b.cavities[:n] {
		if !b.known[k] {
			b.moments[k], b.by[k], b.known[k] = s.momentSlopes(first+k, cav)
		}
	}
}
