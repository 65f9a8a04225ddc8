package loss

import (
	"math"
	"slices"
	"sync"

	"bootbench/resample"
)

// A proximal map tells the derivative of its loss, l'(f) = c (h-f) at f = f(h), and its second,
// c (1-slope)/slope; where its slope is 0 the loss has a kink. So a loss that is known by its
// map alone can be asked whether its derivative is straight between at most two kinks, and
// its averages then have closed forms.

// Limits of the search for a straight loss.
const (
	straightReach = 64    // sizes of the target from it, up to which the loss is asked
	leastDistance = 1e-6  // from it, in sizes
	perSide       = 56    // samples on either side, at growing distances
	evenly        = 64    // samples at equal distances, up to evenReach sizes
	evenReach     = 4     // sizes
	straightTol   = 1e-10 // by which samples may be off, relative to fields and predictions
	fieldReach    = 9     // standard deviations of a cavity that must lie within the reach
	gapHalvings   = 60    // of a gap between samples in search of the kink in it
)

// straightLoss is the loss of one target as the map told it, and the fields within which it did.
type straightLoss struct {
	twoKinkLoss
	from, to float64
}

// straightLosses are the losses of all targets that were asked for.
type straightLosses struct {
	mu    sync.Mutex
	known map[float64]*straightLoss // nil values: not straight
	first float64                   // target that was found to be straight first
}

// of is the straight loss of target y, or nil: that of the first target, moved, is tried before
// the map is searched.
func (s *straightLosses) of(p Proximal, y float64) *straightLoss {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, asked := s.known[y]; asked {
		return l
	}
	var l *straightLoss
	if first := s.known[s.first]; first != nil {
		l = first.moved(y - s.first)
	}
	if l == nil || !agrees(p, l, y) {
		if l = findStraight(p, y); l != nil && !agrees(p, l, y) {
			l = nil
		}
	}
	if s.known[y] = l; l != nil && s.known[s.first] == nil {
		s.first = y
	}
	return l
}

// moved is the loss with prediction and target moved.
func (l straightLoss) moved(by float64) *straightLoss {
	for j := range l.n {
		l.kinks[j] += by
	}
	l.from, l.to = l.from+by, l.to+by
	return &l
}

// mapPoint is a point of the map of one example at c = 1.
func mapPoint(p Proximal, h, y float64) point {
	f, slope := p.Prox(1, h, []float64{y}, []float64{1})
	return point{h, f, slope}
}

// off is what a sample at h may be off by.
func (p point) off() float64 { return straightTol * (1 + math.Abs(p.h) + math.Abs(p.f)) }

// straightPiece is a kink, or a segment on which the derivative is straight.
type straightPiece struct {
	first, last point
	kink        bool
	curvature   float64
}

func newPiece(at point) straightPiece {
	if at.slope == 0 {
		return straightPiece{first: at, last: at, kink: true}
	}
	return straightPiece{first: at, last: at, curvature: (1 - at.slope) / at.slope}
}

// derivative is that of a segment, or of its continuation, at f: by its end nearest to f, which
// knows it best.
func (s *straightPiece) derivative(f float64) float64 {
	from := s.first
	if math.Abs(s.last.f-f) < math.Abs(s.first.f-f) {
		from = s.last
	}
	return from.h - from.f + s.curvature*(f-from.f)
}

// holds says whether a point belongs to the piece.
func (s *straightPiece) holds(at point) bool {
	if s.kink || at.slope == 0 {
		return s.kink && at.slope == 0 && math.Abs(at.f-s.first.f) <= at.off()
	}
	return math.Abs((1-at.slope)-s.curvature*at.slope) <= straightTol &&
		math.Abs(at.h-at.f-s.derivative(at.f)) <= (1+s.curvature)*at.off()
}

// findStraight asks the map of target y for the pieces of its loss. It is nil where they are no
// two or three segments with a kink between neighbours, or the loss is nowhere least within reach.
func findStraight(p Proximal, y float64) *straightLoss {
	fields := straightFields(y)
	var pieces []straightPiece
	for _, h := range fields {
		at := mapPoint(p, h, y)
		if !(at.slope >= 0 && at.slope <= 1) || math.IsNaN(at.f) {
			return nil
		}
		if n := len(pieces); n > 0 && pieces[n-1].holds(at) {
			pieces[n-1].last = at
			continue
		}
		if n := len(pieces); n > 0 && !pieces[n-1].kink && at.slope != 0 {
			next := newPiece(at)
			kink, ok := kinkBetween(p, y, pieces[n-1], next)
			if !ok {
				return nil
			}
			pieces = append(pieces, kink)
		}
		if pieces = append(pieces, newPiece(at)); len(pieces) > 5 {
			return nil
		}
	}
	return assemble(pieces, fields[0], fields[len(fields)-1])
}

// straightFields are the fields that are asked for, in order.
func straightFields(y float64) []float64 {
	size := 1 + math.Abs(y)
	var fields []float64
	for i := range perSide {
		far := size * leastDistance * math.Pow(straightReach/leastDistance, float64(i)/(perSide-1))
		fields = append(fields, y-far, y+far)
	}
	for i := range evenly {
		fields = append(fields, y+evenReach*size*((2*float64(i)+1)/evenly-1))
	}
	slices.Sort(fields)
	return fields
}

