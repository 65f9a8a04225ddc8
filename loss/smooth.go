package loss

import (
	"math"
	"slices"

	"bootbench/resample"
)

// predictor is the predictor f at a site as a function of the cavity field h,
// given k[j] examples of each target y[j], and its slope df/dh.
type predictor func(c, h float64, y, k []float64) (f, slope float64)

// FromProximal makes a training loss of any convex loss known by its proximal
// map. Its moments are integrals over the Gaussian cavity by quadrature, with an
// error that is estimated and kept below 1e-9 of the cavity's standard deviation
// (mean), of its variance (variance) and of 1 (keep, pull), for each combination
// of counts; a map that bends takes more evaluations than a smooth one, about
// a thousand for every bend. The law of the predictor carries the map as a
// cubic spline, to 1e-7 of the standard deviation.
//
// Pull is 1 - slope averaged: where the loss hardly acts, it has an absolute
// error of 1e-16, so that its relative digits are lost below that.
//
// The loss takes any finite targets, at most 200 different ones at one input.
func FromProximal(p Proximal) Loss { return fromProximal{p} }

type fromProximal struct{ Proximal }

// Site takes finite targets.
func (l fromProximal) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, evaluated(l.Prox)), nil
}

// evaluation is a predictor with its error: relative to f and h, and in units of
// the prior's standard deviation 1/sqrt(c).
type evaluation struct {
	at              predictor
	relative, prior float64
	// bend is the least width in h, in units of 1/sqrt(c), on which an analytic
	// predictor bends, 0 for others.
	bend    float64
	density density // nil but for likelihoods that can be tabulated
}

// evaluated is a predictor exact to rounding.
func evaluated(at predictor) evaluation { return evaluation{at: at, relative: 0x1p-51} }

// noise is the error of the value f at the field h.
func (e evaluation) noise(c, h, f float64) float64 {
	return e.relative*(math.Abs(f)+math.Abs(h)) + e.prior/math.Sqrt(c)
}

// smoothSite is a site whose predictor is known by evaluation.
type smoothSite struct {
	at      evaluation
	targets []float64
	law     resample.CountDistribution
	all     smoothMixture
}

// smoothMixture is the predictor over the combinations of counts.
type smoothMixture struct {
	evaluation
	targets []float64 // the different ones
	*combinations
}

func newSmoothSite(y []float64, law resample.CountDistribution, at evaluation) *smoothSite {
	return &smoothSite{at, slices.Clone(y), law, newSmoothMixture(at, groups(y), law)}
}

func newSmoothMixture(at evaluation, list []group, law resample.CountDistribution) smoothMixture {
	x := smoothMixture{at, targetsOf(list), combine(list, law).lighten(math.Max(leastProbability, at.prior))}
	x.lead()
	return x
}

// Moments integrates over the cavity for every combination of the counts.
func (s *smoothSite) Moments(cav Cavity) Moments { return s.all.moments(cav) }

// Distribution is a curve for every combination of the counts.
func (s *smoothSite) Distribution(cav Cavity) Distribution { return s.all.of(cav) }

// LeftOut averages the test loss over the law that the site's other examples
// leave; a site of one example leaves the cavity itself (M03-45).
func (s *smoothSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	y := s.targets[copy]
	rest := without(groups(s.targets), y)
	return newSmoothMixture(s.at, rest, s.law).of(cav).average(test, y)
}

// moments are the moments (T4).
// certain is the cavity precision from which on no example moves the predictor: K_ii
// is 0, or as good as.
const certain = 1e40

func (x smoothMixture) moments(cav Cavity) Moments {
	integrate := x.separate
	if x.density != nil && cav.C <= certain && cav.Var > 0 {
		integrate = x.together
	}
	m := integrate(cav)
	if m.Shrinkage < 0 {
		m.Clamped = m.Shrinkage < -1e-8 // else it is the error of the quadrature
		m.Shrinkage, m.Response = 0, 1
	}
	return m
}

// separate integrates for every combination of counts on its own.
func (x smoothMixture) separate(cav Cavity) Moments {
	var b blend
	for i, p := range x.p {
		b.add(p, x.respond(cav, x.row(i)))
	}
	return b.moments()
}

// together integrates for all combinations at once, in units of about the
// standard deviation of the predictor.
func (x smoothMixture) together(cav Cavity) Moments {
	s := math.Sqrt(cav.Var)
	t := x.tabulate(cav.C, cav.Mean, normalReach*s, x.p)
	f, slope := make([]float64, len(x.p)), make([]float64, len(x.p))
	t.all(cav.Mean, f, slope)
	base, unit := 0.0, s
	for i, p := range x.p {
		base += p * f[i]
	}
	for i, p := range x.p {
		unit = math.Hypot(unit, math.Sqrt(p)*(f[i]-base))
	}
	sample := func(z float64) terms {
		t.all(cav.Mean+s*z, f, slope)
		mean := terms{0: 1}
		for i, p := range x.p {
			off := (f[i] - base) / unit
			mean.add(p, terms{0, off, off * off, slope[i], 1 - slope[i]})
		}
		return mean
	}
	m := gaussianTerms(sample, s/unit, x.bend/(s*math.Sqrt(cav.C)), x.prior+x.noise(cav.C, cav.Mean, base)/unit)
	return Moments{Mean: base + unit*m[1], Var: unit * unit * math.Max(0, m[2]-m[1]*m[1]), Response: m[3], Shrinkage: m[4]}
}

// respond is the predictor for one combination of counts.
func (x smoothMixture) respond(cav Cavity, counts []float64) response {
	if none(counts) {
		return response{base: cav.Mean, variance: cav.Var, keep: 1}
	}
	f, slope := x.at(cav.C, cav.Mean, x.targets, counts)
	if cav.Var == 0 {
		return response{base: f, keep: slope, pull: 1 - slope}
	}
	s := math.Sqrt(cav.Var)
	sample := func(z float64) terms {
		g, slope := x.at(cav.C, cav.Mean+s*z, x.targets, counts)
		off := (g - f) / s
		return terms{1, off, off * off, slope, 1 - slope}
	}
	t := gaussianTerms(sample, 1, x.bend/(s*math.Sqrt(cav.C)), x.prior+x.noise(cav.C, cav.Mean, f)/s)
	return response{base: f, shift: s * t[1], variance: cav.Var * math.Max(0, t[2]-t[1]*t[1]), keep: t[3], pull: t[4]}
}

// of is the law of the predictor.
func (x smoothMixture) of(cav Cavity) Distribution {
	var law Distribution
	s := math.Sqrt(cav.Var)
	at := func(i int, h float64) (f, slope float64) { return x.at(cav.C, h, x.targets, x.row(i)) }
	if x.density != nil && cav.C <= certain && s > 0 {
		ones := slices.Repeat([]float64{1}, len(x.p))
		at = x.tabulate(cav.C, cav.Mean, curveReach*s, ones).alone
	}
	for i, p := range x.p {
		counts := x.row(i)
		switch {
		case none(counts):
			law.gaussian(p, cav.Mean, cav.Var)
		case s == 0:
			f, _ := x.at(cav.C, cav.Mean, x.targets, counts)
			law.Atoms = append(law.Atoms, Atom{At: f, Weight: p})
		default:
			f, _ := at(i, cav.Mean)
			noise := x.noise(cav.C, math.Abs(cav.Mean)+curveReach*s, f)
			law.Curves = append(law.Curves, newCurve(p, cav.Mean, s, noise, func(h float64) (f, slope float64) { return at(i, h) }))
		}
	}
	return law
}
