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
// converges faster than any power of the step where f is analytic: halving the
// step squares the error, or better. It is accepted where the last halving
// changed nothing beyond normalError, or changed less than 1e-5 and less than
// the square of the change before, which no function with a bend does but by
// coincidence in all its terms. Failing that, panels are halved where needed.
func gaussianTerms(f func(z float64) terms) terms {
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
			if change <= normalError || (change <= 1e-5 && change <= last*last) {
				return mean
			}
		}
		before = mean
	}
	return panelTerms(f)
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

// deepestPanel bounds the halvings of a panel around a bend: what is left of it
// is 1e-11 wide.
const deepestPanel = 36

// panelTerms is the average by panels of unit width, each halved until two
// halves agree with the whole.
func panelTerms(f func(z float64) terms) terms {
	weighted := func(z float64) terms {
		t := f(z)
		weight := stdPDF(z)
		for i := range t {
			t[i] *= weight
		}
		return t
	}
	var total terms
	for a := -normalReach; a < normalReach; a++ {
		lo := float64(a)
		total.add(1, halved(weighted, lo, lo+1, gaussRule(weighted, lo, lo+1), 0))
	}
	return total.normalised()
}

// halved is the integral over [a, b], whole being one estimate of it.
func halved(f func(z float64) terms, a, b float64, whole terms, depth int) terms {
	mid := 0.5 * (a + b)
	left, right := gaussRule(f, a, mid), gaussRule(f, mid, b)
	sum := left
	sum.add(1, right)
	if depth >= deepestPanel || sum.apart(whole) <= 0.01*normalError {
		return sum
	}
	sum = halved(f, a, mid, left, depth+1)
	sum.add(1, halved(f, mid, b, right, depth+1))
	return sum
}

// gaussRule is the integral over [a, b] by the seven-point Gauss-Legendre rule.
func gaussRule(f func(z float64) terms, a, b float64) terms {
	const (
		x1, w1 = 0.4058451513773972, 0.3818300505051189
		x2, w2 = 0.7415311855993945, 0.2797053914892766
		x3, w3 = 0.9491079123427585, 0.1294849661688697
		w0     = 0.4179591836734694
	)
	mid, half := 0.5*(a+b), 0.5*(b-a)
	var t terms
	t.add(half*w0, f(mid))
	for _, n := range [3][2]float64{{x1, w1}, {x2, w2}, {x3, w3}} {
		t.add(half*n[1], f(mid-half*n[0]))
		t.add(half*n[1], f(mid+half*n[0]))
	}
	return t
}
