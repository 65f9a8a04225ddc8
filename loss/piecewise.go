package loss

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/counts"
	"bootbench/loss/internal/normal"
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

// anchor is the place of slopes[j].
func (l *piecewise) anchor(j int) float64 { return l.kinks[max(j-1, 0)] }

// slopeAt is the derivative of segment j, or of its continuation, at x.
func (l *piecewise) slopeAt(j int, x float64) float64 {
	if l.curvatures[j] == 0 {
		return l.slopes[j]
	}
	return l.slopes[j] + l.curvatures[j]*(x-l.anchor(j))
}

// segmentProx is the proximal map at h by segment j, or its continuation.
func (l *piecewise) segmentProx(j int, c, h float64) float64 {
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
			return math.Min(math.Max(lo, l.segmentProx(j, c, h)), kink), c / (c + l.curvatures[j])
		}
		if h <= kink+l.slopes[j+1]/c {
			return kink, 0
		}
		lo = kink
	}
	last := len(l.kinks)
	return math.Max(lo, l.segmentProx(last, c, h)), c / (c + l.curvatures[last])
}

// check refuses a loss that is not convex or has no least value.
func (l *piecewise) check() error {
	n := len(l.kinks)
	if n == 0 || len(l.slopes) != n+1 || len(l.curvatures) != n+1 {
		return fmt.Errorf("%d breakpoints need as many slopes and curvatures and one more, got %d and %d", n,
			len(l.slopes), len(l.curvatures))
	}
	for j := range l.slopes {
		if !(l.curvatures[j] >= 0 && l.curvatures[j] <= maxParameter && math.Abs(l.slopes[j]) <= maxParameter) {
			return fmt.Errorf("segment %d has slope %g and curvature %g, must be at most %g and curvatures at least 0",
				j+1, l.slopes[j], l.curvatures[j], float64(maxParameter))
		}
	}
	for j, kink := range l.kinks {
		if math.IsInf(kink, 0) || !(j == 0 || kink > l.kinks[j-1]) {
			return fmt.Errorf("breakpoints must be finite and rise, got %v", l.kinks)
		}
		if below := l.slopeAt(j, kink); !(l.slopes[j+1] >= below-1e-12*(math.Abs(below)+math.Abs(l.slopes[j+1]))) {
			return fmt.Errorf("slope %g before breakpoint %g and %g after it: not convex", below, kink,
				l.slopes[j+1])
		}
	}
	if l.slopes[0] > 0 && l.curvatures[0] == 0 || l.slopes[n] < 0 && l.curvatures[n] == 0 {
		return fmt.Errorf("slopes from %g to %g: there is no least value", l.slopes[0], l.slopes[n])
	}
	return nil
}

// least is a place where the loss is least.
func (l *piecewise) least() float64 {
	for j, kink := range l.kinks {
		if q := l.curvatures[j]; l.slopeAt(j, kink) > 0 {
			return l.anchor(j) - l.slopes[j]/q
		}
		if l.slopes[j+1] >= 0 {
			return kink
		}
	}
	last := len(l.kinks)
	return l.anchor(last) - l.slopes[last]/l.curvatures[last]
}

// valueAt is the value at f, from the least: the integral of the derivative.
func (l *piecewise) valueAt(f float64) float64 {
	least := l.least()
	from, to, sum := math.Min(f, least), math.Max(f, least), 0.0
	for j := range l.slopes {
		end := to
		if j < len(l.kinks) {
			end = math.Min(to, l.kinks[j])
		}
		if from < end {
			sum += 0.5 * (l.slopeAt(j, from) + l.slopeAt(j, end)) * (end - from)
			from = end
		}
	}
	return math.Abs(sum)
}

// exampleLoss returns the loss of one example of target y.
type exampleLoss func(y float64) piecewise

// prox is Proximal.Prox of a loss that is piecewise for every target.
func prox(of exampleLoss, c, h float64, y, k []float64) (f, slope float64) {
	if len(y) > 1 {
		kinks, parts := commonKinks(of, y)
		sum := piecewise{kinks, make([]float64, len(kinks)+1), make([]float64, len(kinks)+1)}
		sum.setSum(parts, k)
		return sum.prox(c, h)
	}
	if k[0] == 0 {
		return h, 1
	}
	l := of(y[0])
	return l.prox(c/k[0], h)
}

// commonKinks lists the kinks of all targets' losses in order, and these losses on
// that list.
func commonKinks(of exampleLoss, y []float64) (kinks []float64, parts []piecewise) {
	examples := make([]piecewise, len(y))
	for j, v := range y {
		examples[j] = of(v)
		kinks = append(kinks, examples[j].kinks...)
	}
	slices.Sort(kinks)
	kinks = slices.Compact(kinks)
	for j := range examples {
		parts = append(parts, examples[j].refine(kinks))
	}
	return kinks, parts
}

