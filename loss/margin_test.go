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
	const nu, c = 0.8, 2.0
	site := margin(t, Hinge{C: 0.5}, []float64{1}, resample.Poisson{Ratio: nu})
	for _, h := range []float64{-3, -0.3, 0.9, 2} {
		mean, square, keep := 0.0, 0.0, 0.0
		p := math.Exp(-nu)
		for k := 0.0; k < 60; k++ {
			f, slope := Hinge{C: 0.5}.Prox(c, h, []float64{1}, []float64{k})
			mean, square, keep = mean+p*f, square+p*f*f, keep+p*slope
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

// TestMomentSlopes: the derivatives of the moments of margin losses are the ones by central differences of
// the moments, whose error is 1e-10 of the third derivative and rounding over 1e-5; of pinned, free and mixed
// sites, of both labels, and of two examples.
func TestMomentSlopes(t *testing.T) {
	for _, l := range []Loss{HardMargin{}, Hinge{C: 1}, Hinge{C: 30}, SquaredHinge{C: 2}} {
		for _, y := range [][]float64{{1}, {-1}, {1, 1}} {
			s := testutil.Must(l.Site(y, resample.Poisson{Ratio: 1}))(t)
			for _, cav := range []Cavity{{C: 1, Mean: 0.3, Var: 0.5}, {C: 20, Mean: -0.4, Var: 2},
				{C: 0.3, Mean: 1.2, Var: 0.01}, {C: 5, Mean: -3, Var: 0.6}, {C: 2, Mean: 4, Var: 0.4}} {
				t.Run(fmt.Sprintf("%s/y=%v/%v", l.Name(), y, cav), func(t *testing.T) {
					by, ok := s.(Sloped).MomentSlopes(cav)
					if !ok {
						t.Fatal("no derivatives")
					}
					const h = 1e-5
					for k, move := range [3]func(x float64) Cavity{
						func(x float64) Cavity { return Cavity{cav.C * math.Exp(x), cav.Mean, cav.Var} },
						func(x float64) Cavity { return Cavity{cav.C, cav.Mean + x, cav.Var} },
						func(x float64) Cavity { return Cavity{cav.C, cav.Mean, cav.Var * math.Exp(x)} },
					} {
						a, b := s.Moments(move(-h)), s.Moments(move(h))
						for name, pair := range map[string][2]float64{
							"mean":      {by[k].Mean, b.Mean - a.Mean},
							"variance":  {by[k].Var, b.Var - a.Var},
							"response":  {by[k].Response, b.Response - a.Response},
							"shrinkage": {by[k].Shrinkage, b.Shrinkage - a.Shrinkage},
						} {
							if want := pair[1] / (2 * h); math.Abs(pair[0]-want) > 1e-7*(1+math.Abs(want)) {
								t.Errorf("coordinate %d, %s: %g, differences %g", k, name, pair[0], want)
							}
						}
					}
				})
			}
		}
	}
	free := testutil.Must(Hinge{C: 1}.Site([]float64{1, -1}, resample.Poisson{Ratio: 1}))(t)
	if _, ok := free.(Sloped).MomentSlopes(Cavity{C: 1, Mean: 0, Var: 1}); ok {
		t.Error("two labels at one input have one kink")
	}
}

// TestBalanced: both classes weigh n/2 in all, and classes of one size 1 each.
func TestBalanced(t *testing.T) {
	y := []float64{1, -1, -1, -1, 1, -1, -1}
	w, sums := Balanced(y), map[float64]float64{}
	for _, v := range y {
		sums[v] += w.ClassWeight(v)
	}
	if math.Abs(sums[1]-3.5) > 1e-15 || math.Abs(sums[-1]-3.5) > 1e-15 {
		t.Errorf("%+v: the classes weigh %v", w, sums)
	}
	if w := Balanced([]float64{1, -1, -1, 1}); w != (ClassWeights{1, 1}) {
		t.Errorf("of one size: %+v", w)
	}
	if w := Balanced([]float64{1, 1}); w != (ClassWeights{}) {
		t.Errorf("of one class: %+v", w)
	}
}

// weighted lists the losses that take class weights.
func weighted(w ClassWeights) []Proximal {
	return []Proximal{Hinge{0.7, w}, SquaredHinge{0.7, w}, Logistic{0.7, w}}
}

// TestClassWeightsByC: at an example of one class a weighted loss is the loss with C times its
// weight, to the last bit where the product is exact: value, map, map of many sites, moments. So
// weights of 1 are none.
func TestClassWeightsByC(t *testing.T) {
	h, c := []float64{-2.3, 0.1, 0.4, 3}, []float64{0.3, 1, 2, 5}
	k := []float64{1, 2, 0, 3}
	for _, w := range []ClassWeights{{}, {1, 1}, {0.5, 4}} {
		for i, l := range weighted(w) {
			for _, y := range []float64{-1, 1} {
				one := []Proximal{Hinge{C: 0.7 * w.ClassWeight(y)}, SquaredHinge{C: 0.7 * w.ClassWeight(y)},
					Logistic{C: 0.7 * w.ClassWeight(y)}}[i]
				targets, got, want := slices.Repeat([]float64{y}, len(h)), make([]float64, len(h)),
					make([]float64, len(h))
				ProxEach(l, got, c, h, targets, k)
				ProxEach(one, want, c, h, targets, k)
				for j := range h {
					f, slope := l.Prox(c[j], h[j], []float64{y}, k[j:j+1])
					wantF, wantSlope := one.Prox(c[j], h[j], []float64{y}, k[j:j+1])
					cav := Cavity{c[j], h[j], 0.5}
					if got[j] != want[j] || f != wantF || slope != wantSlope ||
						l.Value(h[j], y) != one.Value(h[j], y) ||
						momentsAt(t, l, y, cav) != momentsAt(t, one, y, cav) {
						t.Errorf("%s %+v at %v, label %v: %v, %v, %v, want %v, %v, %v",
							l.Name(), w, h[j], y, got[j], f, slope, want[j], wantF, wantSlope)
					}
				}
			}
		}
	}
}

func momentsAt(t *testing.T, l Proximal, y float64, cav Cavity) Moments {
	t.Helper()
	site := testutil.Must(l.(Loss).Site([]float64{y}, resample.Poisson{Ratio: 1}))(t)
	return site.Moments(cav)
}

// TestBadClassWeights: weights that are not positive, or whose product with C is no number, are
// refused; a loss without C for each class has none.
func TestBadClassWeights(t *testing.T) {
	for _, w := range []ClassWeights{{1, 0}, {-1, 1}, {math.NaN(), 1}, {1, math.Inf(1)}, {1e100, 1}} {
		for _, l := range weighted(w) {
			if l, err := ByName(l.Name(), Parameters{C: 1e5, ClassWeights: w}); err == nil {
				t.Errorf("%+v is allowed", l)
			}
		}
	}
	for _, name := range Names() {
		about := testutil.Must(About(name))(t)
		w := ClassWeights{2, 3}
		l, err := ByName(name, Parameters{Noise: 1, C: 1, Epsilon: 1, ClassWeights: w})
		if p, _ := ParametersOf(l); err != nil || (p.ClassWeights == w) != about.Weighted {
			t.Errorf("%s: %+v, %v, weighted %v", name, l, err, about.Weighted)
		}
	}
}

// bits is the precision of the big floats: Phi(-40) = 1e-350 is a difference of
// numbers near 1/2, and keeps 400 bits.
const bits = 1600

func num(x float64) *big.Float         { return new(big.Float).SetPrec(bits).SetFloat64(x) }
func ratio(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Quo(a, b) }
func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(a, b) }
func plus(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(bits).Add(a, b) }
func minus(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sub(a, b) }
func root(a *big.Float) *big.Float     { return new(big.Float).SetPrec(bits).Sqrt(a) }
func plain(a *big.Float) float64       { f, _ := a.Float64(); return f }

// tiny says that adding term to sum changes nothing.
func tiny(term, sum *big.Float) bool {
	return term.Sign() == 0 || (sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-bits)
}

// bigExp is exp(x) by the Taylor series at x/2^20, squared 20 times.
func bigExp(x *big.Float) *big.Float {
	small := times(x, num(1.0/(1<<20)))
	sum, term := num(1), num(1)
	for n := 1.0; !tiny(term, sum); n++ {
		term = ratio(times(term, small), num(n))
		sum = plus(sum, term)
	}
	for range 20 {
		sum = times(sum, sum)
	}
	return sum
}

// bigPi is 16 arctan(1/5) - 4 arctan(1/239).
func bigPi() *big.Float {
	arctan := func(inverse float64) *big.Float {
		power := ratio(num(1), num(inverse))
		sum := num(0)
		for n := 0.0; n < bits; n++ {
			term := ratio(power, num(2*n+1))
			if int(n)%2 == 1 {
				term.Neg(term)
			}
			sum = plus(sum, term)
			power = ratio(power, num(inverse*inverse))
		}
		return sum
	}
	return minus(times(num(16), arctan(5)), times(num(4), arctan(239)))
}

// bigNormal is Phi(z) and phi(z) with its constant; both are taken as constant
// beyond 41 standard deviations.
type bigNormal struct{ scale *big.Float }

func newBigNormal() bigNormal {
	return bigNormal{ratio(num(1), root(times(num(2), bigPi())))}
}

func (b bigNormal) both(z *big.Float) (cdf, pdf *big.Float) {
	switch x := plain(z); {
	case x > 41:
		return num(1), num(0)
	case x < -41:
		return num(0), num(0)
	}
	square := times(z, z)
	pdf = times(b.scale, bigExp(times(num(-0.5), square)))
	sum, term := plus(z, num(0)), plus(z, num(0)) // sum of z^(2n+1)/(2n+1)!!
	for n := 1.0; !tiny(term, sum); n++ {
		term = ratio(times(term, square), num(2*n+1))
		sum = plus(sum, term)
	}
	return plus(num(0.5), times(pdf, sum)), pdf
}

// TestBigNormal holds the reference itself to printed values.
func TestBigNormal(t *testing.T) {
	b := newBigNormal()
	for _, c := range []struct{ z, cdf float64 }{
		{0, 0.5}, {1, 0.8413447460685429}, {-5, 2.866515718791939e-07}, {-30, 4.906713927148187e-198},
	} {
		cdf, pdf := b.both(num(c.z))
		relative(t, "Phi", plain(cdf), c.cdf, 1e-15)
		relative(t, "phi", plain(pdf), gauss(c.z), 1e-13)
	}
}
