package loss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// Distribution is the distribution of a real quantity: a mixture of truncated
// Gaussians, of atoms, and of Gaussians mapped by a rising function. Total weight
// is one.
type Distribution struct {
	Pieces []TruncatedNormal
	Atoms  []Atom
	Curves []MappedNormal
}

// TruncatedNormal is Weight times the N(Mean, SD^2) density on [Lo, Hi], zero
// elsewhere. Without truncation Lo = -Inf and Hi = +Inf. SD > 0. Weight counts the
// whole Gaussian: a truncated piece has less mass than Weight.
type TruncatedNormal struct {
	Weight, Mean, SD, Lo, Hi float64
}

// Atom is a point mass.
type Atom struct {
	At, Weight float64
}

// Normal is the law N(mean, variance), an atom where the variance is 0.
func Normal(mean, variance float64) (d Distribution) {
	d.addGaussian(1, mean, variance)
	return d
}

// addGaussian adds a Gaussian, or an atom where its variance is 0.
func (d *Distribution) addGaussian(weight, mean, variance float64) {
	if variance > 0 {
		d.Pieces = append(d.Pieces, TruncatedNormal{Weight: weight, Mean: mean, SD: math.Sqrt(variance), Lo: math.Inf(-1), Hi: math.Inf(1)})
	} else {
		d.Atoms = append(d.Atoms, Atom{At: mean, Weight: weight})
	}
}

// minRelativeSD is the standard deviation, relative to its mean, below which a
// truncated piece is given as an atom: its ends would have too few digits.
const minRelativeSD = 1e-7

// addTruncated adds the piece p with that weight, whose ends are a and b in
// standard deviations of the cavity.
func (d *Distribution) addTruncated(weight, a, b float64, p TruncatedNormal) {
	mass := weight * normal.Prob(a, b)
	if !(mass > 0) {
		return
	}
	whole := math.IsInf(p.Lo, -1) && math.IsInf(p.Hi, 1)
	if p.SD > minRelativeSD*math.Abs(p.Mean) || (whole && p.SD > 0) {
		p.Weight = weight
		d.Pieces = append(d.Pieces, p)
		return
	}
	m0, m1, _ := normal.TruncatedMoments(a, b)
	d.Atoms = append(d.Atoms, Atom{At: p.Mean + p.SD*m1/m0, Weight: mass})
}

// standard is x in units of the piece's Gaussian.
func (p TruncatedNormal) standard(x float64) float64 { return (x - p.Mean) / p.SD }

// mass is the piece's mass on [a, b].
func (p TruncatedNormal) mass(a, b float64) float64 {
	return p.Weight * normal.Prob(p.standard(math.Max(a, p.Lo)), p.standard(math.Min(b, p.Hi)))
}

// Mean computes the expectation.
func (d Distribution) Mean() float64 {
	mean := 0.0
	for _, p := range d.Pieces {
		m0, m1, _ := normal.TruncatedMoments(p.standard(p.Lo), p.standard(p.Hi))
		mean += p.Weight * (p.Mean*m0 + p.SD*m1)
	}
	for _, a := range d.Atoms {
		mean += a.Weight * a.At
	}
	for _, c := range d.Curves {
		mean += c.average(func(f float64) float64 { return f }, nil)
	}
	return mean
}

// Var computes the variance, summed about the mean.
func (d Distribution) Var() float64 {
	mean, variance := d.Mean(), 0.0
	for _, p := range d.Pieces {
		m0, m1, m2 := normal.TruncatedMoments(p.standard(p.Lo), p.standard(p.Hi))
		off := p.Mean - mean
		variance += p.Weight * (off*off*m0 + 2*off*p.SD*m1 + p.SD*p.SD*m2)
	}
	for _, a := range d.Atoms {
		variance += a.Weight * (a.At - mean) * (a.At - mean)
	}
	for _, c := range d.Curves {
		variance += c.average(func(f float64) float64 { return (f - mean) * (f - mean) }, nil)
	}
	return variance
}

// CDF computes P(X <= x).
func (d Distribution) CDF(x float64) float64 {
	sum := 0.0
	for _, p := range d.Pieces {
		sum += p.mass(math.Inf(-1), x)
	}
	for _, a := range d.Atoms {
		if a.At <= x {
			sum += a.Weight
		}
	}
	for _, c := range d.Curves {
		sum += c.cdf(x)
	}
	return sum
}

// Vote computes P(X > 0) + P(X = 0)/2, the share of votes for the positive class.
func (d Distribution) Vote() float64 {
	vote := 1 - d.CDF(0)
	for _, a := range d.Atoms {
		if a.At == 0 {
			vote += a.Weight / 2
		}
	}
	return math.Max(0, vote)
}

// Prob computes P(a <= X < b), 0 where b <= a. Intervals that share ends add up,
// as the bins of a histogram must.
func (d Distribution) Prob(a, b float64) float64 {
	sum := 0.0
	for _, p := range d.Pieces {
		sum += p.mass(a, b)
	}
	for _, at := range d.Atoms {
		if a <= at.At && at.At < b {
			sum += at.Weight
		}
	}
	for _, c := range d.Curves {
		sum += c.mass(a, b)
	}
	return sum
}

