package loss

import (
	"math"
	"slices"

	"bootbench/resample"
)

// piecewise is a convex loss of the prediction f whose derivative is piecewise
// linear. On segment j, between kinks[j-1] and kinks[j], it is
//
//	slopes[j] + curvatures[j] (f - anchor),
//
// where the anchor of a segment is its left end, and that of the first its
// right end. Kinks rise strictly. The first slope may be -Inf and the last +Inf,
// which bars f from there. Without kinks the loss is constant.
//
// Its proximal map (T3) is piecewise linear. A segment of curvature q is seen
// by the fields h = f + l'(f)/c, where f has slope c/(c+q); a kink by those
// between x + l'(x-)/c and x + l'(x+)/c, where f stays at x.
type piecewise struct {
	kinks, slopes, curvatures []float64
}

// bend is the loss of one example: at least one kink, at most two. A kink where
// the derivative does not jump is allowed.
type bend struct {
	n                  int
	kinks              [2]float64
	slopes, curvatures [3]float64
}

func (b *bend) piecewise() piecewise {
	return piecewise{b.kinks[:b.n], b.slopes[:b.n+1], b.curvatures[:b.n+1]}
}

// times is the loss of k examples.
func (b bend) times(k float64) bend {
	for j := range b.n + 1 {
		b.slopes[j] *= k
		b.curvatures[j] *= k
	}
	return b
}

// anchor is the place of slopes[j].
func (l *piecewise) anchor(j int) float64 { return l.kinks[max(j-1, 0)] }

// slopeAt is the derivative of segment j, or of its continuation, at x.
func (l *piecewise) slopeAt(j int, x float64) float64 {
	if l.curvatures[j] == 0 {
		return l.slopes[j]
	}
	return l.slopes[j] + l.curvatures[j]*(x-l.anchor(j))
}

// follow is the proximal map at h by segment j, or its continuation.
func (l *piecewise) follow(j int, c, h float64) float64 {
	q := l.curvatures[j]
	if q == 0 {
		return h - l.slopes[j]/c
	}
	x, b := l.anchor(j), l.slopes[j]
	if q < c { // f is nearer to h than to x
		return h + (q*(x-h)-b)/(c+q)
	}
	return x + (c*(h-x)-b)/(c+q)
}

// prox is the proximal map at h and its slope.
func (l *piecewise) prox(c, h float64) (f, slope float64) {
	lo := math.Inf(-1)
	for j, kink := range l.kinks {
		if h <= kink+l.slopeAt(j, kink)/c {
			return math.Min(math.Max(lo, l.follow(j, c, h)), kink), c / (c + l.curvatures[j])
		}
		if h <= kink+l.slopes[j+1]/c {
			return kink, 0
		}
		lo = kink
	}
	last := len(l.kinks)
	return math.Max(lo, l.follow(last, c, h)), c / (c + l.curvatures[last])
}

// prox is Proximal.Prox of a loss that is a bend for every target.
func prox(of func(y float64) bend, c, h float64, y, k []float64) (f, slope float64) {
	if len(y) == 1 {
		if k[0] == 0 {
			return h, 1
		}
		one := of(y[0]).times(k[0])
		loss := one.piecewise()
		return loss.prox(c, h)
	}
	loss := sum(of, y, k)
	return loss.prox(c, h)
}

// sum is the loss of k[j] examples of each target y[j].
func sum(of func(y float64) bend, y, k []float64) piecewise {
	var bends []bend
	for j, v := range y {
		if k[j] > 0 {
			bends = append(bends, of(v).times(k[j]))
		}
	}
	total := piecewise{kinks: allKinks(bends)}
	total.slopes = make([]float64, len(total.kinks)+1)
	total.curvatures = make([]float64, len(total.kinks)+1)
	for i := range bends {
		own := bends[i].piecewise()
		part := own.along(total.kinks)
		for j := range total.slopes {
			total.slopes[j] += part.slopes[j]
			total.curvatures[j] += part.curvatures[j]
		}
	}
	return total
}

