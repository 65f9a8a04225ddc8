package loss

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"pgregory.net/rapid"

	"bootbench/internal/testutil"
	"bootbench/resample"
)

// bigMoments are the moments of a margin loss in big floats.
type bigMoments struct{ mean, variance, pull, keep *big.Float }

// hingeFormula is (T8) as printed, for label +1, over Poisson(expected) counts up
// to last.
func (b bigNormal) hingeFormula(slope, expected float64, last int, cav Cavity) bigMoments {
	a, s, v := num(cav.Mean), root(num(cav.Var)), num(cav.Var)
	z1 := ratio(minus(num(1), a), s)
	cdf1, pdf1 := b.both(z1)
	upper := minus(num(1), cdf1)
	p := bigExp(num(-expected))
	first, second, pull := num(0), num(0), num(0)
	for k := 0; k <= last; k++ {
		t := ratio(num(float64(k)*slope), num(cav.C))
		z0 := minus(z1, ratio(t, s))
		cdf0, pdf0 := b.both(z0)
		at := plus(a, t)
		flat := minus(cdf1, cdf0)
		e1 := plus(plus(times(a, upper), times(s, pdf1)), plus(flat, minus(times(at, cdf0), times(s, pdf0))))
		e2 := plus(times(times(a, a), upper), times(num(2), times(times(a, s), pdf1)))
		e2 = plus(e2, times(v, plus(upper, times(z1, pdf1))))
		e2 = plus(e2, plus(flat, times(times(at, at), cdf0)))
		e2 = minus(e2, times(num(2), times(times(at, s), pdf0)))
		e2 = plus(e2, times(v, minus(cdf0, times(z0, pdf0))))
		first, second, pull = plus(first, times(p, e1)), plus(second, times(p, e2)),
			plus(pull, times(p, flat))
		p = ratio(times(p, num(expected)), num(float64(k+1)))
	}
	return bigMoments{first, minus(second, times(first, first)), pull, minus(num(1), pull)}
}

// margin is a site of acceptable input.
func margin(t testing.TB, l Loss, y []float64, law resample.CountDistribution) *piecewiseSite {
	t.Helper()
	site := testutil.Must(l.Site(y, law))(t)
	return site.(*piecewiseSite)
}

// digits asks for the relative accuracy that z in floating point allows: a
// rounding of z, 1.1e-16 z, moves log Phi(-z) by 1.1e-16 z^2 and log of the tail
// moments by little more; exp(-z^2/2) adds as much. floor is an absolute allowance for
// pull and keep.
func (b bigMoments) digits(t *testing.T, name string, got Moments, cav Cavity, floor float64) {
	t.Helper()
	z := math.Min(40, math.Abs(1-cav.Mean)/math.Sqrt(cav.Var))
	tol := 1e-15 * (20 + z*z)
	scale := math.Max(1, math.Abs(cav.Mean)+math.Sqrt(cav.Var))
	if want := plain(b.mean); !(math.Abs(got.Mean-want) <= 1e-15*scale) {
		t.Errorf("%s mean: got %.17g, want %.17g", name, got.Mean, want)
	}
	relative(t, name+" variance", got.Var, plain(b.variance), tol)
	for _, c := range []struct {
		what      string
		got, want float64
	}{{"pull", got.Shrinkage, plain(b.pull)}, {"keep", got.Response, plain(b.keep)}} {
		if !(math.Abs(c.got-c.want) <= tol*c.want+floor) {
			t.Errorf("%s %s: got %.17g, want %.17g", name, c.what, c.got, c.want)
		}
	}
}

// extremeCavities lie z standard deviations below the margin, for standard
// deviations that are exact.
func extremeCavities(c float64) []Cavity {
	var list []Cavity
	for _, z := range []float64{-40, -8, -4.01, -0.5, 0, 1, 3.99, 5, 8, 20, 40} {
		for _, s := range []float64{1, 0x1p-24, 0x1p12} {
			list = append(list, Cavity{C: c, Mean: 1 - z*s, Var: s * s})
		}
	}
	return list
}

