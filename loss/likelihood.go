package loss

import (
	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// Likelihood is a conditional law p(y|f) of the target; Value is -log p(y|f). As a Loss it stands for
// the posterior mean in place of a minimiser (M03-37..40): given k[j] examples
// of each target y[j] and the cavity field h, f has the density
//
//	N(f; h, 1/c) product of p(y_j|f)^k_j / Z
//
// and the predictor is its mean f_k(h), of slope df_k/dh = c var. Since
// chi = (1/c) E f_k' (T4) is the mean posterior variance, nothing else changes.
type Likelihood interface {
	Loss
	// TiltedMoments are log Z, the mean and the variance of the density above,
	// for c > 0 and k[j] >= 0: the mean to about 1e-9 of 1/sqrt(c), log Z and the
	// variance to 1e-9.
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

// Name is "probit".
func (Probit) Name() string { return "probit" }

// Value is -log Phi(y f).
func (Probit) Value(f, y float64) float64 { return -normal.LogCDF(y * f) }

// TiltedMoments are by quadrature.
func (l Probit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}

func (Probit) derivatives(f, y float64) (first, second float64) {
	r := normal.Hazard(y * f)
	return -y * r, r * (y*f + r)
}

func (Probit) curvature() float64 { return 1 }

func (Probit) check() error { return nil }

// Site takes labels -1 or +1.
func (l Probit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return likelihoodSite(l, y, law)
}

// Logit is the likelihood p(y|f) = 1/(1 + exp(-y f)), for labels y = -1, +1.
type Logit struct{}

// Name is "logit".
func (Logit) Name() string { return "logit" }

// Value is log(1 + exp(-y f)).
func (Logit) Value(f, y float64) float64 { return softplus(-y * f) }

// TiltedMoments are by quadrature.
func (l Logit) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	return tiltConcave(l, c, h, y, k)
}

func (Logit) derivatives(f, y float64) (first, second float64) {
	return Logistic{C: 1}.derivatives(f, y)
}

func (Logit) curvature() float64 { return 0.25 }

func (Logit) check() error { return nil }

// Site takes labels -1 or +1.
func (l Logit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	return likelihoodSite(l, y, law)
}