// allKinks are the kinks of all bends, in order.
func allKinks(bends []bend) []float64 {
	var kinks []float64
	for i := range bends {
		kinks = append(kinks, bends[i].kinks[:bends[i].n]...)
	}
	slices.Sort(kinks)
	return slices.Compact(kinks)
}

// along is the same loss on a finer list of kinks.
func (l *piecewise) along(kinks []float64) piecewise {
	fine := piecewise{kinks, make([]float64, len(kinks)+1), make([]float64, len(kinks)+1)}
	own := 0
	for j := range fine.slopes {
		if j > 0 && own < len(l.kinks) && l.kinks[own] <= kinks[j-1] {
			own++
		}
		fine.slopes[j] = l.slopeAt(own, fine.anchor(j))
		fine.curvatures[j] = l.curvatures[own]
	}
	return fine
}

// mixture is the loss of a site, which depends on the counts: with probability
// p[i] it has row i of slopes and curvatures. The kinks are common.
type mixture struct {
	kinks              []float64
	p                  []float64
	slopes, curvatures []float64 // len(p) rows of len(kinks)+1
	curved             bool      // some curvature is not zero
}

// newMixture is the loss over all combinations of the counts. The likeliest
// combination comes first.
func newMixture(of func(y float64) bend, list []group, law resample.CountDistribution) *mixture {
	bends := make([]bend, len(list))
	for i, g := range list {
		bends[i] = of(g.target)
	}
	x := &mixture{kinks: allKinks(bends)}
	parts := make([]piecewise, len(list))
	for i := range bends {
		own := bends[i].piecewise()
		parts[i] = own.along(x.kinks)
	}
	all := combine(list, law)
	all.lead()
	for i, p := range all.p {
		x.add(p, parts, all.row(i))
	}
	return x
}

// add appends the sum of counts times parts with probability p, or adds p to
// the last row where that is the same: a hard margin asks only whether k is 0.
func (x *mixture) add(p float64, parts []piecewise, counts []float64) {
	for j := range len(x.kinks) + 1 {
		slope, curvature := 0.0, 0.0
		for i, k := range counts {
			if k > 0 {
				slope += k * parts[i].slopes[j]
				curvature += k * parts[i].curvatures[j]
			}
		}
		x.slopes = append(x.slopes, slope)
		x.curvatures = append(x.curvatures, curvature)
		x.curved = x.curved || curvature > 0
	}
	if last := len(x.p) - 1; last >= 0 {
		a, b := x.row(last), x.row(last+1)
		if slices.Equal(a.slopes, b.slopes) && slices.Equal(a.curvatures, b.curvatures) {
			x.p[last] += p
			x.slopes = x.slopes[:len(x.slopes)-len(b.slopes)]
			x.curvatures = x.curvatures[:len(x.curvatures)-len(b.slopes)]
			return
		}
	}
	x.p = append(x.p, p)
}

// row is the loss for combination i.
func (x *mixture) row(i int) piecewise {
	n := len(x.kinks) + 1
	return piecewise{x.kinks, x.slopes[i*n : (i+1)*n], x.curvatures[i*n : (i+1)*n]}
}

// moments are the moments (T4) over h and over the combinations.
func (x *mixture) moments(cav Cavity) Moments {
	w := newWalk(cav)
	var b blend
	if !x.curved {
		n := len(x.kinks) + 1
		for i, p := range x.p {
			b.add(p, w.respondLinear(x.kinks, x.slopes[i*n:(i+1)*n]))
		}
		return b.moments()
	}
	for i, p := range x.p {
		row := x.row(i)
		b.add(p, w.respond(&row))
	}
	return b.moments()
}

// blend mixes the predictor over combinations of counts: the variance is the
// mean of the variances given the counts and the variance of the means, both
// sums of positive terms. Means are taken as deviations from where the first
// combination puts the cavity mean, so that they keep their digits where all of
// them lie at one kink.
type blend struct {
	reference, shift, total float64
	variance, keep, pull    float64
}

