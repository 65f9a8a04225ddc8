package loss

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"bootbench/loss/internal/normal"
)

// TestNames lists the test losses of TestByName.
func TestNames() []string { return []string{"square", "absolute", smoothEps, "zero-one"} }

// smoothEps is the SmoothEps without parameters, whose Eps and Beta are 0.1.
const smoothEps = "smooth-eps"

// TestByName is the test loss of that name. SmoothEps takes its parameters as in smooth-eps:EPS,BETA.
func TestByName(name string) (Test, error) {
	if values, ok := strings.CutPrefix(name, smoothEps+":"); ok {
		eps, beta, _ := strings.Cut(values, ",")
		t := SmoothEps{}
		var err, errBeta error
		t.Eps, err = strconv.ParseFloat(eps, 64)
		t.Beta, errBeta = strconv.ParseFloat(beta, 64)
		inRange := t.Eps >= 0 && t.Eps <= maxParameter && t.Beta >= 0 && t.Beta <= 1
		if err != nil || errBeta != nil || !inRange {
			return nil, fmt.Errorf("loss: %s:EPSILON,BETA takes an epsilon of at least 0 and a beta from 0 "+
				"to 1, got %q", smoothEps, values)
		}
		return t, nil
	}
	for _, test := range []Test{SquareTest{}, Absolute{}, SmoothEps{Eps: 0.1, Beta: 0.1}, ZeroOne{}} {
		if test.Name() == name {
			return test, nil
		}
	}
	return nil, fmt.Errorf("loss: unknown test loss %q (known: %s)", name, strings.Join(TestNames(), ", "))
}

// Range is the range of the values of a test loss of this package; others may have any value.
func Range(t Test) (least, largest float64) {
	switch t.(type) {
	case ZeroOne, Vote:
		return 0, 1
	case SquareTest, Absolute, SmoothEps:
		return 0, math.Inf(1)
	}
	return math.Inf(-1), math.Inf(1)
}

// SquareTest is the test loss (f-y)^2.
type SquareTest struct{}

func (SquareTest) Name() string               { return "square" }
func (SquareTest) Value(f, y float64) float64 { return (f - y) * (f - y) }

// Gaussian is (mean-y)^2 + variance (M03-45).
func (SquareTest) Gaussian(mean, variance, y float64) float64 {
	return (mean-y)*(mean-y) + variance
}

// Absolute is the test loss |f-y|.
type Absolute struct{}

func (Absolute) Name() string                    { return "absolute" }
func (Absolute) Value(f, y float64) float64      { return math.Abs(f - y) }
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

// ZeroOne is the classification error for labels y = -1, +1: 1 if y f < 0, and 1/2 if f = 0.
type ZeroOne struct{}

func (ZeroOne) Name() string                  { return "zero-one" }
func (ZeroOne) Value(f, y float64) float64    { return below(y * f) }
func (ZeroOne) Breakpoints(float64) []float64 { return []float64{0} }

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

// Gaussian is Phi(-y mean/sqrt(variance)) (M04-17).
func (t ZeroOne) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 || y == 0 {
		return t.Value(mean, y)
	}
	return normal.CDF(-math.Copysign(1, y) * mean / math.Sqrt(variance))
}

// SmoothEps is the eps-insensitive test loss with smoothed corners (M03, figure 1). With delta = f-y, lo =
// (1-Beta) Eps and hi = (1+Beta) Eps it is 0 for |delta| <= lo, (|delta|-lo)^2/(4 Beta Eps) up to hi, and
// |delta|-Eps beyond. Eps >= 0 and Beta in [0, 1]; at Beta = 0 it has kinks.
type SmoothEps struct {
	Eps, Beta float64
}

// Name has the parameters, unless both are 0.1.
func (t SmoothEps) Name() string {
	if t == (SmoothEps{Eps: 0.1, Beta: 0.1}) {
		return smoothEps
	}
	return fmt.Sprintf("%s:%v,%v", smoothEps, t.Eps, t.Beta)
}

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

// Gaussian is by quadrature.
func (t SmoothEps) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 {
		return t.Value(mean, y)
	}
	whole := mappedNormal{1, mean, math.Sqrt(variance), identity{}}
	return whole.average(func(f float64) float64 { return t.Value(f, y) }, t.Breakpoints(y))
}

// Prediction and Vote are used as test losses to average the prediction and its sign. They ignore the target.

// Prediction has the value f. Its LeftOut is the mean of the predictor over the resamples that leave an
// example out: the out-of-bag ensemble.
type Prediction struct{}

func (Prediction) Name() string                        { return "prediction" }
func (Prediction) Value(f, _ float64) float64          { return f }
func (Prediction) Gaussian(mean, _, _ float64) float64 { return mean }

// Vote is 1 if f > 0, 1/2 if f = 0, else 0. Its LeftOut is the fraction of positive votes among the resamples
// without an example.
type Vote struct{}

func (Vote) Name() string                  { return "vote" }
func (Vote) Value(f, _ float64) float64    { return below(-f) }
func (Vote) Breakpoints(float64) []float64 { return []float64{0} }

// Gaussian is Phi(mean/sqrt(variance)).
func (v Vote) Gaussian(mean, variance, y float64) float64 {
	if variance == 0 {
		return v.Value(mean, y)
	}
	return normal.CDF(mean / math.Sqrt(variance))
}
