package loss

import (
	"math"
	"slices"

	"bootbench/resample"
)

// Proximal is a convex loss known by its value and by its proximal map: all that
// the theory (T4) and a trainer (T1) ask of a loss.
type Proximal interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y); +Inf where f is barred.
	Value(f, y float64) float64
	// Prox is the proximal map of several examples at one input (T3),
	//
	//	f = argmin c/2 (f-h)^2 + sum_j k_j l(f, y_j),
	//
	// and its slope df/dh in [0, 1]. c > 0; weights k_j >= 0, one for each of the
	// targets y. Without weight f = h and the slope is 1.
	Prox(c, h float64, y, k []float64) (f, slope float64)
}

// Differentiable is what a Proximal may know besides, which makes its moments
// faster and surer: no bend of the map then has to be searched for.
type Differentiable interface {
	Proximal
	// Derivatives are l' and l'' by f, off the breakpoints.
	Derivatives(f, y float64) (first, second float64)
	// Breakpoints are the f where l' or l'' jumps for target y, none for a smooth
	// loss.
	Breakpoints(y float64) []float64
}

// Batch is what a Proximal may have besides for many sites at once, as batches of exact
// resamples ask it.
type Batch interface {
	Proximal
	// ProxEach is ProxEach for this loss: the contract stands there.
	ProxEach(dst, c, h, y, k []float64)
}

// FromProximal makes a training loss of any convex loss known by its proximal
// map, which may be Differentiable. Where its derivatives are then straight between at
// most two breakpoints, as samplesPerSegment places of each segment tell, its moments
// have closed forms. So have those of a map alone whose loss turns out to be of that kind
// within 64 sizes 1 + |y| of the target, as 176 of its points there tell. Else they are averages over the
// Gaussian cavity by quadrature, with an error that is estimated and kept below 1e-9 of the cavity's standard
// deviation (mean), of its variance (variance) and of 1 (response, shrinkage). Where the map is affine
// between bends the averages are closed forms. The distribution of the predictor carries the map as a cubic
// spline, to 1e-7 of the standard deviation.
//
// Shrinkage is 1 - slope averaged: where the loss hardly acts, it has an absolute
// error of 1e-16, so that its relative digits are lost below that.
//
// The loss takes any finite targets, at most 200 different ones at one input.
func FromProximal(p Proximal) Loss {
	return fromProximal{p, &straightLosses{known: map[float64]*straightLoss{}}}
}

type fromProximal struct {
	Proximal
	straight *straightLosses
}

// Site takes finite targets.
func (l fromProximal) Site(y []float64, law resample.CountDistribution) (Site, error) {
	if err := checkTargets(l.Name(), y); err != nil {
		return nil, err
	}
	p := exactPredictor(l.Prox)
	d, ok := l.Proximal.(Differentiable)
	if !ok {
		if s := l.newStraightSite(y, law, p); s != nil {
			return s, nil
		}
		return newSmoothSite(y, law, p), nil
	}
	if of, ok := piecewiseExamples(d, y); ok {
		return newPiecewiseSite(y, law, of), nil
	}
	p.derivatives, p.breakpoints = d.Derivatives, d.Breakpoints
	return newSmoothSite(y, law, p), nil
}

// samplesPerSegment is the number of places at which a segment between breakpoints is asked
// whether its derivative is a line; segments without an end are asked out to sampleReach
// times the size of the targets and breakpoints.
const (
	samplesPerSegment = 96
	sampleReach       = 1e6
)

// piecewiseExamples finds the losses of single targets whose derivatives are straight between
// at most two breakpoints, which gives all averages a closed form. ok is false where one
// is not.
func piecewiseExamples(d Differentiable, y []float64) (of exampleLoss, ok bool) {
	known := map[float64]twoKinkLoss{}
	for _, v := range y {
		if known[v], ok = piecewiseExample(d, v); !ok {
			return nil, false
		}
	}
	return func(y float64) twoKinkLoss { return known[y] }, true
}

func piecewiseExample(d Differentiable, y float64) (l twoKinkLoss, ok bool) {
	kinks := slices.Compact(slices.Sorted(slices.Values(d.Breakpoints(y))))
	if l.n = len(kinks); l.n == 0 || l.n > len(l.kinks) {
		return l, false
	}
	copy(l.kinks[:], kinks)
	size := 1 + math.Abs(y) + math.Abs(kinks[0]) + math.Abs(kinks[l.n-1])
	for j := range l.n + 1 {
		anchor := kinks[max(j-1, 0)]
		inside := func(i int) float64 { // sample i of the segment
			part := (float64(i) + 0.5) / samplesPerSegment
			far := size * math.Pow(sampleReach, 2*part-1)
			switch j {
			case 0:
				return anchor - far
			case l.n:
				return anchor + far
			}
			return anchor + part*(kinks[j]-anchor)
		}
		at := inside(samplesPerSegment / 2)
		first, second := d.Derivatives(at, y)
		l.slopes[j], l.curvatures[j] = first-second*(at-anchor), second
		for i := range samplesPerSegment {
			f := inside(i)
			a, b := d.Derivatives(f, y)
			line := l.slopes[j] + second*(f-anchor)
			if !(math.Abs(b-second) <= 1e-12*second) ||
				!(math.Abs(a-line) <= 1e-12*(math.Abs(first)+math.Abs(l.slopes[j])+math.Abs(second*(f-anchor)))) {
				return l, false
			}
		}
	}
	return l, true
}
