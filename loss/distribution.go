package loss

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// Distribution is the distribution of a real quantity: a mixture of truncated Gaussians, of atoms, and of
// Gaussians mapped by a rising function. Total weight is one.
type Distribution struct {
	Pieces []TruncatedNormal
	Atoms  []Atom
	curves []mappedNormal
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
		d.Pieces = append(d.Pieces, TruncatedNormal{Weight: weight, Mean: mean, SD: math.Sqrt(variance),
			Lo: math.Inf(-1), Hi: math.Inf(1)})
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

// below is the piece's share of P(X <= x), and of the density there.
func (p TruncatedNormal) below(x float64) (share, density float64) {
	if x < p.Lo {
		return 0, 0
	}
	if x > p.Hi {
		return p.mass(p.Lo, p.Hi), 0
	}
	if math.IsInf(p.Lo, -1) {
		at := normal.TailAt(p.standard(x))
		return p.Weight * at.Below(), p.Weight / p.SD * at.Density
	}
	end := normal.TailAt(p.standard(x))
	start := normal.TailAt(p.standard(p.Lo))
	return p.Weight * normal.ProbBetween(&start, &end), p.Weight / p.SD * end.Density
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
	for _, c := range d.curves {
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
	for _, c := range d.curves {
		variance += c.average(func(f float64) float64 { return (f - mean) * (f - mean) }, nil)
	}
	return variance
}

// CDF computes P(X <= x).
func (d Distribution) CDF(x float64) float64 {
	share, _ := d.below(x, d.middles())
	return share
}

// middles are the points of the curves at their means, where searches along them start.
func (d Distribution) middles() []point {
	near := make([]point, len(d.curves))
	for i, c := range d.curves {
		near[i] = c.middle()
	}
	return near
}

// below computes P(X <= x), and the density at x of the continuous part. Searches along the curves start at
// near, which becomes where they end.
func (d Distribution) below(x float64, near []point) (share, density float64) {
	for _, p := range d.Pieces {
		s, v := p.below(x)
		share += s
		density += v
	}
	for _, a := range d.Atoms {
		if a.At <= x {
			share += a.Weight
		}
	}
	for i, c := range d.curves {
		var s, v float64
		s, v, near[i] = c.below(x, near[i])
		share += s
		density += v
	}
	return share, density
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
	for _, c := range d.curves {
		sum += c.mass(a, b)
	}
	return sum
}

// Density computes the density at x of the continuous part, without the atoms.
func (d Distribution) Density(x float64) float64 {
	_, density := d.below(x, d.middles())
	return density
}

// Quantile computes the least x with CDF(x) >= q, for q in (0, 1): an atom's place
// exactly, else to 1e-13 of the distribution's extent (1e-10 where it has curves), by Newton steps for the
// normal quantile of CDF, from the quantile of a Gaussian about as wide, that bisect where they leave the
// bracket, and every other time where they are many. q outside of (0, 1) and an empty distribution give NaN.
func (d Distribution) Quantile(q float64) float64 {
	if !(q > 0 && q < 1) || len(d.Pieces)+len(d.Atoms)+len(d.curves) == 0 {
		return math.NaN()
	}
	near := d.middles()
	lo, hi := d.span()
	tol := 1e-13 * (hi - lo)
	if len(d.curves) > 0 {
		tol = 1e-10 * (hi - lo) // their own
	}
	for _, a := range d.Atoms {
		switch share, _ := d.below(a.At, near); {
		case share < q:
			lo = math.Max(lo, a.At)
		case share-d.atomAt(a.At) < q:
			return a.At
		default:
			hi = math.Min(hi, a.At)
		}
	}
	x := d.gaussianQuantile(q, near)
	if !(lo < x && x < hi) {
		x = lo + 0.5*(hi-lo)
	}
	goal := mathext.NormalQuantile(q)
	for step := 0; hi-lo > tol; step++ {
		share, density := d.below(x, near)
		if share < q {
			lo = x
		} else {
			hi = x
		}
		z := mathext.NormalQuantile(math.Min(math.Max(0, share), 1)) // nearly straight in x
		next := x + (goal-z)*normal.PDF(z)/density
		if math.Abs(next-x) < tol { // close the bracket
			next = x + tol
			if share >= q {
				next = x - tol
			}
		}
		if !(lo < next && next < hi) || step > newtonSteps && step%2 == 0 { // CDF may be level between
			next = lo + 0.5*(hi-lo)
		}
		if next <= lo || next >= hi {
			break
		}
		x = next
	}
	return hi
}

// atomAt is the weight of the atoms at x.
func (d Distribution) atomAt(x float64) float64 {
	weight := 0.0
	for _, a := range d.Atoms {
		if a.At == x {
			weight += a.Weight
		}
	}
	return weight
}

// gaussianQuantile is the quantile of a Gaussian about where the distribution is, and about as wide: pieces
// are taken as whole or at the ends that cut them, curves as tangents at their middles.
func (d Distribution) gaussianQuantile(q float64, middles []point) float64 {
	var mass, mean, square float64
	add := func(weight, at, sd float64) {
		mass += weight
		mean += weight * at
		square += weight * (at*at + sd*sd)
	}
	for _, p := range d.Pieces {
		add(p.Weight, math.Min(math.Max(p.Lo, p.Mean), p.Hi), p.SD)
	}
	for _, a := range d.Atoms {
		add(a.Weight, a.At, 0)
	}
	for i, c := range d.curves {
		add(c.Weight, middles[i].f, c.SD*middles[i].slope)
	}
	mean /= mass
	return mean + math.Sqrt(math.Max(0, square/mass-mean*mean))*mathext.NormalQuantile(q)
}

// spanReach is the reach of a distribution in standard deviations of a piece, beyond which its mass
// underflows.
const spanReach = 40

// span is the least interval that holds the atoms, the pieces to spanReach and the curves to curveReach.
func (d Distribution) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, p := range d.Pieces {
		lo = math.Min(lo, math.Max(p.Lo, p.Mean-spanReach*p.SD))
		hi = math.Max(hi, math.Min(p.Hi, p.Mean+spanReach*p.SD))
	}
	for _, a := range d.Atoms {
		lo, hi = math.Min(lo, a.At), math.Max(hi, a.At)
	}
	for _, c := range d.curves {
		lo = math.Min(lo, c.at(c.Mean-curveReach*c.SD).f)
		hi = math.Max(hi, c.at(c.Mean+curveReach*c.SD).f)
	}
	return lo, hi
}

// expect computes the expectation of a test loss for target y. Whole Gaussians and
// atoms are exact, and so is the classification error of all pieces.
func (d Distribution) expect(test Test, y float64) float64 {
	var breaks []float64
	if b, ok := test.(breakpointer); ok {
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
	for _, c := range d.curves {
		switch {
		case test == ZeroOne{} && y > 0:
			sum += c.mass(math.Inf(-1), 0)
		case test == ZeroOne{}:
			sum += c.mass(0, math.Inf(1))
		default:
			sum += c.average(func(f float64) float64 { return test.Value(f, y) }, breaks)
		}
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
		sum += quadrature.Panels(func(z float64) float64 { return g(p.Mean+p.SD*z) * normal.PDF(z) }, cuts[i-1],
			cuts[i], panelWidth)
	}
	return p.Weight * sum
}