// kinkBetween finds the kink between two segments that are neighbours: where their derivatives
// meet, or the one place at which the map stays between them.
func kinkBetween(p Proximal, y float64, a, b straightPiece) (kink straightPiece, ok bool) {
	if a.curvature != b.curvature {
		f := a.last.f + (b.derivative(b.first.f)-a.derivative(a.last.f)-b.curvature*(b.first.f-a.last.f))/(a.curvature-b.curvature)
		if a.last.f < f && f < b.first.f {
			at := point{h: f + a.derivative(f), f: f}
			return straightPiece{first: at, last: at, kink: true}, true
		}
	}
	lo, hi := a.last.h, b.first.h
	for range gapHalvings {
		at := mapPoint(p, 0.5*(lo+hi), y)
		switch {
		case at.slope == 0:
			return newPiece(at), true
		case a.holds(at):
			lo = at.h
		case b.holds(at):
			hi = at.h
		default:
			return kink, false
		}
	}
	return kink, false
}

// assemble makes a loss of pieces.
func assemble(pieces []straightPiece, from, to float64) *straightLoss {
	n := len(pieces)
	if n < 3 || n%2 == 0 || pieces[0].kink {
		return nil
	}
	l := &straightLoss{from: from, to: to}
	l.n = n / 2
	for j := range l.n {
		if !pieces[2*j+1].kink || pieces[2*j+2].kink {
			return nil
		}
		l.kinks[j] = pieces[2*j+1].first.f
	}
	for j := range l.n + 1 {
		s := &pieces[2*j]
		l.slopes[j], l.curvatures[j] = s.derivative(l.kinks[max(j-1, 0)]), s.curvature
	}
	first, last := &pieces[0], &pieces[n-1]
	if first.first.h > first.first.f || last.last.h < last.last.f { // the derivative there is h - f
		return nil
	}
	return l
}

// agrees holds the map to the straight loss at other c and weights, around its bends and far off.
func agrees(p Proximal, l *straightLoss, y float64) bool {
	size := 1 + math.Abs(y)
	for _, at := range []struct{ c, k float64 }{{0.1, 1}, {1, 3}, {20, 2}} {
		loss := l.twoKinkLoss
		for j := range loss.n + 1 {
			loss.slopes[j] *= at.k
			loss.curvatures[j] *= at.k
		}
		exact := loss.piecewise()
		for j, kink := range exact.kinks {
			from, to := kink+exact.slopeAt(j, kink)/at.c, kink+exact.slopes[j+1]/at.c
			for _, h := range []float64{from - 3*size, from - 1e-3*size, 0.5 * (from + to), to + 1e-3*size,
				to + 3*size} {
				f, slope := p.Prox(at.c, h, []float64{y}, []float64{at.k})
				want, wantSlope := exact.prox(at.c, h)
				off := point{h: h, f: f}.off()
				atKink := math.Abs(h-0.5*(from+to)) <= off && to-from <= off // where rounding decides the slope
				if !(math.Abs(f-want) <= off && (atKink || math.Abs(slope-wantSlope) <= straightTol)) {
					return false
				}
			}
		}
	}
	return true
}

// straightSite is a site of a loss that its map told to be straight, by closed forms where
// the cavity lies within the reach of the search: the predictor is then there too, between the
// field and where the loss is least. Elsewhere it is averaged by quadrature.
type straightSite struct {
	*piecewiseSite
	beyond   *smoothSite
	from, to float64
}

// newStraightSite is nil where the loss of a target is not straight.
func (l fromProximal) newStraightSite(y []float64, law resample.CountDistribution, p predictor) Site {
	s := &straightSite{from: math.Inf(-1), to: math.Inf(1)}
	known := map[float64]twoKinkLoss{}
	for _, v := range y {
		straight := l.straight.of(l.Proximal, v)
		if straight == nil {
			return nil
		}
		known[v] = straight.twoKinkLoss
		s.from, s.to = math.Max(s.from, straight.from), math.Min(s.to, straight.to)
	}
	s.piecewiseSite = newPiecewiseSite(y, law, func(y float64) twoKinkLoss { return known[y] })
	s.beyond = newSmoothSite(y, law, p)
	return s
}

// within says whether a cavity lies within reach.
func (s *straightSite) within(cav Cavity) bool {
	wide := fieldReach * math.Sqrt(cav.Var)
	return s.from <= cav.Mean-wide && cav.Mean+wide <= s.to
}

// Moments are those of either site.
func (s *straightSite) Moments(cav Cavity) Moments {
	if s.within(cav) {
		return s.piecewiseSite.Moments(cav)
	}
	return s.beyond.Moments(cav)
}

// Distribution is that of either site.
func (s *straightSite) Distribution(cav Cavity) Distribution {
	if s.within(cav) {
		return s.piecewiseSite.Distribution(cav)
	}
	return s.beyond.Distribution(cav)
}

// LeftOut is that of either site.
func (s *straightSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	if s.within(cav) {
		return s.piecewiseSite.LeftOut(cav, copy, test)
	}
	return s.beyond.LeftOut(cav, copy, test)
}
