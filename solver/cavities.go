package solver

import (
	"math"
	"sync/atomic"

	"bootbench/linalg"
	"bootbench/loss"
)

// Limits of what the sites may answer.
const (
	// smallestKeep bounds keep = c chi from below, and so d = c pull/keep from
	// above. A site whose p(0) is smaller is present for certain; a d of c/p(0)
	// would overflow, and 1e10 c pins the predictor as well: c and the fields of
	// the others change by a share of 1e-10.
	smallestKeep = 1e-10

	// smallestInverse is the smallest 1/d, as a share of K_ii. Nothing of K is known
	// to better than 2^-53; a factor of K (Engine.UseFactor) goes along with larger d
	// for as long as they are needed to solve the equations for K as it is rounded.
	smallestInverse = 0x1p-60

	// smallestSpread is the smallest V_c, as a share of K_ii: a standard
	// deviation of 1e-10 is a jump as good as any.
	smallestSpread = 1e-20
)

// cavities are log c, m_c and log V_c of all sites, end to end. m_c is measured in
// (unit^2 + V_c)^1/2, so that where the predictor is large beside the targets,
// which a hard margin on a nearly singular K makes it, its size is a matter of
// log V_c alone.
type cavities []float64

func newCavities(sites int) cavities { return make(cavities, 3*sites) }

func (x cavities) logC() []float64 { return x[:len(x)/3] }
func (x cavities) mean() []float64 { return x[len(x)/3 : 2*len(x)/3] }
func (x cavities) logV() []float64 { return x[2*len(x)/3:] }

// towards moves x by the given part of the way to goal.
func (x cavities) towards(goal cavities, part float64) {
	for i, v := range goal {
		x[i] += part * (v - x[i])
	}
}

// set takes over cavities as a Solution has them.
func (x cavities) set(from []loss.Cavity, s *respondents) {
	for i, cav := range from {
		x.logC()[i] = math.Log(cav.C)
		variance := math.Max(cav.Var, s.floor[i])
		x.mean()[i] = cav.Mean / s.scale(variance)
		x.logV()[i] = math.Log(variance)
	}
}

// distance is the root of the mean over sites of the squared differences. It
// falls steadily where the largest relative change of d jumps: a site at the
// edge of its margin changes its d by decades.
func distance(a, b cavities) float64 {
	sum := 0.0
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return math.Sqrt(3 * sum / float64(len(a)))
}

// parameters are d, g = gamma and u = -lambda >= 0 of all sites.
type parameters struct{ d, g, u []float64 }

func newParameters(sites int) parameters {
	return parameters{make([]float64, sites), make([]float64, sites), make([]float64, sites)}
}

func (p parameters) copy(from parameters) {
	copy(p.d, from.d)
	copy(p.g, from.g)
	copy(p.u, from.u)
}

// respondents are the sites of a solve, in the form that the general iteration
// asks them.
type respondents struct {
	sites  []site
	engine linalg.Engine
	unit   float64     // root mean square of the targets
	share  float64     // of its law by which every site is present: 1, or less along a path
	floor  []float64   // smallest V_c
	least  []float64   // smallest 1/d
	off    []float64   // products with G without its diagonal
	ended  func() bool // whether the solve has been called off
}

func newRespondents(r *run) *respondents {
	n := len(r.sites)
	s := &respondents{sites: r.sites, engine: r.engine, unit: 1, share: 1, ended: func() bool { return false }}
	s.floor, s.least, s.off = make([]float64, n), make([]float64, n), make([]float64, n)
	if square := dot(r.problem.Y, r.problem.Y); square > 0 {
		s.unit = math.Sqrt(square / float64(len(r.problem.Y)))
	}
	for i := range s.floor {
		k := math.Max(r.problem.Gram.At(i, i), smallestVariance)
		s.floor[i] = smallestSpread * k
		s.least[i] = k * smallestInverse
	}
	return s
}

// scale is what the mean of a cavity is measured in.
func (s *respondents) scale(variance float64) float64 {
	return math.Sqrt(s.unit*s.unit + variance)
}

// cavity is that of site i.
func (s *respondents) cavity(x cavities, i int) loss.Cavity {
	return s.cavityOf(x.logC()[i], x.mean()[i], x.logV()[i])
}

func (s *respondents) cavityOf(logC, mean, logV float64) loss.Cavity {
	variance := math.Exp(logV)
	return loss.Cavity{C: math.Exp(logC), Mean: s.scale(variance) * mean, Var: variance}
}

// moments are those of site i where its examples are left out altogether but
// with probability share.
func (s *respondents) moments(i int, cav loss.Cavity) loss.Moments {
	m := s.sites[i].Moments(cav)
	if t := s.share; t < 1 {
		off := m.Mean - cav.Mean
		m = loss.Moments{
			Mean:      cav.Mean + t*off,
			Var:       t*m.Var + (1-t)*cav.Var + t*(1-t)*off*off,
			Response:  t*m.Response + (1 - t),
			Shrinkage: t * m.Shrinkage, Clamped: m.Clamped,
		}
	}
	return m
}

// sitesPerTask is how many sites one task asks: a few microseconds' work for the
// fastest of losses.
const sitesPerTask = 48

// sitesPerLook is after how many sites each looks whether the solve has been called off:
// the slowest of losses take some milliseconds per site.
const sitesPerLook = 8

