package loss

import (
	"math"

	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// Likelihood is a conditional law p(y|f) of the target. As a Loss it stands for
// the posterior mean in place of a minimiser (M03-37..40): given k[j] examples
// of each target y[j] and the cavity field h, f has the density
//
//	N(f; h, 1/c) product of p(y_j|f)^k_j / Z
//
// and the predictor is its mean f_k(h), of slope df_k/dh = c var. Since
// chi = (1/c) E f_k' (T4) is the mean posterior variance, nothing else changes.
type Likelihood interface {
	Loss
	// LogDensity is log p(y|f).
	LogDensity(f, y float64) float64
	// TiltedMoments are log Z, the mean and the variance of the density above,
	// for c > 0 and k[j] >= 0: the mean to about 1e-9 of 1/sqrt(c), log Z and the
	// variance to 1e-9.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// tiltedError is the error of the predictor by TiltedMoments, in units of
// 1/sqrt(c).
const tiltedError = 1e-10

// posteriorMean is the predictor of a likelihood.
func posteriorMean(l Likelihood) predictor {
	return predictor{
		at: func(c, h float64, y, k []float64) (f, slope float64) {
			if c > maxCavityPrecision {
				return h, 1
			}
			_, mean, variance := l.TiltedMoments(c, h, y, k)
			return mean, c * variance
		},
		relative: 0x1p-50, prior: tiltedError, scale: 2,
	}
}

// tabulated is the predictor of a likelihood whose powers can be tabulated. The
// moments of its sites are then within about 1e-9 of the standard deviation of
// the predictor over resamples, or of 1/sqrt(c).
func tabulated(l tabulable) predictor {
	p := posteriorMean(l)
	p.likelihood = l
	p.patchWidth, p.mirrored = likelihoodPatch, true
	return p
}

// Probit is the likelihood p(y|f) = Phi(y f), for labels y = -1, +1.
type Probit struct{}

// Name is "probit".
func (Probit) Name() string { return "probit" }

// LogDensity is log Phi(y f).
func (Probit) LogDensity(f, y float64) float64 { return normal.LogCDF(y * f) }

// Value is -log Phi(y f).
func (l Probit) Value(f, y float64) float64 { return -l.LogDensity(f, y) }

// TiltedMoments has a closed form for one example, and is by quadrature for
// more.
func (l Probit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	if len(y) == 1 && k[0] == 1 {
		return probitOnce(c, h, y[0])
	}
	return tiltConcave(l, c, h, y, k)
}

// probitOnce is Z = Phi(z), z = y h/sqrt(1+1/c), and its derivatives.
func probitOnce(c, h, y float64) (logZ, mean, variance float64) {
	root := math.Sqrt(1 + 1/c)
	z := y * h / root
	r := normal.Hazard(z)
	return normal.LogCDF(z), h + y*r/(c*root), (1 - r*(z+r)/(c+1)) / c
}

// slopes are the first two derivatives of LogDensity.
func (Probit) slopes(f, y float64) (first, second float64) {
	r := normal.Hazard(y * f)
	return y * r, -r * (y*f + r)
}

func (l Probit) logLik(f, y float64) float64 { return l.LogDensity(f, y) }
func (Probit) maxNodeDensity() float64       { return 1 }

// nodeDensity falls from 1, the root of the curvature where the label is wrong, to 0,
// and does so slowly.
func (Probit) nodeDensity(f, y float64) (integral, root float64) {
	away := math.Hypot(3, f)
	return 0.5*(f-y*away) + 0.75*math.Asinh(f/3), 0.5*(1-y*f/away) + 0.75/away
}

func (Probit) check() error { return nil }

// Site takes labels -1 or +1.
func (l Probit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, tabulated(l)), nil
}

// Logit is the likelihood p(y|f) = 1/(1 + exp(-y f)), for labels y = -1, +1.
type Logit struct{}

// Name is "logit".
func (Logit) Name() string { return "logit" }

// LogDensity is -log(1 + exp(-y f)).
func (Logit) LogDensity(f, y float64) float64 { return -softplus(-y * f) }

// Value is log(1 + exp(-y f)).
func (l Logit) Value(f, y float64) float64 { return softplus(-y * f) }

// TiltedMoments are by quadrature.
func (l Logit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}

// slopes are the first two derivatives of LogDensity.
func (Logit) slopes(f, y float64) (first, second float64) {
	wrong := sigmoid(-y * f)
	return y * wrong, -wrong * (1 - wrong)
}

func (l Logit) logLik(f, y float64) float64 { return l.LogDensity(f, y) }
func (Logit) maxNodeDensity() float64       { return 0.5 }

// nodeDensity is 1/2 at 0, and stays apart from the poles at +-pi i.
func (Logit) nodeDensity(f, _ float64) (integral, root float64) {
	return 1.5 * math.Asinh(f/3), 1.5 / math.Hypot(3, f)
}

func (Logit) check() error { return nil }

// Site takes labels -1 or +1.
func (l Logit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, tabulated(l)), nil
}
