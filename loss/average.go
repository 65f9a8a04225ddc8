package loss

import (
	"math"
	"slices"
)

// average is the expectation of a test loss for target y under the law. Uncut
// pieces and atoms are exact, and so is the classification error of all pieces.
func (l Distribution) average(test Test, y float64) float64 {
	sum := 0.0
	for _, p := range l.Pieces {
		switch {
		case math.IsInf(p.Lo, -1) && math.IsInf(p.Hi, 1):
			sum += p.Weight * test.Gaussian(p.Mean, p.SD*p.SD, y)
		case test == ZeroOne{}:
			sum += p.errors(y)
		default:
			sum += p.average(test, y)
		}
	}
	for _, a := range l.Atoms {
		sum += a.Weight * test.Value(a.At, y)
	}
	var bends []float64
	if bent, ok := test.(Breakpointer); ok {
		bends = bent.Breakpoints(y)
	}
	for _, c := range l.Curves {
		sum += c.average(func(f float64) float64 { return test.Value(f, y) }, bends)
	}
	return sum
}

// errors is the piece's mass where the sign of f is not that of y.
func (p TruncatedNormal) errors(y float64) float64 {
	if y > 0 {
		return p.mass(math.Inf(-1), 0)
	}
	return p.mass(0, math.Inf(1))
}

// panelWidth in standard deviations makes the five-point rule exact to 1e-13
// for the density times a parabola; averageReach leaves out 1e-22 of the mass.
const (
	panelWidth   = 0.5
	averageReach = 10
)

// average is the piece's share of the expectation, by Gauss-Legendre panels
// that end where the piece is cut and where the test loss bends.
func (p TruncatedNormal) average(test Test, y float64) float64 {
	lo := math.Max(p.standard(p.Lo), -averageReach)
	hi := math.Min(p.standard(p.Hi), averageReach)
	if !(lo < hi) {
		return 0
	}
	cuts := []float64{lo, hi}
	if bent, ok := test.(Breakpointer); ok {
		for _, b := range bent.Breakpoints(y) {
			if z := p.standard(b); lo < z && z < hi {
				cuts = append(cuts, z)
			}
		}
		slices.Sort(cuts)
	}
	sum := 0.0
	for i := 1; i < len(cuts); i++ {
		sum += panels(func(z float64) float64 { return test.Value(p.Mean+p.SD*z, y) * stdPDF(z) }, cuts[i-1], cuts[i])
	}
	return p.Weight * sum
}

// panels is the integral of f over [a, b] in panels no wider than panelWidth.
func panels(f func(float64) float64, a, b float64) float64 {
	if a == b {
		return 0
	}
	n := math.Ceil((b - a) / panelWidth)
	sum := 0.0
	for i := range int(n) {
		sum += fivePoint(f, a+(b-a)*float64(i)/n, a+(b-a)*float64(i+1)/n)
	}
	return sum * (b - a) / n
}
