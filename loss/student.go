package loss

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/resample"
)

// Student is the likelihood of a target with Student-t noise: (y-f)/Scale has
// the t law with Dof degrees of freedom. It is not log-concave: an outlier may
// leave the posterior wider than without it. Where a site's average is so,
// Moments are Clamped.
type Student struct {
	Dof   float64 // degrees of freedom, in (0, 1e100]
	Scale float64 // in (0, 1e100], in units of the targets
}

func (l Student) check() error {
	if err := checkPositive("dof", l.Dof); err != nil {
		return err
	}
	return checkPositive("scale", l.Scale)
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

func (l Student) logLik(f, y float64) float64 { return l.shape(f, y) }
func (Student) unimodal() bool                { return false }
func (l Student) maxNodeDensity() float64 {
	_, root := l.nodeDensity(0, 0)
	return root
}

// grain is the root of the weight, or where that is little of the distance from
// the poles.
func (l Student) nodeDensity(f, y float64) (integral, root float64) {
	width := l.Scale * math.Sqrt(l.Dof)
	size := math.Sqrt(math.Max(3, l.Dof+1))
	return size * math.Asinh((f-y)/width), size / math.Hypot(width, f-y)
}

// TiltedMoments are by quadrature around the highest mode, fine enough for every
// other target that has a share.
func (l Student) TiltedMoments(c, h float64, y, k []float64) (logZ, mean, variance float64) {
	total := floats.Sum(k)
	if total == 0 {
		return 0, h, 1 / c
	}
	log := logTilted(c, h, y, k, l.shape)
	mode, width := l.mode(c, h, y, k, log)
	t := tilt{log: log, center: mode, width: width, lo: h, hi: h, step: maxTiltStep}
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
	p := tabulated(l)
	p.patchWidth, p.symmetry = likelihoodPatch*l.Scale, shifted
	return newSmoothSite(y, law, p), nil
}
