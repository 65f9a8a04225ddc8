package loss

import "math"

// terms are what a site averages over the standard normal z: one, the predictor
// and its square, its slope and one less its slope.
type terms [5]float64

func (t *terms) add(weight float64, u terms) {
	for i, v := range u {
		t[i] += weight * v
	}
}

// apart is the largest difference of t and u.
func (t terms) apart(u terms) float64 {
	d := 0.0
	for i := range t {
		d = math.Max(d, math.Abs(t[i]-u[i]))
	}
	return d
}

// Quadrature over the standard normal.
const (
	normalReach   = 8    // leaves out 1e-15 of the mass
	normalError   = 1e-9 // of each term
	finestHalving = 4    // steps of 2, 1, ..., 1/8
)

// gaussianTerms is the average of f over the standard normal. The trapezoid rule
// converges faster than any power of the step where f is analytic: its error is
// about C x at one step, C x^2 at half of it, or better, so that two changes tell
// C and x and the error that is left. It is accepted where the last halving
// changed no more than a tenth of normalError, or where no more is left, by steps
// below bend: f is analytic and bends within that at least, 0 if it is not known
// to be. Failing that, panels are halved where needed. The noise is the error of
// the predictor in its terms, and rate the derivative of its term over that of the
// slope.
func gaussianTerms(f func(z float64) terms, rate, bend, noise float64) terms {
	var sum, before terms
	change := math.Inf(1)
	for level := range finestHalving + 1 {
		step := math.Ldexp(2, -level)
		first, stride := 0.0, step
		if level > 0 {
			first, stride = step, 2*step // the points between those at hand
		} else {
			sum.add(stdPDF(0), f(0))
			first = step
		}
		for z := first; z <= normalReach; z += stride {
			weight := stdPDF(z)
			sum.add(weight, f(z))
			sum.add(weight, f(-z))
		}
		mean := sum.normalised()
		if level > 0 {
			last := change
			change = mean.apart(before)
			known := level > 1 && step <= bend && change <= 1e-4
			if change <= 0.1*normalError+10*noise || known && change*(change/last)*(change/last) <= 0.1*normalError {
				return mean
			}
		}
		before = mean
	}
	return panelTerms(f, rate, noise)
}

// normalised scales the terms so that the average of one is one.
func (t terms) normalised() terms {
	for i := range t {
		if i > 0 {
			t[i] /= t[0]
		}
	}
	t[0] = 1
	return t
}

// Limits on the halving of panels: around a bend, what is left of a panel is
// 1e-11 wide, and all halvings together are bounded.
const (
	deepestPanel = 36
	mostHalvings = 1500
)

// panelled integrates terms over panels.
type panelled struct {
	f         func(z float64) terms
	rate      float64
	allowance float64
	halvings  int
}

// panelTerms is the average by panels of unit width, each halved until two
// halves agree with the whole, and the slope with the rise of the predictor:
// else a bend between the ends and their nearest points would go unseen. The
// allowance rises with the rounding of the predictor, which noise is in units
// of its standard deviation.
func panelTerms(f func(z float64) terms, rate, noise float64) terms {
	p := panelled{f: f, rate: rate, allowance: 0.002*normalError + 30*noise}
	var total terms
	lo := f(-normalReach)
	for a := -normalReach; a < normalReach; a++ {
		hi := f(float64(a + 1))
		total.add(1, p.halved(p.panel(float64(a), float64(a+1), lo, hi), 0))
		lo = hi
	}
	return total.normalised()
}

// panel is [a, b], the terms at its ends and their integrals with the density,
// and by how much the integral of the slope misses the rise of the predictor.
type panel struct {
	a, b   float64
	lo, hi terms
	sum    terms
	miss   float64
}

func (s *panelled) panel(a, b float64, lo, hi terms) panel {
	p := panel{a: a, b: b, lo: lo, hi: hi}
	rise := 0.0
	sevenPoint(a, b, func(weight, z float64) {
		t := s.f(z)
		p.sum.add(weight*stdPDF(z), t)
		rise += weight * t[3]
	})
	p.miss = math.Abs(hi[1]-lo[1]-s.rate*rise) * math.Max(stdPDF(a), stdPDF(b))
	return p
}

// halved is the integral over a panel.
func (s *panelled) halved(p panel, depth int) terms {
	mid := 0.5 * (p.a + p.b)
	at := s.f(mid)
	left, right := s.panel(p.a, mid, p.lo, at), s.panel(mid, p.b, at, p.hi)
	sum := left.sum
	sum.add(1, right.sum)
	s.halvings++
	agree := sum.apart(p.sum) <= s.allowance && left.miss+right.miss <= s.allowance
	if agree || depth >= deepestPanel || s.halvings >= mostHalvings {
		return sum
	}
	sum = s.halved(left, depth+1)
	sum.add(1, s.halved(right, depth+1))
	return sum
}

// sevenPoint visits the points of the Gauss-Legendre rule on [a, b].
func sevenPoint(a, b float64, visit func(weight, z float64)) {
	const (
		x1, w1 = 0.4058451513773972, 0.3818300505051189
		x2, w2 = 0.7415311855993945, 0.2797053914892766
		x3, w3 = 0.9491079123427585, 0.1294849661688697
		w0     = 0.4179591836734694
	)
	mid, half := 0.5*(a+b), 0.5*(b-a)
	visit(half*w0, mid)
	for _, n := range [3][2]float64{{x1, w1}, {x2, w2}, {x3, w3}} {
		visit(half*n[1], mid-half*n[0])
		visit(half*n[1], mid+half*n[0])
	}
}