func (b *blend) add(p float64, r response) {
	if b.total == 0 {
		b.reference = r.base
	}
	off := (r.base - b.reference) + r.shift - b.shift
	before := b.total
	b.total += p
	b.shift += p / b.total * off
	b.variance += p * (r.variance + before/b.total*off*off)
	b.keep += p * r.keep
	b.pull += p * r.pull
}

func (b *blend) moments() Moments {
	return Moments{Mean: b.reference + b.shift, Var: b.variance, Response: b.keep, Shrinkage: b.pull}
}

// leastWidth is the standard deviation, relative to its place, below which a
// piece of a law is given as an atom: its ends would have too few digits.
const leastWidth = 1e-7

// law is the law of the predictor: for every combination the Gaussian cavity,
// moved, narrowed and cut at the kinks, and an atom at every kink.
func (x *mixture) law(cav Cavity) Distribution {
	var law Distribution
	s := math.Sqrt(cav.Var)
	atoms := make([]float64, len(x.kinks))
	for i, p := range x.p {
		row := x.row(i)
		lo, from := math.Inf(-1), math.Inf(-1) // of f, and of the field in standard deviations
		for j, q := range row.curvatures {
			hi, to := math.Inf(1), math.Inf(1)
			if j < len(x.kinks) {
				hi = x.kinks[j]
				to = position(hi, cav.Mean-row.slopeAt(j, hi)/cav.C, s)
			}
			law.segment(p, from, to, TruncatedNormal{Mean: row.follow(j, cav.C, cav.Mean), SD: cav.C / (cav.C + q) * s, Lo: lo, Hi: hi})
			if j < len(x.kinks) {
				from = math.Max(to, position(hi, cav.Mean-row.slopes[j+1]/cav.C, s))
				atoms[j] += p * cutMass(to, from)
				lo = hi
			}
		}
	}
	for j, weight := range atoms {
		if weight > 0 {
			law.Atoms = append(law.Atoms, Atom{At: x.kinks[j], Weight: weight})
		}
	}
	return law
}

// segment adds the share weight of one piece, which the fields from a to b
// standard deviations see.
func (l *Distribution) segment(weight, a, b float64, p TruncatedNormal) {
	mass := weight * cutMass(a, b)
	if !(mass > 0) {
		return
	}
	whole := math.IsInf(p.Lo, -1) && math.IsInf(p.Hi, 1)
	if p.SD > leastWidth*math.Abs(p.Mean) || (whole && p.SD > 0) {
		p.Weight = weight
		l.Pieces = append(l.Pieces, p)
		return
	}
	m0, m1, _ := cutMoments(a, b)
	l.Atoms = append(l.Atoms, Atom{At: p.Mean + p.SD*m1/m0, Weight: mass})
}

// piecewiseSite is a piecewise linear-quadratic loss at one site.
type piecewiseSite struct {
	targets []float64
	of      func(y float64) bend
	law     resample.CountDistribution
	all     *mixture
}

func newPiecewiseSite(y []float64, law resample.CountDistribution, of func(y float64) bend) *piecewiseSite {
	return &piecewiseSite{slices.Clone(y), of, law, newMixture(of, groups(y), law)}
}

// Moments are those of the mixture over the counts of all examples.
func (s *piecewiseSite) Moments(cav Cavity) Moments { return s.all.moments(cav) }

// Distribution has cut Gaussians, and atoms at the kinks (M04-18).
func (s *piecewiseSite) Distribution(cav Cavity) Distribution { return s.all.law(cav) }

// LeftOut averages the test loss over the law that the site's other examples
// leave; a site of one example leaves the cavity itself (M04-17).
func (s *piecewiseSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	y := s.targets[copy]
	return s.others(y).law(cav).average(test, y)
}

// others is the mixture without one example of target y.
func (s *piecewiseSite) others(y float64) *mixture {
	return newMixture(s.of, without(groups(s.targets), y), s.law)
}
