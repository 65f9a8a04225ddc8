package loss

import (
	"math"

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
	// variance to 1e-9, or 1e-8 where a likelihood leaves several modes.
	TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64)
}

// tiltedError is what TiltedMoments leave as error of the predictor, in units
// of 1/sqrt(c).
const tiltedError = 1e-10

// posteriorMean is the predictor of a likelihood.
func posteriorMean(l Likelihood) evaluation {
	return evaluation{
		at: func(c, h float64, y, k []float64) (f, slope float64) {
			if c > certain {
				return h, 1
			}
			_, mean, variance := l.TiltedMoments(c, h, y, k)
			return mean, c * variance
		},
		relative: 0x1p-50,
		prior:    tiltedError,
		bend:     2,
	}
}

// tabulated is the predictor of a likelihood whose powers can be tabulated. The
// moments of its sites are then within about 1e-9 of the standard deviation of
// the predictor over resamples, or of 1/sqrt(c). Where the cavity is wider than
// several 1/sqrt(c) and the likelihood not log-concave, they are less exact: at
// ten of them within about 2e-8, measured.
func tabulated(l interface {
	Likelihood
	density
}) evaluation {
	e := posteriorMean(l)
	e.density = l
	if !l.unimodal() { // it may change its mind
		e.bend = 0.25
	}
	return e
}

// Probit is the likelihood p(y|f) = Phi(y f), for labels y = -1, +1.
type Probit struct{}

// Name is "probit".
func (Probit) Name() string { return "probit" }

// LogDensity is log Phi(y f).
func (Probit) LogDensity(f, y float64) float64 { return logStdCDF(y * f) }

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
	r := hazard(z)
	return logStdCDF(z), h + y*r/(c*root), (1 - r*(z+r)/(c+1)) / c
}

// hazard is phi(x)/Phi(x).
func hazard(x float64) float64 {
	if x > -tailStart {
		return stdPDF(x) / stdCDF(x)
	}
	q0, _, _ := tailRatios(-x)
	return 1 / q0
}

// slopes are the first two derivatives of LogDensity.
func (Probit) slopes(f, y float64) (first, second float64) {
	r := hazard(y * f)
	return y * r, -r * (y*f + r)
}

func (l Probit) logShape(f, y float64) float64 { return l.LogDensity(f, y) }
func (Probit) unimodal() bool                  { return true }
func (Probit) sharpest() float64               { return 1 }

// grain falls from 1, the root of the curvature where the label is wrong, to 0,
// and does so slowly.
func (Probit) grain(f, y float64) (integral, root float64) {
	away := math.Hypot(3, f)
	return 0.5*(f-y*away) + 0.75*math.Asinh(f/3), 0.5*(1-y*f/away) + 0.75/away
}

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

func (l Logit) logShape(f, y float64) float64 { return l.LogDensity(f, y) }
func (Logit) unimodal() bool                  { return true }
func (Logit) sharpest() float64               { return 0.5 }

// grain is 1/2 at 0, and stays apart from the poles at +-pi i.
func (Logit) grain(f, _ float64) (integral, root float64) {
	return 1.5 * math.Asinh(f/3), 1.5 / math.Hypot(3, f)
}

// Site takes labels -1 or +1.
func (l Logit) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkLabels(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, tabulated(l)), nil
}

// Student is the likelihood of a target with Student-t noise: (y-f)/Scale has
// the t law with Dof degrees of freedom. It is not log-concave: an outlier may
// leave the posterior wider than without it. Where a site's average is so,
// Moments are Clamped.
type Student struct {
	Dof   float64 // degrees of freedom, in (0, 1e100]
	Scale float64 // in (0, 1e100], in units of the targets
}

// NewStudent is the Student-t likelihood, both parameters in (0, 1e100].
func NewStudent(dof, scale float64) (Student, error) {
	l := Student{Dof: dof, Scale: scale}
	return l, l.check()
}

func (l Student) check() error {
	if err := positive("dof", l.Dof); err != nil {
		return err
	}
	return positive("scale", l.Scale)
}

