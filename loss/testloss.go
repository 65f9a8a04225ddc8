package loss

import (
	"fmt"
	"math"
	"strings"

	"bootbench/loss/internal/normal"
	"bootbench/loss/internal/quadrature"
)

// TestNames lists the test losses that TestByName knows.
func TestNames() []string { return []string{"square", "absolute", "smooth-eps", "zero-one"} }

// TestByName is the test loss of that name. smooth-eps has Eps = 0.1 and
// Beta = 0.1.
func TestByName(name string) (Test, error) {
	for _, test := range []Test{SquareTest{}, Absolute{}, SmoothEps{Eps: 0.1, Beta: 0.1}, ZeroOne{}} {
		if test.Name() == name {
			return test, nil
		}
	}
	return nil, fmt.Errorf("loss: unknown test loss %q (known: %s)", name, strings.Join(TestNames(), ", "))
}

// SquareTest is the test loss (f-y)^2.
type SquareTest struct{}

// Name is "square".
func (SquareTest) Name() string { return "square" }

// Value is (f-y)^2.
func (SquareTest) Value(f, y float64) float64 { return (f - y) * (f - y) }

// Gaussian is (mean-y)^2 + variance (M03-45).
func (SquareTest) Gaussian(mean, variance, y float64) float64 {
	return (mean-y)*(mean-y) + variance
}

// Absolute is the test loss |f-y|.
type Absolute struct{}

// Name is "absolute".
func (Absolute) Name() string { return "absolute" }

// Value is |f-y|.
func (Absolute) Value(f, y float64) float64 { return math.Abs(f - y) }

// Breakpoints is y.
func (Absolute) Breakpoints(y float64) []float64 { return []float64{y} }

// Gaussian is the mean of the folded normal law, with off = mean - y and s the
// standard deviation: off erf(off/(s sqrt 2)) + 2 s phi(off/s).
func (Absolute) Gaussian(mean, variance, y float64) float64 {
	off, s := mean-y, math.Sqrt(variance)
	if s == 0 {
		return math.Abs(off)
	}
	x := off / s
	return off*math.Erf(x/math.Sqrt2) + 2*s*normal.PDF(x)
}

// ZeroOne is the classification error for labels y = -1, +1: 1 where y f < 0, and 1/2 for
// a prediction of exactly 0, which is as often right as wrong.
type ZeroOne struct{}

// Name is "zero-one".
func (ZeroOne) Name() string { return "zero-one" }

// Value is 1 if y f < 0, 1/2 if it is 0, else 0.
func (ZeroOne) Value(f, y float64) float64 { return below(y * f) }

// below is 1 if v < 0, 1/2 if it is 0, else 0.
func below(v float64) float64 {
	switch {
	case v < 0:
		return 1
	case v == 0:
		return 0.5
	}
	return 0
}

// Breakpoints is 0.
func (ZeroOne) Breakpoints(float64) []float64 { return []float64{0} }

// Gaussian is Phi(-y mean/sqrt(variance)) (M04-17).
func (t ZeroOne) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 || y == 0 {
		return t.Value(mean, y)
	}
	return normal.CDF(-math.Copysign(1, y) * mean / math.Sqrt(variance))
}

// SmoothEps is the eps-insensitive test loss with smoothed corners (M03,
// figure 1). With delta = f-y, lo = (1-Beta) Eps and hi = (1+Beta) Eps it is 0
// for |delta| <= lo, (|delta|-lo)^2/(4 Beta Eps) up to hi, and |delta|-Eps
// beyond. Eps >= 0 and Beta in [0, 1]; at Beta = 0 it has corners.
type SmoothEps struct {
	Eps, Beta float64
}

// Name is "smooth-eps".
func (SmoothEps) Name() string { return "smooth-eps" }

// Value is the loss of f for target y.
func (t SmoothEps) Value(f, y float64) float64 {
	delta, lo, hi := math.Abs(f-y), (1-t.Beta)*t.Eps, (1+t.Beta)*t.Eps
	switch {
	case delta >= hi:
		return delta - t.Eps
	case delta <= lo:
		return 0
	}
	return (delta - lo) * (delta - lo) / (2 * (hi - lo))
}