// Density computes the density at x of the continuous part, without the atoms.
func (d Distribution) Density(x float64) float64 {
	sum := 0.0
	for _, p := range d.Pieces {
		if p.Lo <= x && x <= p.Hi {
			sum += p.Weight / p.SD * normal.PDF(p.standard(x))
		}
	}
	for _, c := range d.Curves {
		sum += c.density(x)
	}
	return sum
}

// Quantile computes the least x with CDF(x) >= q, for q in (0, 1): an atom's place
// exactly, else to 1e-13 of the distribution's extent, by Newton steps from the quantile
// of the Gaussian with its moments, that bisect where they leave the bracket. q = 0 and
// q = 1 give the ends of the support; q outside of [0, 1] and an empty distribution
// give NaN.
func (d Distribution) Quantile(q float64) float64 {
	if !(q >= 0 && q <= 1) || len(d.Pieces)+len(d.Atoms)+len(d.Curves) == 0 {
		return math.NaN()
	}
	switch q {
	case 0:
		lo, _ := d.span(math.Inf(1))
		return lo
	case 1:
		_, hi := d.span(math.Inf(1))
		return hi
	}
	for _, a := range d.Atoms {
		if d.CDF(a.At) >= q && d.Prob(math.Inf(-1), a.At) < q {
			return a.At
		}
	}
	lo, hi := d.span(40)
	tol := 1e-13 * (hi - lo)
	x := d.Mean() + math.Sqrt(d.Var())*mathext.NormalQuantile(q)
	if !(lo < x && x < hi) {
		x = lo + 0.5*(hi-lo)
	}
	for hi-lo > tol {
		miss := q - d.CDF(x)
		if miss > 0 {
			lo = x
		} else {
			hi = x
		}
		next := x + miss/d.Density(x)
		if math.Abs(next-x) < tol { // close the bracket
			next = x + tol
			if miss <= 0 {
				next = x - tol
			}
		}
		if !(lo < next && next < hi) {
			next = lo + 0.5*(hi-lo)
		}
		if next <= lo || next >= hi {
			break
		}
		x = next
	}
	return hi
}

// span is the least interval that holds the atoms, and every piece and curve to
// reach standard deviations from its mean.
func (d Distribution) span(reach float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range d.Pieces {
		lo = math.Min(lo, math.Max(p.Lo, p.Mean-reach*p.SD))
		hi = math.Max(hi, math.Min(p.Hi, p.Mean+reach*p.SD))
	}
	for _, a := range d.Atoms {
		lo, hi = math.Min(lo, a.At), math.Max(hi, a.At)
	}
	for _, c := range d.Curves {
		lo, hi = math.Min(lo, c.extrapolate(c.Mean-reach*c.SD)), math.Max(hi, c.extrapolate(c.Mean+reach*c.SD))
	}
	return lo, hi
}

// expect computes the expectation of a test loss for target y. Whole Gaussians and
// atoms are exact, and so is the classification error of all pieces.
func (d Distribution) expect(test Test, y float64) float64 {
	var breaks []float64
	if b, ok := test.(Breakpointer); ok {
		breaks = b.Breakpoints(y)
	}
	sum := 0.0
	for _, p := range d.Pieces {
		switch {
		case math.IsInf(p.Lo, -1) && math.IsInf(p.Hi, 1):
			sum += p.Weight * test.Gaussian(p.Mean, p.SD*p.SD, y)
		case test == ZeroOne{} && y > 0:
			sum += p.mass(math.Inf(-1), 0)
		case test == ZeroOne{}:
			sum += p.mass(0, math.Inf(1))
		default:
			sum += p.average(func(f float64) float64 { return test.Value(f, y) }, breaks)
		}
	}
	for _, a := range d.Atoms {
		sum += a.Weight * test.Value(a.At, y)
	}
	for _, c := range d.Curves {
		sum += c.average(func(f float64) float64 { return test.Value(f, y) }, breaks)
	}
	return sum
}

// panelWidth in standard deviations makes the five-point rule exact to 1e-13
// for the density times a parabola; pieceReach leaves out 1e-22 of the mass.
const (
	panelWidth = 0.5
	pieceReach = 10
)

// average is the piece's share of the expectation of g, by Gauss-Legendre panels
// that end where the piece is truncated and at the breakpoints of g.
func (p TruncatedNormal) average(g func(f float64) float64, breaks []float64) float64 {
	lo, hi := math.Max(p.standard(p.Lo), -pieceReach), math.Min(p.standard(p.Hi), pieceReach)
	if !(lo < hi) {
		return 0
	}
	cuts := []float64{lo, hi}
	for _, b := range breaks {
		if z := p.standard(b); lo < z && z < hi {
			cuts = append(cuts, z)
		}
	}
	slices.Sort(cuts)
	sum := 0.0
	for i := 1; i < len(cuts); i++ {
		sum += quadrature.Panels(func(z float64) float64 { return g(p.Mean+p.SD*z) * normal.PDF(z) }, cuts[i-1], cuts[i], panelWidth)
	}
	return p.Weight * sum
}
