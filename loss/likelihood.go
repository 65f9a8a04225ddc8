package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// Likelihood is a conditional law p(y|f) of the target; Value is -log p(y|f). As a Loss it gives the
// posterior mean instead of a minimiser (M03-37..40): given k[j] examples of each target y[j] and the cavity
// field h, f has the density
//
//	N(f; h, 1/c) product of p(y_j|f)^k_j / Z
//
// and the predictor is its mean f_k(h), of slope df_k/dh = c var: chi = (1/c) E f_k' (T4) is the mean
// posterior variance.
type Likelihood interface {
	Loss
	// TiltedMoments are log Z, the mean and the variance of the density above, for c > 0 and k[j] >= 0: the
	// mean to about 1e-9 of 1/sqrt(c), log Z and the variance to 1e-9.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// posteriorMean is the predictor of a likelihood. The moments of its sites are within about 1e-9 of the
// standard deviation of the predictor over resamples, or of 1/sqrt(c).
func posteriorMean(l concave) predictor {
	return predictor{likelihood: l, prior: tiltedError, patchWidth: likelihoodPatch, mirrored: true}
}

// likelihoodSite is the site of a likelihood of labels -1 and +1.
func likelihoodSite(l concave, y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, posteriorMean(l)), nil
}

// Probit is the likelihood p(y|f) = Phi(y f), for labels y = -1, +1.
type Probit struct{}

func (Probit) Name() string               { return "probit" }
func (Probit) Value(f, y float64) float64 { return -normal.LogCDF(y * f) }
func (Probit) curvature() float64         { return 1 }
func (Probit) check() error               { return nil }

func (l Probit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}

// derivatives have the asymptotic series of the second one where its terms cancel.
func (Probit) derivatives(f, y float64) (first, second float64) {
	const far = -200
	z := y * f
	r := normal.Hazard(z)
	if second = r * (z + r); z < far {
		second = 1 - 1/(z*z) + 6/(z*z*z*z)
	}
	return -y * r, second
}

func (l Probit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return likelihoodSite(l, y, law)
}

// Logit is the likelihood p(y|f) = 1/(1 + exp(-y f)), for labels y = -1, +1.
type Logit struct{}

func (Logit) Name() string               { return "logit" }
func (Logit) Value(f, y float64) float64 { return softplus(-y * f) }
func (Logit) curvature() float64         { return 0.25 }
func (Logit) check() error               { return nil }

func (l Logit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}

func (Logit) derivatives(f, y float64) (first, second float64) {
	return Logistic{C: 1}.derivatives(f, y)
}

func (l Logit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return likelihoodSite(l, y, law)
}

// concave is a log-concave likelihood whose curvature is largest near f = 0, on a scale of 1 or more.
type concave interface {
	Likelihood
	// derivatives are the first and second derivative of Value with respect to f.
	derivatives(f, y float64) (first, second float64)
	curvature() float64 // the largest second derivative
}

// Quadrature over the posterior.
const (
	tiltReach      = 9    // in units of 1/sqrt(c)
	maxTiltStep    = 0.72 // first step
	mostTilt       = 1 << 15
	tiltNegligible = 42   // exponent below the mode
	trustedChange  = 3e-5 // the change whose square is the error
	manyBends      = 4    // how much larger the step from 0 must be than the one from the mode
)

// tiltConcave is TiltedMoments of a log-concave likelihood. The posterior has one mode and falls from it at
// least as fast as exp(-c/2 (f-mode)^2). It is integrated by the trapezoid rule in t, f = mode + width sinh
// t, or, if the mode is many times as far from 0 as the likelihood bends there, f = bend sinh t. The rule
// converges faster than any power of its step: the error is about the square of the last change.
func tiltConcave(l concave, c, h float64, y, k []float64) (logZ, mean, variance float64) {
	if counts.IsEmpty(k) {
		return 0, h, 1 / c
	}
	log := func(f float64) float64 { // of exp(-c/2 (f-h)^2) prod_j p(y_j|f)^k_j
		v := -0.5 * c * (f - h) * (f - h)
		for j, at := range y {
			if k[j] > 0 {
				v -= k[j] * l.Value(f, at)
			}
		}
		return v
	}
	mode, width := peak(l, c, h, y, k)
	top := log(mode)
	step, from, unit := maxTiltStep, mode, width
	if log(0) >= top-tiltNegligible { // resolve the curvature of the likelihood
		bend := 1 / math.Sqrt(c+floats.Sum(k))
		step = min(step, 2*bend/(bend+math.Abs(mode)))
		if far := maxTiltStep * width / (width + math.Abs(mode)); far > manyBends*step {
			step, from, unit = far, 0, bend
		}
	}
	last := math.Asinh((tiltReach/math.Sqrt(c)+math.Abs(mode-from))/unit + 1)
	var sums [3]float64 // of the density and its first moments about from, in units
	add := func(t float64) bool {
		up := math.Exp(t)
		off := 0.5 * (up - 1/up)
		v := log(from+unit*off) - top
		weight := math.Exp(v) * 0.5 * (up + 1/up)
		sums[0] += weight
		sums[1] += weight * off
		sums[2] += weight * off * off
		return v < -tiltNegligible
	}
	add(0)
	var z, m, s float64
	points, change := 0, math.Inf(1)
	for level, first := 0, step; ; level++ {
		for _, sign := range []float64{1, -1} {
			for t := first; t <= last; t += step {
				points++
				if add(sign * t) {
					break
				}
			}
		}
		if level > 0 { // the new points lie between the old ones
			step *= 0.5
		}
		z0, m0, s0, before := z, m, s, change
		z, m = sums[0]*step, sums[1]/sums[0]
		s = sums[2]/sums[0] - m*m
		if level > 0 {
			change = max(math.Abs(z/z0-1), math.Abs(m-m0)/math.Sqrt(math.Abs(s)), math.Abs(s/s0-1))
			if change <= 1e-10 || points > mostTilt ||
				(level > 1 && change <= trustedChange && change <= 2*before*before) {
				break
			}
		}
		first = 0.5 * step
	}
	return top + math.Log(z*unit) + 0.5*math.Log(c/(2*math.Pi)), from + unit*m, unit * unit * s
}

// peak is the mode of a log-concave posterior, to a hundredth of its width: the proximal map (T3).
func peak(l concave, c, h float64, y, k []float64) (mode, width float64) {
	tol := 0.01 / math.Sqrt(c+floats.Sum(k)*l.curvature())
	mode, curvature := derivatives(l.derivatives).prox(c, h, y, k, h, tol)
	return mode, 1 / math.Sqrt(c*(1+curvature))
}