// Name is "student".
func (Student) Name() string { return "student" }

// LogDensity is log p(y|f).
func (l Student) LogDensity(f, y float64) float64 { return l.height() + l.shape(f, y) }

// Value is -log p(y|f).
func (l Student) Value(f, y float64) float64 { return -l.LogDensity(f, y) }

// height is log p(y|y).
func (l Student) height() float64 {
	half := 0.5 * l.Dof
	return gammaRatio(half) - 0.5*math.Log(l.Dof*math.Pi) - math.Log(l.Scale)
}

// gammaRatio is log Gamma(x+1/2) - log Gamma(x).
func gammaRatio(x float64) float64 {
	if x > 1e6 {
		return 0.5*math.Log(x) - 1/(8*x)
	}
	a, _ := math.Lgamma(x + 0.5)
	b, _ := math.Lgamma(x)
	return a - b
}

// shape is log p(y|f)/p(y|y).
func (l Student) shape(f, y float64) float64 {
	r := (f - y) / l.Scale
	return -0.5 * (l.Dof + 1) * math.Log1p(r*r/l.Dof)
}

// weight is the precision that an example at distance f-y has in the scale
// mixture of normals.
func (l Student) weight(f, y float64) float64 {
	r := (f - y) / l.Scale
	return (l.Dof + 1) / (l.Dof + r*r) / (l.Scale * l.Scale)
}

func (l Student) logShape(f, y float64) float64 { return l.shape(f, y) }
func (Student) unimodal() bool                  { return false }
func (l Student) sharpest() float64 {
	_, root := l.grain(0, 0)
	return root
}

// grain is the root of the weight, or where that is little of the distance from
// the poles.
func (l Student) grain(f, y float64) (integral, root float64) {
	width := l.Scale * math.Sqrt(l.Dof)
	size := math.Sqrt(math.Max(3, l.Dof+1))
	return size * math.Asinh((f-y)/width), size / math.Hypot(width, f-y)
}

// TiltedMoments are by quadrature around the highest mode, fine enough for every
// other target that has a share.
func (l Student) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	log := func(f float64) float64 {
		v := -0.5 * c * (f - h) * (f - h)
		for j, at := range y {
			if k[j] > 0 {
				v += k[j] * l.shape(f, at)
			}
		}
		return v
	}
	total := 0.0
	for _, w := range k {
		total += w
	}
	if total == 0 {
		return 0, h, 1 / c
	}
	mode, width := l.mode(c, h, y, k, log)
	t := tilt{log: log, center: mode, width: width, lo: h, hi: h, step: coarsest}
	for j, at := range y {
		if k[j] > 0 {
			t.lo, t.hi = math.Min(t.lo, at), math.Max(t.hi, at)
			t.resolve(at, 1/math.Sqrt(c+k[j]*(l.Dof+1)/(l.Dof*l.Scale*l.Scale)))
		}
	}
	t.resolve(h, 1/math.Sqrt(c))
	t.lo -= tiltReach / math.Sqrt(c)
	t.hi += tiltReach / math.Sqrt(c)
	logZ, mean, variance = t.moments()
	return logZ + 0.5*math.Log(c/(2*math.Pi)) + total*l.height(), mean, variance
}

// mode climbs, by reweighted means, from the best of h and the targets.
func (l Student) mode(c, h float64, y, k []float64, log func(f float64) float64) (f, width float64) {
	f = h
	best := log(h)
	for j, at := range y {
		if v := log(at); k[j] > 0 && v > best {
			f, best = at, v
		}
	}
	precision := c
	for range 30 {
		precision = c
		push := 0.0
		for j, at := range y {
			w := k[j] * l.weight(f, at)
			precision += w
			push += w * (at - f)
		}
		step := (c*(h-f) + push) / precision
		f += step
		if step*step*precision < 1e-4 {
			break
		}
	}
	return f, 1 / math.Sqrt(precision)
}

// Site takes finite targets, at most 200 different ones.
func (l Student) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	return newSmoothSite(y, law, tabulated(l)), nil
}
