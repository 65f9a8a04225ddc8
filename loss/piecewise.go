package loss

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
	"bootbench/resample"
)

// Piecewise is a convex function of the prediction f whose derivative is linear between breakpoints, and
// which has a least value. On segment j, between breakpoints j-1 and j, the derivative is
//
//	Slopes[j] + Curvatures[j] (f - anchor),
//
// with the segment's left end as anchor, for the first segment its right end. Within this package the first
// slope may be -Inf and the last +Inf (outside the domain), and a loss without breakpoints is constant.
//
// Its proximal map (T3) is piecewise linear. It maps the fields h = f + l'(f)/c to a segment of curvature q
// with slope c/(c+q), and those between x + l'(x-)/c and x + l'(x+)/c to the breakpoint, or kink, x.
type Piecewise struct {
	Breakpoints []float64 // strictly rising, at least one
	Slopes      []float64 // derivatives at the anchors
	Curvatures  []float64 // second derivatives of the segments, at least 0; nil: all are 0
}

// anchor is the f of Slopes[j].
func (l *Piecewise) anchor(j int) float64 { return l.Breakpoints[max(j-1, 0)] }

// slopeAt is the derivative of segment j, or of its continuation, at x.
func (l *Piecewise) slopeAt(j int, x float64) float64 {
	if l.Curvatures[j] == 0 {
		return l.Slopes[j]
	}
	return l.Slopes[j] + l.Curvatures[j]*(x-l.anchor(j))
}

// segmentProx is the proximal map at h by segment j, or its continuation.
func (l *Piecewise) segmentProx(j int, c, h float64) float64 {
	q := l.Curvatures[j]
	if q == 0 {
		return h - l.Slopes[j]/c
	}
	x, b := l.anchor(j), l.Slopes[j]
	if q < c { // f is nearer to h than to x
		return h + (q*(x-h)-b)/(c+q)
	}
	return x + (c*(h-x)-b)/(c+q)
}

// prox is the proximal map at h and its slope.
func (l *Piecewise) prox(c, h float64) (f, slope float64) {
	lo := math.Inf(-1)
	for j, kink := range l.Breakpoints {
		if h <= kink+l.slopeAt(j, kink)/c {
			return math.Min(math.Max(lo, l.segmentProx(j, c, h)), kink), c / (c + l.Curvatures[j])
		}
		if h <= kink+l.Slopes[j+1]/c {
			return kink, 0
		}
		lo = kink
	}
	last := len(l.Breakpoints)
	return math.Max(lo, l.segmentProx(last, c, h)), c / (c + l.Curvatures[last])
}

// check refuses a loss that is not convex or has no least value.
func (l *Piecewise) check() error {
	n := len(l.Breakpoints)
	if n == 0 || len(l.Slopes) != n+1 || len(l.Curvatures) != n+1 {
		return fmt.Errorf("%d breakpoints need as many slopes and curvatures and one more, got %d and %d", n,
			len(l.Slopes), len(l.Curvatures))
	}
	for j := range l.Slopes {
		if !(l.Curvatures[j] >= 0 && l.Curvatures[j] <= maxParameter &&
			math.Abs(l.Slopes[j]) <= maxParameter) {
			return fmt.Errorf("segment %d has slope %g and curvature %g, must be at most %g and curvatures "+
				"at least 0", j+1, l.Slopes[j], l.Curvatures[j], float64(maxParameter))
		}
	}
	for j, kink := range l.Breakpoints {
		if math.IsInf(kink, 0) || !(j == 0 || kink > l.Breakpoints[j-1]) {
			return fmt.Errorf("breakpoints must be finite and rise, got %v", l.Breakpoints)
		}
		below, above := l.slopeAt(j, kink), l.Slopes[j+1]
		if !(above >= below-1e-12*(math.Abs(below)+math.Abs(above))) {
			return fmt.Errorf("slope %g before breakpoint %g and %g after it: not convex", below, kink, above)
		}
	}
	if l.Slopes[0] > 0 && l.Curvatures[0] == 0 || l.Slopes[n] < 0 && l.Curvatures[n] == 0 {
		return fmt.Errorf("slopes from %g to %g: there is no least value", l.Slopes[0], l.Slopes[n])
	}
	return nil
}