// each runs f for every site, in parallel. Once the solve has been called off it leaves
// out what is left: the caller must then not use what f has made.
func (s *respondents) each(f func(i int)) {
	n := len(s.sites)
	linalg.Parallel((n+sitesPerTask-1)/sitesPerTask, func(task int) {
		for i := task * sitesPerTask; i < min(n, (task+1)*sitesPerTask); i++ {
			if i%sitesPerLook == 0 && s.ended() {
				return
			}
			f(i)
		}
	})
}

// keep is c chi of a site, kept away from zero.
func (s *respondents) keep(i int, c float64, m loss.Moments) float64 {
	least := c * s.least[i]
	return math.Max(m.Response, math.Max(smallestKeep, least/(1+least)))
}

// limited counts the sites whose d is held at a limit: clamped at 0, where the
// likelihood would widen the posterior and d would be negative, and capped at the
// most that it may be.
func (s *respondents) limited(x cavities) (clamped, capped int) {
	var low, high atomic.Int64
	s.each(func(i int) {
		cav := s.cavity(x, i)
		m := s.moments(i, cav)
		if m.Clamped {
			low.Add(1)
		}
		if s.keep(i, cav.C, m) > m.Response {
			high.Add(1)
		}
	})
	return int(low.Load()), int(high.Load())
}

// answer is what the sites answer to the cavities (T4, T6). With keep = c chi,
//
//	d = c (1 - c chi)/(c chi),   g = m/chi - c m_c,   u = V/chi^2 - c^2 V_c.
//
// u >= 0, since by Cauchy and Schwarz V V_c >= cov(f, h)^2 = (V_c keep)^2.
func (s *respondents) answer(dst parameters, x cavities) {
	s.each(func(i int) {
		dst.d[i], dst.g[i], dst.u[i] = s.respond(i, s.cavity(x, i))
	})
}

// respond is what site i answers to its cavity.
func (s *respondents) respond(i int, cav loss.Cavity) (d, g, u float64) {
	m := s.moments(i, cav)
	keep := s.keep(i, cav.C, m)
	g, u = matched(cav, m, keep)
	return cav.C * m.Shrinkage / keep, g, u
}

// matched are the g and u that give the site its mean and variance if chi is
// keep/c.
func matched(cav loss.Cavity, m loss.Moments, keep float64) (g, u float64) {
	return cav.C * (m.Mean/keep - cav.Mean), math.Max(0, cav.C*cav.C*(m.Var/(keep*keep)-cav.Var))
}

// read writes the cavities that follow from G and from g and u (T5, T6); see
// Solution.readCavities.
func (s *respondents) read(dst cavities, p parameters) {
	chi, b := s.engine.Diag()
	for i := range chi {
		dst.logC()[i] = math.Log(cavityPrecision(chi[i], b[i]))
	}
	s.readFields(dst, p)
}

// readFields writes m_c and V_c only.
func (s *respondents) readFields(dst cavities, p parameters) {
	_, b := s.engine.Diag()
	mean, logV := dst.mean(), dst.logV()
	s.engine.MulVecOffDiag(s.off, p.g)
	for i, v := range s.off {
		mean[i] = v / b[i]
	}
	s.engine.MulVecSquaredOffDiag(s.off, p.u)
	for i, v := range s.off {
		variance := math.Max(v/(b[i]*b[i]), s.floor[i])
		mean[i] /= s.scale(variance)
		logV[i] = math.Log(variance)
	}
}

// smallSpread is the share of the squared scale below which variances are not told
// apart when differences are measured.
const smallSpread = 1e-8

// moved is the largest difference between the cavities a and b.
func (s *respondents) moved(a, b cavities) float64 {
	worst := 0.0
	for i := range s.sites {
		variance := math.Exp(b.logV()[i])
		weight := variance / (variance + smallSpread*s.unit*s.unit)
		raise(&worst, math.Abs(a.logC()[i]-b.logC()[i]))
		raise(&worst, math.Abs(a.mean()[i]-b.mean()[i]))
		raise(&worst, math.Abs(a.logV()[i]-b.logV()[i])*weight)
	}
	return worst
}

// disagreement is the largest difference between what the sites say at the
// cavities next (T4) and what G says, standing at p, from which they were read
// (T5): of the predictor's mean, of its variance, and of d chi. It is that and not
// d itself that tells how a site acts on the others: where it is near 1 the site is
// pinned, whatever its d.
func (s *respondents) disagreement(next cavities, p parameters) float64 {
	chi, b := s.engine.Diag()
	apart := make([]struct{ fields, ofB, most float64 }, len(s.sites))
	s.each(func(i int) {
		cav, at := s.cavity(next, i), &apart[i]
		m := s.moments(i, cav)
		keep := s.keep(i, cav.C, m)
		mean := b[i]*cav.Mean + chi[i]*p.g[i]
		variance := b[i]*b[i]*cav.Var + chi[i]*chi[i]*p.u[i]
		at.fields = math.Abs(m.Mean-mean) / s.scale(cav.Var)
		raise(&at.fields, math.Abs(m.Var-variance)/(m.Var+smallSpread*s.unit*s.unit))
		pull, held := m.Shrinkage, p.d[i]*chi[i]
		if keep > m.Response {
			pull = 1 - keep
		}
		at.ofB, at.most = math.Abs(pull-held), math.Max(pull, held)
	})
	var worst, ofB, most float64
	for _, at := range apart {
		raise(&worst, at.fields)
		raise(&ofB, at.ofB)
		raise(&most, at.most)
	}
	if ofB > 0 {
		raise(&worst, ofB/most)
	}
	return worst
}

// raise raises to to v, also where that is not a number.
func raise(to *float64, v float64) {
	if !(v <= *to) {
		*to = v
	}
}
