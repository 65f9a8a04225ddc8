package loss

import "math"

// averaged are the functions in a table, averages over the counts at a field h: the mean of f - h, the
// variance of f, and the mean of 1 - df/dh, in units of 1/sqrt(c), 1/c and 1.
type averaged [3]float64

func (a *averaged) add(weight float64, v averaged) {
	for q := range a {
		a[q] += weight * v[q]
	}
}

func (a *averaged) largest() float64 {
	return max(math.Abs(a[0]), math.Abs(a[1]), math.Abs(a[2]))
}

// chebyshevPoint is point i of n on [-1, 1].
func chebyshevPoint(i, n int) float64 { return math.Cos(math.Pi * (float64(i) + 0.5) / float64(n)) }

// chebyshev fills t with the polynomials T_0, T_1, ... at x.
func chebyshev(t []float64, x float64) {
	for i := range t {
		switch i {
		case 0:
			t[i] = 1
		case 1:
			t[i] = x
		default:
			t[i] = 2*x*t[i-1] - t[i-2]
		}
	}
}

// chebyshevFit computes the coefficients of the Chebyshev series through values at the Chebyshev points.
func chebyshevFit(values []averaged) []averaged {
	n := len(values)
	coefficients, basis := make([]averaged, n), make([]float64, n)
	for j, v := range values {
		chebyshev(basis, chebyshevPoint(j, n))
		for degree, b := range basis {
			coefficients[degree].add(2/float64(n)*b, v)
		}
	}
	for q := range coefficients[0] {
		coefficients[0][q] *= 0.5
	}
	return coefficients
}

// clenshaw sums Chebyshev series at x by Clenshaw's recurrence.
func clenshaw(terms []averaged, x float64) averaged {
	var a, b, c, lastA, lastB, lastC float64
	twice := 2 * x
	for k := len(terms) - 1; k > 0; k-- {
		v := &terms[k]
		a, lastA = twice*a+(v[0]-lastA), a
		b, lastB = twice*b+(v[1]-lastB), b
		c, lastC = twice*c+(v[2]-lastC), c
	}
	v := &terms[0]
	return averaged{x*a + (v[0] - lastA), x*b + (v[1] - lastB), x*c + (v[2] - lastC)}
}