// least is a minimiser of the loss.
func (l *Piecewise) least() float64 {
	for j, kink := range l.Breakpoints {
		if q := l.Curvatures[j]; l.slopeAt(j, kink) > 0 {
			return l.anchor(j) - l.Slopes[j]/q
		}
		if l.Slopes[j+1] >= 0 {
			return kink
		}
	}
	last := len(l.Breakpoints)
	return l.anchor(last) - l.Slopes[last]/l.Curvatures[last]
}

// valueAt is the value at f minus the least value: the integral of the derivative.
func (l *Piecewise) valueAt(f float64) float64 {
	least := l.least()
	from, to, sum := math.Min(f, least), math.Max(f, least), 0.0
	for j := range l.Slopes {
		end := to
		if j < len(l.Breakpoints) {
			end = math.Min(to, l.Breakpoints[j])
		}
		if from < end {
			sum += 0.5 * (l.slopeAt(j, from) + l.slopeAt(j, end)) * (end - from)
			from = end
		}
	}
	return math.Abs(sum)
}

// exampleLoss returns the loss of one example of target y.
type exampleLoss func(y float64) Piecewise

// prox is Proximal.Prox of a loss that is piecewise for every target.
func prox(of exampleLoss, c, h float64, y, k []float64) (f, slope float64) {
	if len(y) > 1 {
		_, parts := commonKinks(of, y)
		sum := sumOf(parts, k)
		return sum.prox(c, h)
	}
	if k[0] == 0 {
		return h, 1
	}
	l := of(y[0])
	return l.prox(c/k[0], h)
}

// commonKinks lists the kinks of all targets' losses in order, and these losses on that list.
func commonKinks(of exampleLoss, y []float64) (kinks []float64, parts []Piecewise) {
	examples := make([]Piecewise, len(y))
	for j, v := range y {
		examples[j] = of(v)
		kinks = append(kinks, examples[j].Breakpoints...)
	}
	slices.Sort(kinks)
	kinks = slices.Compact(kinks)
	for j := range examples {
		parts = append(parts, examples[j].refine(kinks))
	}
	return kinks, parts
}

// refine returns the same loss on a list of kinks that includes the loss's.
func (l *Piecewise) refine(kinks []float64) Piecewise {
	fine := Piecewise{kinks, make([]float64, len(kinks)+1), make([]float64, len(kinks)+1)}
	own := 0
	for j := range fine.Slopes {
		if j > 0 && own < len(l.Breakpoints) && l.Breakpoints[own] <= kinks[j-1] {
			own++
		}
		fine.Slopes[j] = l.slopeAt(own, fine.anchor(j))
		fine.Curvatures[j] = l.Curvatures[own]
	}
	return fine
}

// sumOf is the sum of k[i] times parts[i], which have the same kinks.
func sumOf(parts []Piecewise, k []float64) Piecewise {
	var kinks []float64
	if len(parts) > 0 {
		kinks = parts[0].Breakpoints
	}
	sum := Piecewise{kinks, make([]float64, len(kinks)+1), make([]float64, len(kinks)+1)}
	for i, n := range k {
		if n > 0 { // slopes may be infinite
			floats.AddScaled(sum.Slopes, n, parts[i].Slopes)
			floats.AddScaled(sum.Curvatures, n, parts[i].Curvatures)
		}
	}
	return sum
}

// mixture is the loss of a site over the counts: rows[i] with probability p[i]. The kinks are common.
type mixture struct {
	kinks     []float64
	p         []float64
	rows      []Piecewise
	likeliest int       // row
	reach     []float64 // see setReach
	// total probability of a row and the following ones if these are multiples of it; or nil
	rest []float64
	side float64 // see marginSide
}

