package loss

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"bootbench/resample"
)

// Square is the loss (f-y)^2/(2 Noise): the predictor is the posterior mean of
// Gaussian process regression with noise variance s2 = Noise. Its proximal map
// at a site with cavity precision c and k draws of targets y is
//
//	f_k(h) = (c h + (sum of the drawn y)/s2)/(c + k/s2)   (T3),
//
// linear in h, which gives the closed forms (T9) = (M03-51..53).
//
// At a site of several examples, the sum of k drawn targets has mean k times theirs, and variance v(k) times
// their population variance. v(k) is the law's WithinSiteVar: k for draws with replacement, k (n-k)/(n-1) for
// k different ones of n examples.
type Square struct {
	Noise float64 // s2 > 0, in squared units of the targets
}

// check refuses a noise variance that is not positive or has an infinite inverse.
func (l Square) check() error {
	if !(l.Noise > 0) || math.IsInf(l.Noise, 0) || math.IsInf(1/l.Noise, 0) {
		return fmt.Errorf("loss: noise variance must be positive and finite, got %g", l.Noise)
	}
	return nil
}

func (Square) Name() string { return "square" }

// Value is (f-y)^2/(2 Noise).
func (l Square) Value(f, y float64) float64 { return 0.5 * (f - y) * (f - y) / l.Noise }

// Prox is (c h + sum k_j y_j/s2)/(c + sum k_j/s2), of slope c/(c + sum k_j/s2).
func (l Square) Prox(c, h float64, y, k []float64) (f, slope float64) {
	weight, push := 0.0, 0.0
	for j, v := range y {
		weight += k[j] / l.Noise
		push += k[j] / l.Noise * (v - h)
	}
	return h + push/(c+weight), c / (c + weight)
}

// Site takes any finite targets. The site is a Quadratic. It keeps the tables of law.Counts: pass a
// resample.Cached if many sites share one law.
func (l Square) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := cmp.Or(l.check(), checkFinite(y)); err != nil {
		return nil, err
	}
	tables := resample.Cache(law)
	site := &squareSite{targets: slices.Clone(y), w: 1 / l.Noise, counts: tables.Draws(len(y)),
		others: tables.Draws(len(y) - 1)}
	site.mean, site.variance = stat.PopMeanVariance(y, nil)
	return site, nil
}

// squareSite is the square loss at one site.
type squareSite struct {
	targets        []float64
	mean, variance float64         // of the targets
	w              float64         // 1/s2
	counts, others *resample.Draws // of all examples, of all except one
}

var _ Quadratic = (*squareSite)(nil)

// Target is the mean and the population variance of the site's targets.
func (s *squareSite) Target() (mean, variance float64) { return s.mean, s.variance }

// Responses are the averages of (T9) over the site's count k, each as a sum of positive terms; see Quadratic.
func (s *squareSite) Responses(c float64) (a1, pull, a2, e2 float64) {
	for j, p := range s.counts.P {
		kw := s.counts.At(j) * s.w
		u := 1 / (c + kw)
		pu := p * u
		puu := pu * u
		a1 += pu
		pull += kw * pu
		a2 += puu
		e2 += s.counts.WithinSiteVar[j] * s.w * puu
	}
	return a1, pull, a2, s.w * e2
}

// Spread is the variance of 1/(c+k/s2) over k. With a1 its mean and pull = 1 - c a1, the deviations
// 1/(c+k/s2) - a1 equal (pull - a1 k/s2)/(c+k/s2), a form that does not cancel when k/s2 is small against c.
func (s *squareSite) Spread(c, a1, pull float64) float64 {
	sum := 0.0
	for j, p := range s.counts.P {
		kw := s.counts.At(j) * s.w
		deviation := (pull - a1*kw) / (c + kw)
		sum += p * deviation * deviation
	}
	return sum
}

// Moments are (T9) with yb, sy the mean and variance of the targets:
//
//	m = yb + c A1 (m_c - yb),
//	V = c^2 A2 V_c + c^2 (A2 - A1^2) (m_c - yb)^2 + sy E2.
func (s *squareSite) Moments(cav Cavity) Moments {
	c := cav.C
	a1, pull, a2, e2 := s.Responses(c)
	off := cav.Mean - s.mean
	return Moments{
		Mean:      s.mean + c*a1*off,
		Var:       c*c*a2*cav.Var + c*c*s.Spread(c, a1, pull)*off*off + s.variance*e2,
		Shrinkage: pull,
		Response:  c * a1,
	}
}

// given is the mean and variance of the predictor at the site given k draws with this mean of the targets and
// this variance of their sum. Without draws it equals the cavity's exactly: for a narrow kernel the mean may
// be tiny, and its sign matters.
func (s *squareSite) given(k float64, cav Cavity, mean, variance float64) (m, v float64) {
	if k == 0 {
		return cav.Mean, cav.Var
	}
	u := 1 / (cav.C + k*s.w)
	keep, pull := cav.C*u, s.w*u
	return mean + keep*(cav.Mean-mean), keep*keep*cav.Var + pull*pull*variance
}

// Distribution is the mixture over k of Gaussians with mean (c m_c + k yb/s2)/(c+k/s2) and variance (c^2 V_c
// + v(k) sy/s2^2)/(c+k/s2)^2 (M03-60); atoms where that variance is 0. With unequal targets at one site the
// variance over their split is exact, and its law is approximated as Gaussian.
func (s *squareSite) Distribution(cav Cavity) Distribution {
	var d Distribution
	for j, p := range s.counts.P {
		m, v := s.given(s.counts.At(j), cav, s.mean, s.counts.WithinSiteVar[j]*s.variance)
		d.add(p, m, math.Sqrt(v), identity{})
	}
	return d
}

// LeftOut averages the test loss over the counts of the site's other examples; for a site of one example,
// over the cavity (M03-45).
func (s *squareSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	y := s.targets[copy]
	mean, variance := s.without(y)
	sum := 0.0
	for j, p := range s.others.P {
		m, v := s.given(s.others.At(j), cav, mean, s.others.WithinSiteVar[j]*variance)
		sum += p * test.Gaussian(m, v, y)
	}
	return sum
}

// without is the mean and population variance of the targets without one of value y.
func (s *squareSite) without(y float64) (mean, variance float64) {
	n := float64(len(s.targets))
	if n == 1 {
		return y, 0
	}
	off := y - s.mean
	mean = s.mean - off/(n-1)
	variance = (s.variance - off*off/(n-1)) * n / (n - 1)
	return mean, math.Max(0, variance)
}