// TestHardMarginDigits holds the moments to (T8) in big floats with a slope that any count makes a wall of,
// from q = 1 - e^(-3 nu) = 1e-12 to 1-q = 1e-65, from far inside of the margin to far outside.
func TestHardMarginDigits(t *testing.T) {
	t.Parallel()
	b := newBigNormal()
	for nu, last := range map[float64]int{1e-12: 4, 0.1: 30, 1: 60, 20: 250, 50: 600} {
		site := margin(t, HardMargin{}, []float64{1, 1, 1}, resample.Cache(resample.Poisson{Ratio: nu}))
		for _, cav := range extremeCavities(3) {
			want := b.hingeFormula(1e30, 3*nu, last, cav)
			want.digits(t, fmt.Sprintf("3 x nu=%g %+v", nu, cav), site.Moments(cav), cav, 0)
		}
	}
}

// TestHingeDigits holds the moments to (T8) in big floats. The window of counts
// leaves out 1e-17 of the mass on either side (relative to nu, for small nu),
// but never k = 0.
func TestHingeDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	t.Parallel()
	b := newBigNormal()
	for _, l := range []struct {
		nu, slope float64
		last      int
	}{{1e-12, 1, 4}, {1, 2, 40}, {1, 1e-4, 40}, {1, 1e4, 40}, {50, 0.2, 130}} {
		site := margin(t, Hinge{C: l.slope}, []float64{1}, resample.Poisson{Ratio: l.nu})
		for _, cav := range extremeCavities(2) {
			z, some := (1-cav.Mean)/math.Sqrt(cav.Var), []float64{-4.01, -0.5, 0, 5, 20}
			if slices.Contains(some, z) || (l.nu == 50 && cav.Var != 1) || cav.Var > 1 {
				continue // to save time
			}
			want := b.hingeFormula(l.slope, l.nu, l.last, cav)
			want.digits(t, fmt.Sprintf("%+v %+v", l, cav), site.Moments(cav), cav, 3e-17*math.Min(1, l.nu))
		}
	}
}

// TestNoCavityVariance: at V_c = 0 the moments are the ones of f_k(m_c) over the
// counts, and the limit of small V_c, also with the cavity mean on the margin.
func TestNoCavityVariance(t *testing.T) {
	const nu, slope, c = 0.8, 0.5, 2.0
	site := margin(t, Hinge{C: slope}, []float64{1}, resample.Poisson{Ratio: nu})
	for _, h := range []float64{-3, -0.3, 0.9, 2} {
		mean, square, keep := 0.0, 0.0, 0.0
		p := math.Exp(-nu)
		for k := 0.0; k < 60; k++ {
			f := h
			switch {
			case h >= 1:
				keep += p
			case h+k*slope/c < 1:
				f += k * slope / c
				keep += p
			default:
				f = 1
			}
			mean += p * f
			square += p * f * f
			p *= nu / (k + 1)
		}
		for _, v := range []float64{0, 1e-300, 1e-40} {
			m := site.Moments(Cavity{c, h, v})
			relative(t, "mean", m.Mean, mean, 1e-14)
			relative(t, "keep", m.Response, keep, 1e-14)
			if !(math.Abs(m.Var-(square-mean*mean)) <= 1e-14*square) {
				t.Errorf("h=%g, V_c=%g: variance %g, want %g", h, v, m.Var, square-mean*mean)
			}
		}
		law := site.Distribution(Cavity{c, h, 0})
		if d := law.Density(h + 0.1); d != 0 {
			t.Errorf("density %g without variance", d)
		}
		relative(t, "mean of the atoms", law.Mean(), mean, 1e-14)
	}
	hard := margin(t, HardMargin{}, []float64{1}, resample.Poisson{Ratio: nu})
	for _, v := range []float64{0, 1e-300} {
		m := hard.Moments(Cavity{1, 1, v})
		relative(t, "keep on the margin", m.Response, 1-(1-math.Exp(-nu))/2, 1e-15)
		relative(t, "mean on the margin", m.Mean, 1, 0)
	}
}

