package loss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"bootbench/loss/internal/normal"
)

// Distribution is the distribution of a real quantity: a mixture of Gaussians, each mapped by a nondecreasing
// function. The total weight is one.
type Distribution struct {
	parts []mappedNormal
	atoms []float64 // positions of point masses
}

// Normal is the law N(mean, variance), an atom if the variance is 0.
func Normal(mean, variance float64) (d Distribution) {
	d.add(1, mean, math.Sqrt(variance), identity{})
	return d
}

// add adds weight times the law of f(h), h ~ N(mean, sd^2).
func (d *Distribution) add(weight, mean, sd float64, f fieldMap) {
	if sd == 0 {
		mean, f = f.at(mean).f, identity{}
		d.atoms = append(d.atoms, mean)
	}
	d.parts = append(d.parts, mappedNormal{weight, mean, sd, f})
}

// Mean and Var compute the expectation, and the variance about it.
func (d Distribution) Mean() float64 { return d.expect(Prediction{}, 0) }
func (d Distribution) Var() float64  { return d.expect(SquareTest{}, d.Mean()) }

// below computes P(X < x), P(X <= x) and the density at x of the continuous part.
func (d Distribution) below(x float64) (less, atMost, density float64) {
	for _, p := range d.parts {
		l, m, v := p.below(x)
		less, atMost, density = less+l, atMost+m, density+v
	}
	return less, atMost, density
}

// CDF computes P(X <= x).
func (d Distribution) CDF(x float64) float64 {
	_, atMost, _ := d.below(x)
	return atMost
}

// Density computes the density at x of the continuous part, without the atoms.
func (d Distribution) Density(x float64) float64 {
	_, _, density := d.below(x)
	return density
}

// Vote computes P(X > 0) + P(X = 0)/2, the fraction of votes for the positive class.
func (d Distribution) Vote() float64 {
	less, atMost, _ := d.below(0)
	return math.Max(0, 1-(less+atMost)/2)
}

// Prob computes P(a <= X < b), 0 if b <= a, as for the bins of a histogram.
func (d Distribution) Prob(a, b float64) float64 {
	sum := 0.0
	for _, p := range d.parts {
		sum += p.mass(a, b)
	}
	return sum
}

// Quantile computes the least x with CDF(x) >= q, for 0 < q < 1; otherwise, or of an empty distribution, NaN.
// It brackets x between atoms, and closes the bracket by Newton steps on the normal quantile of the CDF,
// which is nearly linear in x, or by bisection if they leave the bracket.
func (d Distribution) Quantile(q float64) float64 {
	if !(q > 0 && q < 1) || len(d.parts) == 0 {
		return math.NaN()
	}
	lo, hi, x, tol := d.bracket(q)
	for _, at := range d.atoms {
		switch less, atMost, _ := d.below(at); {
		case atMost < q:
			lo = math.Max(lo, at)
		case less < q:
			return at
		default:
			hi = math.Min(hi, at)
		}
	}
	if !(lo < x && x < hi) {
		x = lo + 0.5*(hi-lo)
	}
	goal := mathext.NormalQuantile(q)
	for step := 0; hi-lo > tol; step++ {
		_, share, density := d.below(x)
		if share < q {
			lo = x
		} else {
			hi = x
		}
		z := mathext.NormalQuantile(math.Min(math.Max(0, share), 1))
		next := x + (goal-z)*normal.PDF(z)/density
		if math.Abs(next-x) < tol { // close the bracket
			if next = x - tol; share < q {
				next = x + tol
			}
		}
		if !(lo < next && next < hi) || step > newtonSteps && step%2 == 0 { // CDF may be constant between
			next = lo + 0.5*(hi-lo)
		}
		if next <= lo || next >= hi {
			break
		}
		x = next
	}
	return hi
}

// bracket returns an interval outside of which the mass underflows, the quantile of the Gaussian with the
// moments of the maps' tangents, and the tolerance of quantiles.
func (d Distribution) bracket(q float64) (lo, hi, guess, tol float64) {
	lo, hi, tol = math.Inf(1), math.Inf(-1), 1e-13
	var mass, mean, square float64
	for _, p := range d.parts {
		reach := p.sd * exactReach
		if _, searched := p.fieldMap.(*posteriorMap); searched {
			reach, tol = p.sd*curveReach, 1e-10
		}
		lo, hi = math.Min(lo, p.at(p.mean-reach).f), math.Max(hi, p.at(p.mean+reach).f)
		at := p.at(p.mean)
		mass += p.weight
		mean += p.weight * at.f
		square += p.weight * (at.f*at.f + p.sd*at.slope*p.sd*at.slope)
	}
	mean /= mass
	guess = mean + math.Sqrt(math.Max(0, square/mass-mean*mean))*mathext.NormalQuantile(q)
	return lo, hi, guess, tol * (hi - lo)
}