// newMixture lists the losses of a site with targets y over its joint counts, for one target by ascending
// count.
func newMixture(of exampleLoss, y []float64, law resample.CountDistribution) *mixture {
	joint := counts.New(y, law, 0)
	kinks, parts := commonKinks(of, joint.Targets)
	x := &mixture{kinks: kinks}
	order := make([]int, len(joint.P))
	for i := range order {
		order[i] = i
	}
	single := len(joint.Targets) == 1
	if single {
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(joint.Row(a)[0], joint.Row(b)[0]) })
	}
	for _, i := range order {
		x.add(joint.P[i], sumOf(parts, joint.Row(i)))
		if i == 0 {
			x.likeliest = len(x.p) - 1
		}
	}
	x.setReach(single && !slices.ContainsFunc(parts[0].Curvatures, nonZero))
	if single {
		x.side = x.rows[len(x.rows)-1].marginSide()
	}
	return x
}

// add appends a row of probability p, or adds p to the last row if that is equal, as for hard margins of
// counts >= 1.
func (x *mixture) add(p float64, row Piecewise) {
	if last := len(x.p) - 1; last >= 0 && slices.Equal(x.rows[last].Slopes, row.Slopes) &&
		slices.Equal(x.rows[last].Curvatures, row.Curvatures) {
		x.p[last] += p
		return
	}
	x.p, x.rows = append(x.p, p), append(x.rows, row)
}

// Distribution is the predictor's law: for every row the Gaussian cavity mapped by the proximal map, with an
// atom at every kink (M04-18).
func (x *mixture) Distribution(cav Cavity) Distribution {
	d := Distribution{atoms: slices.Clone(x.kinks)}
	for i, p := range x.p {
		var f fieldMap = identity{}
		if !x.rows[i].isZero() {
			f = &piecewiseMap{x.rows[i], cav.C}
		}
		d.add(p, cav.Mean, math.Sqrt(cav.Var), f)
	}
	return d
}

// piecewiseMap is the proximal map of a piecewise loss at a cavity's precision c.
type piecewiseMap struct {
	Piecewise
	c float64
}

func (m *piecewiseMap) at(h float64) point {
	f, slope := m.prox(m.c, h)
	return point{h, f, slope}
}

// inverse is h = x + l'(x)/c (T3), from the left to the right derivative.
func (m *piecewiseMap) inverse(x float64) preimage {
	j, kink := slices.BinarySearch(m.Breakpoints, x)
	h := x + m.slopeAt(j, x)/m.c
	at := preimage{h, h, m.c / (m.c + m.Curvatures[j])}
	if kink {
		at.upTo = x + m.Slopes[j+1]/m.c
	}
	return at
}

func (m *piecewiseMap) breakpoints() (fields []float64, ok bool) {
	for _, kink := range m.Breakpoints {
		at := m.inverse(kink)
		fields = append(fields, at.below, at.upTo)
	}
	return fields, true
}

// piecewiseSite is a site of a piecewise loss.
type piecewiseSite struct {
	*mixture
	targets []float64
	of      exampleLoss
	law     resample.CountDistribution
}

func newPiecewiseSite(y []float64, law resample.CountDistribution, of exampleLoss) *piecewiseSite {
	return &piecewiseSite{newMixture(of, y, law), slices.Clone(y), of, law}
}

// LeftOut averages the test loss over the distribution given the site's other examples; for a site of one
// example, over the cavity (M04-17).
func (s *piecewiseSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	rest := newMixture(s.of, others(s.targets, copy), s.law)
	return rest.Distribution(cav).expect(test, s.targets[copy])
}

// others lists the targets except number copy.
func others(targets []float64, copy int) []float64 {
	return slices.Delete(slices.Clone(targets), copy, copy+1)
}