// TestPiecewiseMoments holds the moments of all kinds of piecewise losses, over cavities near and far, to
// quadrature of the proximal map between its kinks, 30-point panels of a standard deviation; relative to the
// row without examples.
func TestPiecewiseMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		law := resample.Poisson{Ratio: math.Pow(10, rapid.Float64Range(-3, 1).Draw(t, "log nu"))}
		slope := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log C"))
		c := rapid.SampledFrom([]struct {
			l Loss
			y []float64
		}{
			{HardMargin{}, []float64{-1}}, {Hinge{C: slope}, []float64{1}},
			{SquaredHinge{C: slope}, []float64{1}},
			{Hinge{C: slope}, []float64{1, -1}},
			{SquaredHinge{C: slope}, []float64{-1, 1}},
			{EpsInsensitive{C: slope, Epsilon: 0.2}, []float64{0.3}},
			{EpsInsensitive{C: slope, Epsilon: 1}, []float64{0.3, 1.1}},
			{Huber{C: slope, Epsilon: 0.5}, []float64{-0.7}},
			{LeastAbsolute{C: slope}, []float64{0.1, -2, 1}},
		}).Draw(t, "loss")
		site := testutil.Must(c.l.Site(c.y, law))(t)
		cav := Cavity{C: math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log c")),
			Mean: rapid.Float64Range(-4, 4).Draw(t, "mean"),
			Var:  math.Pow(10, rapid.Float64Range(-3, 2).Draw(t, "log V"))}
		if rapid.Bool().Draw(t, "far off") {
			cav.Mean = c.y[0] + math.Sqrt(cav.Var)*rapid.Float64Range(-16, 16).Draw(t, "z")
		}
		m, want := site.Moments(cav), plainMoments(site.(*piecewiseSite).mixture, cav)
		scale := 1 + math.Abs(cav.Mean) + math.Sqrt(cav.Var)
		if !(m.Shrinkage >= 0 && math.Abs(m.Mean-want.Mean) <= 1e-12*scale &&
			math.Abs(m.Var-want.Var) <= 1e-11*want.Var+1e-14*scale*scale &&
			math.Abs(m.Response-want.Response) <= 1e-12 && math.Abs(m.Shrinkage-want.Shrinkage) <= 1e-12) {
			t.Fatalf("%s %v of %v, %+v: %+v, by quadrature %+v", c.l.Name(), c.y, law, cav, m, want)
		}
	})
}

// plainMoments are moments by quadrature.
func plainMoments(x *mixture, cav Cavity) Moments {
	sd := math.Sqrt(cav.Var)
	var nodes, weights [30]float64
	quad.Legendre{}.FixedLocations(nodes[:], weights[:], 0, 1)
	shift, square, slope := 0.0, 0.0, 0.0
	for i, p := range x.p {
		row := &x.rows[i]
		cuts := []float64{-13, 13}
		for j, kink := range x.kinks {
			for _, push := range []float64{row.slopeAt(j, kink), row.Slopes[j+1]} {
				if z := (kink + push/cav.C - cav.Mean) / sd; math.Abs(z) < 13 {
					cuts = append(cuts, z)
				}
			}
		}
		slices.Sort(cuts)
		for j := 1; j < len(cuts); j++ {
			panels := math.Ceil(cuts[j] - cuts[j-1]) // of one standard deviation at most
			width := (cuts[j] - cuts[j-1]) / panels
			for k := range int(panels) {
				var sum [3]float64 // by panel: millions of terms would round
				for l, node := range nodes {
					z := cuts[j-1] + width*(float64(k)+node)
					f, keep := row.prox(cav.C, cav.Mean+sd*z)
					w := p * width * weights[l] * gauss(z)
					sum[0] += w * (f - cav.Mean)
					sum[1] += w * (f - cav.Mean) * (f - cav.Mean)
					sum[2] += w * keep
				}
				shift, square, slope = shift+sum[0], square+sum[1], slope+sum[2]
			}
		}
	}
	return Moments{Mean: cav.Mean + shift, Var: square - shift*shift, Response: slope, Shrinkage: 1 - slope}
}