// expect computes the expectation of a test loss for target y. It is exact for Gaussians and atoms, and for
// the classification error.
func (d Distribution) expect(test Test, y float64) float64 {
	switch {
	case test == ZeroOne{} && y > 0:
		less, atMost, _ := d.below(0)
		return (less + atMost) / 2
	case test == ZeroOne{} || test == Vote{}:
		return d.Vote()
	}
	var breaks []float64
	if b, ok := test.(breakpointer); ok {
		breaks = b.Breakpoints(y)
	}
	sum := 0.0
	for _, p := range d.parts {
		if (p.fieldMap == identity{}) {
			sum += p.weight * test.Gaussian(p.mean, p.sd*p.sd, y)
		} else {
			sum += p.average(func(f float64) float64 { return test.Value(f, y) }, breaks)
		}
	}
	return sum
}

// mappedNormal is weight times the distribution of f(h), h ~ N(mean, sd^2); f is the identity if sd is 0.
type mappedNormal struct {
	weight, mean, sd float64
	fieldMap         // f
}

// fieldMap is a nondecreasing function f of the field h.
type fieldMap interface {
	at(h float64) point
	inverse(x float64) preimage
	// breakpoints are the fields between which f is linear; ok is false if f is not piecewise linear.
	breakpoints() (fields []float64, ok bool)
}

// point is a point of a map with its slope.
type point struct{ h, f, slope float64 }

// preimage is the interval of fields [below, upTo] with f = x, and the slope of f there.
type preimage struct{ below, upTo, slope float64 }

// identity is f(h) = h.
type identity struct{}

func (identity) at(h float64) point             { return point{h, h, 1} }
func (identity) inverse(x float64) preimage     { return preimage{x, x, 1} }
func (identity) breakpoints() ([]float64, bool) { return nil, true }

// Limits of mapped Gaussians.
const (
	exactReach   = 40    // standard deviations beyond which the mass underflows
	curveReach   = 10    // standard deviations beyond which searches and averages end: 1e-22 of the mass
	newtonSteps  = 8     // of a search before every second step bisects
	averageError = 1e-10 // of averages, relative to the magnitude of the integrand
	panelWidth   = 1     // makes the seven-point rule exact to 1e-14 for the density times a parabola
)

// standard is h in standard deviations.
func (p mappedNormal) standard(h float64) float64 { return (h - p.mean) / p.sd }

// preimage is the inverse with its fields in standard deviations, also if sd is 0 or x is infinite.
func (p mappedNormal) preimage(x float64) preimage {
	at := preimage{x, x, 0}
	switch {
	case p.sd == 0:
		at.below, at.upTo = math.Inf(-1), math.Inf(1)
		if x < p.mean {
			at.upTo = at.below
		} else if x > p.mean {
			at.below = at.upTo
		}
	case !math.IsInf(x, 0):
		at = p.inverse(x)
		at.below, at.upTo = p.standard(at.below), p.standard(at.upTo)
	}
	return at
}

// mass is the term of P(a <= X < b).
func (p mappedNormal) mass(a, b float64) float64 {
	return p.weight * normal.Prob(p.preimage(a).below, p.preimage(b).below)
}

// below is the terms of P(X < x), P(X <= x) and the density at x.
func (p mappedNormal) below(x float64) (less, atMost, density float64) {
	at := p.preimage(x)
	field := normal.TailAt(at.upTo)
	atMost = p.weight * field.Below()
	if less = atMost; at.below < at.upTo {
		less = p.weight * normal.CDF(at.below)
	}
	if at.slope > 0 {
		density = p.weight * field.Density / (p.sd * at.slope)
	}
	return less, atMost, density
}

// average is the term of the expectation of g, by quadrature between the breakpoints of f and the points
// that f maps to breakpoints of g: by fixed panels if f is piecewise linear, else by adaptive ones.
func (p mappedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	cuts := []float64{-curveReach, curveReach}
	cut := func(z float64) {
		if math.Abs(z) < curveReach {
			cuts = append(cuts, z)
		}
	}
	fields, linear := p.breakpoints()
	for _, h := range fields {
		cut(p.standard(h))
	}
	for _, x := range breaks {
		at := p.preimage(x)
		cut(at.below)
		cut(at.upTo)
	}
	value := func(z float64) float64 { return g(p.at(p.mean + p.sd*z).f) }
	if linear {
		slices.Sort(cuts)
		sum := 0.0
		for i := 1; i < len(cuts); i++ {
			lo, hi := cuts[i-1], cuts[i]
			mid := p.at(p.mean + p.sd*(lo+hi)/2)
			if mid.slope == 0 {
				sum += g(mid.f) * normal.Prob(lo, hi)
				continue
			}
			sum += normal.Panels(func(z float64) float64 {
				return g(mid.f+mid.slope*(p.mean+p.sd*z-mid.h)) * normal.PDF(z)
			}, lo, hi, panelWidth)
		}
		return p.weight * sum
	}
	for z := 1 - curveReach; z < curveReach; z++ {
		cuts = append(cuts, float64(z))
	}
	slices.Sort(cuts)
	size := 0.0
	for _, z := range cuts {
		size = max(size, math.Abs(value(z))*normal.PDF(z))
	}
	terms := func(z float64) normal.Terms { return normal.Terms{1: value(z)} }
	return p.weight * normal.Integrate(terms, cuts, averageError*size)[1]
}