// Breakpoints are the ends of the smoothed corners.
func (t SmoothEps) Breakpoints(y float64) []float64 {
	lo, hi := (1-t.Beta)*t.Eps, (1+t.Beta)*t.Eps
	return []float64{y - hi, y - lo, y + lo, y + hi}
}

// Gaussian uses that the loss is the mean over t in [lo, hi] of the corner
// losses max(0, delta-t) + max(0, -delta-t).
func (t SmoothEps) Gaussian(mean, variance, y float64) float64 {
	s := math.Sqrt(variance)
	if s == 0 {
		return t.Value(mean, y)
	}
	return t.side(mean-y, s) + t.side(y-mean, s)
}

// side is the mean over t in [lo, hi] of E max(0, delta-t), delta ~ N(m, s^2).
// Above the middle of [lo, hi] it goes over to E max(0, t-delta), smaller by
// m-t, so that no large terms cancel.
func (t SmoothEps) side(m, s float64) float64 {
	half := t.Beta * t.Eps
	gap := t.Eps - m // from m up to the middle of [lo, hi]
	above := math.Max(0, -gap)
	gap = math.Abs(gap)
	if 2*half/s*(1+(gap+half)/s) < 0.5 {
		return above + excessOver(gap, half, s)
	}
	return above + (excessIntegral(half-gap, s)-excessIntegral(-half-gap, s))/(2*half)
}

// excess is E max(0, x), x ~ N(m, s^2): m Phi(m/s) + s phi(m/s).
func excess(m, s float64) float64 {
	z := m / s
	if z < -normal.TailStart {
		q0, q1, _ := normal.TailRatios(-z)
		return s * normal.PDF(z) * q0 * q1
	}
	return m*normal.CDF(z) + s*normal.PDF(z)
}

// excessIntegral is the integral of excess(t, s) over t from -Inf to m:
// ((m^2 + s^2) Phi(m/s) + m s phi(m/s))/2.
func excessIntegral(m, s float64) float64 {
	z := m / s
	if z < -normal.TailStart {
		q0, q1, q2 := normal.TailRatios(-z)
		return s * s * normal.PDF(z) * q0 * q1 * q2
	}
	return 0.5 * ((m*m+s*s)*normal.CDF(z) + m*s*normal.PDF(z))
}

// excessOver is the mean of excess(-t, s) over t within half of gap, by the
// five-point Gauss-Legendre rule. For half small against s this has an error
// near rounding, where the difference of the integrals would cancel.
func excessOver(gap, half, s float64) float64 {
	return quadrature.Legendre5.Mean(func(t float64) float64 { return excess(t-gap, s) }, -half, half)
}

// Prediction and Vote stand where a test loss does, to average the prediction
// itself and its sign. They ask nothing of the target.

// Prediction has the value f. LeftOut by it is the mean of the predictor over
// the resamples that leave an example out: the out-of-bag ensemble.
type Prediction struct{}

// Name is "prediction".
func (Prediction) Name() string { return "prediction" }

// Value is f.
func (Prediction) Value(f, _ float64) float64 { return f }

// Gaussian is the mean.
func (Prediction) Gaussian(mean, _, _ float64) float64 { return mean }

// Vote is 1 where f > 0, else 0. LeftOut by it is the share of the resamples
// without an example that vote for the positive class there.
type Vote struct{}

// Name is "vote".
func (Vote) Name() string { return "vote" }

// Value is 1 if f > 0, 1/2 if f is 0, else 0: a tie is half a vote.
func (Vote) Value(f, _ float64) float64 { return below(-f) }

// Breakpoints is 0.
func (Vote) Breakpoints(float64) []float64 { return []float64{0} }

// Gaussian is Phi(mean/sqrt(variance)).
func (v Vote) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 {
		return v.Value(mean, y)
	}
	return normal.CDF(mean / math.Sqrt(variance))
}