// refine returns the same loss on a list of kinks that holds its own.
func (l *piecewise) refine(kinks []float64) piecewise {
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

// setSum sets l to the sum of k[i] times parts[i], which have the same kinks.
func (l *piecewise) setSum(parts []piecewise, k []float64) {
	for i, n := range k {
		if n > 0 { // slopes may be infinite
			floats.AddScaled(l.slopes, n, parts[i].slopes)
			floats.AddScaled(l.curvatures, n, parts[i].curvatures)
		}
	}
}

// mixture is the loss of a site, which depends on the counts: with probability
// p[i] it has row i of slopes and curvatures. The kinks are common.
type mixture struct {
	kinks              []float64
	p                  []float64
	slopes, curvatures []float64 // len(p) rows of len(kinks)+1
	likeliest          int       // row
	reach              []float64 // see setReach
	// probability of a row and all after it, where these are multiples of it; or nil
	rest []float64
	side float64 // see marginSide
}

// newMixture lists the losses of a site whose examples have targets y over its joint counts.
func newMixture(of exampleLoss, y []float64, law resample.CountDistribution) *mixture {
	return mixtureOf(of, counts.New(y, law, 0))
}

// mixtureOf lists the losses of the joint counts, those of one target from the least count on.
func mixtureOf(of exampleLoss, joint *counts.Joint) *mixture {
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
		x.add(joint.P[i], parts, joint.Row(i))
		if i == 0 {
			x.likeliest = len(x.p) - 1
		}
	}
	x.setReach(single && !slices.ContainsFunc(x.curvatures, nonZero))
	if last := x.row(len(x.p) - 1); single {
		x.side = last.marginSide()
	}
	return x
}

// add appends the sum of k times parts with probability p, or adds p to the last
// row where that is the same: a hard margin asks only whether k is 0.
func (x *mixture) add(p float64, parts []piecewise, k []float64) {
	last, n := len(x.p)-1, len(x.kinks)+1
	x.slopes = append(x.slopes, make([]float64, n)...)
	x.curvatures = append(x.curvatures, make([]float64, n)...)
	x.p = append(x.p, p)
	row := x.row(last + 1)
	row.setSum(parts, k)
	if last < 0 {
		return
	}
	if before := x.row(last); slices.Equal(before.slopes, row.slopes) && slices.Equal(before.curvatures,
		row.curvatures) {
		x.p = x.p[:last+1]
		x.p[last] += p
		x.slopes, x.curvatures = x.slopes[:(last+1)*n], x.curvatures[:(last+1)*n]
	}
}

// row is the loss of row i.
func (x *mixture) row(i int) piecewise {
	n := len(x.kinks) + 1
	return piecewise{x.kinks, x.slopes[i*n : (i+1)*n], x.curvatures[i*n : (i+1)*n]}
}

// Distribution is that of the predictor: for every row the Gaussian cavity, moved,
// narrowed and truncated at the kinks, and an atom at every kink (M04-18).
func (x *mixture) Distribution(cav Cavity) Distribution {
	var d Distribution
	s := math.Sqrt(cav.Var)
	atoms := make([]float64, len(x.kinks))
	for i, p := range x.p {
		row := x.row(i)
		lo, from := math.Inf(-1), math.Inf(-1) // of f, and of the field in standard deviations
		for j, q := range row.curvatures {
			hi, to := math.Inf(1), math.Inf(1)
			if j < len(x.kinks) {
				hi = x.kinks[j]
				to = standardize(hi, cav.Mean-row.slopeAt(j, hi)/cav.C, s)
			}
			d.addTruncated(p, from, to, TruncatedNormal{Mean: row.segmentProx(j, cav.C, cav.Mean),
				SD: cav.C / (cav.C + q) * s, Lo: lo, Hi: hi})
			if j < len(x.kinks) {
				from = math.Max(to, standardize(hi, cav.Mean-row.slopes[j+1]/cav.C, s))
				atoms[j] += p * normal.Prob(to, from)
				lo = hi
			}
		}
	}
	for j, weight := range atoms {
		if weight > 0 {
			d.Atoms = append(d.Atoms, Atom{At: x.kinks[j], Weight: weight})
		}
	}
	return d
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

// piecewiseLoss is a Loss that is piecewise for every target.
type piecewiseLoss interface {
	Name() string
	check() error
	example(y float64) piecewise
}

// labelSite is the site of a loss for labels -1 and +1.
func labelSite(l piecewiseLoss, y []float64, law resample.CountDistribution) (Site, error) {
	return checkedSite(l, y, law, checkLabels(l.Name(), y))
}

// targetSite is the site of a loss for finite targets.
func targetSite(l piecewiseLoss, y []float64, law resample.CountDistribution) (Site, error) {
	return checkedSite(l, y, law, checkTargets(l.Name(), y))
}

// checkedSite is the site of a loss, unless the loss or its targets are refused.
func checkedSite(l piecewiseLoss, y []float64, law resample.CountDistribution, refusal error) (Site, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, refusal
	}
	return newPiecewiseSite(y, law, l.example), nil
}

// LeftOut averages the test loss over the distribution that the site's other
// examples leave; a site of one example leaves the cavity itself (M04-17).
func (s *piecewiseSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	rest := newMixture(s.of, others(s.targets, copy), s.law)
	return rest.Distribution(cav).expect(test, s.targets[copy])
}

// others lists the targets but one.
func others(targets []float64, copy int) []float64 {
	return slices.Delete(slices.Clone(targets), copy, copy+1)
}
