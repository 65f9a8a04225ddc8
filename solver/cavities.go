package solver

import (
	"math"

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

	// Where the rounding errors of K, some M K_ii 2^-52, exceed 1/d, the matrix
	// K + 1/d need not be positive definite. d K_ii M 2^-52 stays below this.
	roundingShare = 1. / 8

	// smallestSpread is the smallest V_c, as a share of K_ii: a standard
	// deviation of 1e-10 is a jump as good as any.
	smallestSpread = 1e-20
)

// cavities are log c, m_c in units of the targets, and log V_c of all sites, end
// to end.
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
		x.mean()[i] = cav.Mean / s.unit
		x.logV()[i] = math.Log(math.Max(cav.Var, s.floor[i]))
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

// change is the largest relative change to p: of d as change has it, of g and u
// by what they contribute to the site's own mean and variance, g_i chi_i and u_i
// chi_i^2, relative to the largest such. (The largest g and u would not do: a
// site that is present for certain has a g of up to 1e10 c, beside which the
// others' do not count.)
func (p parameters) change(from parameters, chi []float64) float64 {
	var g, u, most, mostG, mostU float64
	raise := func(to *float64, v float64) {
		if !(v <= *to) {
			*to = v // also NaN
		}
	}
	for i, x := range chi {
		raise(&g, math.Abs(p.g[i]-from.g[i])*x)
		raise(&u, math.Abs(p.u[i]-from.u[i])*x*x)
		raise(&mostG, math.Max(math.Abs(p.g[i]), math.Abs(from.g[i]))*x)
		raise(&mostU, math.Max(p.u[i], from.u[i])*x*x)
	}
	most = change(p.d, from.d, chi)
	if g != 0 {
		raise(&most, g/mostG)
	}
	if u != 0 {
		raise(&most, u/mostU)
	}
	return most
}

// respondents are the sites of a solve, in the form that the general iteration
// asks them.
type respondents struct {
	sites  []site
	engine linalg.Engine
	unit   float64   // root mean square of the targets
	floor  []float64 // smallest V_c
	least  []float64 // smallest 1/d
	off    []float64 // products with G without its diagonal
}

func newRespondents(r *run) *respondents {
	n := len(r.sites)
	s := &respondents{sites: r.sites, engine: r.engine, unit: 1}
	s.floor, s.least, s.off = make([]float64, n), make([]float64, n), make([]float64, n)
	if square := dot(r.problem.Y, r.problem.Y); square > 0 {
		s.unit = math.Sqrt(square / float64(len(r.problem.Y)))
	}
	for i := range s.floor {
		k := math.Max(r.problem.Gram.At(i, i), smallestVariance)
		s.floor[i] = smallestSpread * k
		s.least[i] = k * float64(n) * 0x1p-52 / roundingShare
	}
	return s
}

// cavity is that of site i.
func (s *respondents) cavity(x cavities, i int) loss.Cavity {
	return loss.Cavity{C: math.Exp(x.logC()[i]), Mean: s.unit * x.mean()[i], Var: math.Exp(x.logV()[i])}
}

// each runs f for every site, in parallel.
func (s *respondents) each(f func(i int)) {
	n := len(s.sites)
	linalg.Parallel((n+parallelSites-1)/parallelSites, func(task int) {
		for i := task * parallelSites; i < min(n, (task+1)*parallelSites); i++ {
			f(i)
		}
	})
}

// keep is c chi of a site, kept away from zero.
func (s *respondents) keep(i int, c float64, m loss.Moments) float64 {
	least := c * s.least[i]
	return math.Max(m.Keep, math.Max(smallestKeep, least/(1+least)))
}

// capped counts the d at one of their limits.
func (s *respondents) capped(x cavities) int {
	count := 0
	for i := range s.sites {
		cav := s.cavity(x, i)
		if m := s.sites[i].Moments(cav); s.keep(i, cav.C, m) > m.Keep {
			count++
		}
	}
	return count
}

// answer is what the sites answer to the cavities (T4, T6). With keep = c chi,
//
//	d = c (1 - c chi)/(c chi),   g = m/chi - c m_c,   u = V/chi^2 - c^2 V_c.
//
// u >= 0, since by Cauchy and Schwarz V V_c >= cov(f, h)^2 = (V_c keep)^2.
func (s *respondents) answer(dst parameters, x cavities) {
	s.each(func(i int) {
		cav := s.cavity(x, i)
		m := s.sites[i].Moments(cav)
		keep := s.keep(i, cav.C, m)
		dst.d[i] = cav.C * m.Pull / keep
		dst.g[i], dst.u[i] = matched(cav, m, keep)
	})
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
	s.engine.OffMulVec(s.off, p.g)
	for i, v := range s.off {
		mean[i] = v / (b[i] * s.unit)
	}
	s.engine.OffSquareMulVec(s.off, p.u)
	for i, v := range s.off {
		logV[i] = math.Log(math.Max(v/(b[i]*b[i]), s.floor[i]))
	}
}
