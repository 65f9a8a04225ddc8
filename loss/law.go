package loss

import "math"

// Distribution is a law of a real quantity: a sum of weighted Gaussians, each cut to an
// interval, of atoms, and of curved images of Gaussians. Total weight is one.
type Distribution struct {
	Pieces []TruncatedNormal
	Atoms  []Atom
	Curves []MappedNormal
}

// TruncatedNormal is Weight times the N(Mean, SD^2) density on [Lo, Hi], zero elsewhere.
// Without cut Lo = -Inf and Hi = +Inf. SD > 0. Weight counts the uncut
// Gaussian: a cut piece contributes less mass than Weight.
type TruncatedNormal struct {
	Weight, Mean, SD, Lo, Hi float64
}

// Atom is a point mass.
type Atom struct {
	At, Weight float64
}

// gaussian is an uncut piece, or an atom where variance is 0.
func (l *Distribution) gaussian(weight, mean, variance float64) {
	if variance > 0 {
		l.Pieces = append(l.Pieces, TruncatedNormal{Weight: weight, Mean: mean, SD: math.Sqrt(variance), Lo: math.Inf(-1), Hi: math.Inf(1)})
	} else {
		l.Atoms = append(l.Atoms, Atom{At: mean, Weight: weight})
	}
}

// standard is x in units of the piece's Gaussian.
func (p TruncatedNormal) standard(x float64) float64 { return (x - p.Mean) / p.SD }

// mass is the piece's mass on [a, b].
func (p TruncatedNormal) mass(a, b float64) float64 {
	return p.Weight * cutMass(p.standard(math.Max(a, p.Lo)), p.standard(math.Min(b, p.Hi)))
}

// Mean is the law's expectation.
func (l Distribution) Mean() float64 {
	mean := 0.0
	for _, p := range l.Pieces {
		m0, m1, _ := cutMoments(p.standard(p.Lo), p.standard(p.Hi))
		mean += p.Weight * (p.Mean*m0 + p.SD*m1)
	}
	for _, a := range l.Atoms {
		mean += a.Weight * a.At
	}
	for _, c := range l.Curves {
		mean += c.average(func(f float64) float64 { return f }, nil)
	}
	return mean
}

// Var is the law's variance, summed about its mean.
func (l Distribution) Var() float64 {
	mean, variance := l.Mean(), 0.0
	for _, p := range l.Pieces {
		m0, m1, m2 := cutMoments(p.standard(p.Lo), p.standard(p.Hi))
		off := p.Mean - mean
		variance += p.Weight * (off*off*m0 + 2*off*p.SD*m1 + p.SD*p.SD*m2)
	}
	for _, a := range l.Atoms {
		variance += a.Weight * (a.At - mean) * (a.At - mean)
	}
	for _, c := range l.Curves {
		variance += c.average(func(f float64) float64 { return (f - mean) * (f - mean) }, nil)
	}
	return variance
}

// CDF is P(X <= x).
func (l Distribution) CDF(x float64) float64 {
	sum := 0.0
	for _, p := range l.Pieces {
		sum += p.mass(math.Inf(-1), x)
	}
	for _, a := range l.Atoms {
		if a.At <= x {
			sum += a.Weight
		}
	}
	for _, c := range l.Curves {
		sum += c.upTo(x)
	}
	return sum
}

// Prob is P(a <= X < b), 0 where b <= a. Intervals that share ends add up, as
// the bins of a histogram must.
func (l Distribution) Prob(a, b float64) float64 {
	sum := 0.0
	for _, p := range l.Pieces {
		sum += p.mass(a, b)
	}
	for _, at := range l.Atoms {
		if a <= at.At && at.At < b {
			sum += at.Weight
		}
	}
	for _, c := range l.Curves {
		sum += c.mass(a, b)
	}
	return sum
}

// Density is the density at x of the continuous part; atoms are left out.
func (l Distribution) Density(x float64) float64 {
	sum := 0.0
	for _, p := range l.Pieces {
		if p.Lo <= x && x <= p.Hi {
			sum += p.Weight / p.SD * stdPDF(p.standard(x))
		}
	}
	for _, c := range l.Curves {
		sum += c.density(x)
	}
	return sum
}

// Quantile is the least x with CDF(x) >= q, for q in (0, 1): an atom's place
// exactly, else to 1e-15 of the law's extent, by bisection. q = 0 and q = 1
// give the ends of the support; q outside of [0, 1] and an empty law give NaN.
func (l Distribution) Quantile(q float64) float64 {
	if !(q >= 0 && q <= 1) || len(l.Pieces)+len(l.Atoms)+len(l.Curves) == 0 {
		return math.NaN()
	}
	switch q {
	case 0:
		lo, _ := l.span(math.Inf(1))
		return lo
	case 1:
		_, hi := l.span(math.Inf(1))
		return hi
	}
	for _, a := range l.Atoms {
		if top := l.CDF(a.At); top >= q && l.below(a.At) < q {
			return a.At
		}
	}
	lo, hi := l.span(40)
	for enough := 1e-15 * (hi - lo); hi-lo > enough; {
		mid := lo + 0.5*(hi-lo)
		if mid <= lo || mid >= hi {
			break
		}
		if l.CDF(mid) >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// below is P(X < x).
func (l Distribution) below(x float64) float64 { return l.Prob(math.Inf(-1), x) }

// span is the least interval that holds the atoms, and every piece and curve to
// reach standard deviations from its mean.
func (l Distribution) span(reach float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range l.Pieces {
		lo = math.Min(lo, math.Max(p.Lo, p.Mean-reach*p.SD))
		hi = math.Max(hi, math.Min(p.Hi, p.Mean+reach*p.SD))
	}
	for _, a := range l.Atoms {
		lo, hi = math.Min(lo, a.At), math.Max(hi, a.At)
	}
	for _, c := range l.Curves {
		lo, hi = math.Min(lo, c.extrapolate(c.Mean-reach*c.SD)), math.Max(hi, c.extrapolate(c.Mean+reach*c.SD))
	}
	return lo, hi
}
