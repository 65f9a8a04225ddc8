package loss

import "math"

// walk goes through the intervals of the field h on which the proximal map of a
// piecewise loss is linear, from left to right, and adds up what the Gaussian
// cavity sees of them. It keeps the edges of the last combination of counts,
// some of which are those of the next.
type walk struct {
	Cavity
	sd    float64
	known [4]edge
}

func newWalk(cav Cavity) walk {
	return walk{Cavity: cav, sd: math.Sqrt(cav.Var), known: [4]edge{origin, origin, origin, origin}}
}

// edge is the edge number i, at z standard deviations above the cavity mean.
func (w *walk) edge(i int, z float64) edge {
	if i >= len(w.known) {
		return edgeAt(z)
	}
	if w.known[i].z != z {
		w.known[i] = edgeAt(z)
	}
	return w.known[i]
}

// position is x in units of the Gaussian of that mean and sd >= 0; at sd = 0 it
// is infinite, but 0 where x is the mean.
func position(x, mean, sd float64) float64 {
	if x == mean {
		return 0
	}
	return (x - mean) / sd
}

// response is the predictor f(h) for one combination of counts: its mean is
// base + shift, where base = f(m_c); its variance; and the means of its slope
// (keep) and of one less its slope (pull).
type response struct {
	base, shift, variance, keep, pull float64
}

// respond walks through the intervals for the loss of one combination.
func (w *walk) respond(l *piecewise) response {
	var t tally
	from := edge{z: math.Inf(-1)}
	start := 0 // the segment that from begins
	for j, kink := range l.kinks {
		below, above := l.slopeAt(j, kink), l.slopes[j+1]
		if below == above && l.curvatures[j] == l.curvatures[j+1] {
			continue
		}
		to := w.edge(2*j, position(kink, w.Mean-below/w.C, w.sd))
		w.follow(&t, &from, &to, l, start)
		from, start = to, j+1
		if above > below {
			from = w.edge(2*j+1, position(kink, w.Mean-above/w.C, w.sd))
			t.add(&to, &from, 0, 1, kink)
		}
	}
	if start == 0 && l.curvatures[0] == 0 { // nothing bends
		return response{base: w.Mean - l.slopes[0]/w.C, variance: w.Var, keep: 1}
	}
	w.follow(&t, &from, &edge{z: math.Inf(1)}, l, start)
	return response{t.base, w.sd * t.shift(), w.Var * t.variance, t.keep, t.pull}
}

// respondLinear is respond for a loss without curvature, whose map has slope one
// and zero by turns; about a third faster.
func (w *walk) respondLinear(kinks, slopes []float64) response {
	var t tally
	mean := w.Mean - slopes[0]/w.C
	from, straight := edge{z: math.Inf(-1)}, true
	for j, kink := range kinks {
		if slopes[j] == slopes[j+1] {
			continue
		}
		straight = false
		to := w.edge(2*j, position(kink, mean, w.sd))
		t.move(from, to, mean)
		mean = w.Mean - slopes[j+1]/w.C
		from = w.edge(2*j+1, position(kink, mean, w.sd))
		t.rest(to, from, kink)
	}
	if straight {
		return response{base: mean, variance: w.Var, keep: 1}
	}
	t.move(from, edge{z: math.Inf(1)}, mean)
	return response{t.base, w.sd * t.shift(), w.Var * t.variance, t.keep, t.pull}
}

// follow adds the interval of segment j.
func (w *walk) follow(t *tally, from, to *edge, l *piecewise, j int) {
	base := 0.0
	if from.z < 0 && to.z >= 0 {
		base = l.follow(j, w.C, w.Mean)
	}
	if q := l.curvatures[j]; q > 0 {
		t.add(from, to, w.C/(w.C+q), q/(w.C+q), base)
	} else {
		t.add(from, to, 1, 0, base)
	}
}

// tally adds up over intervals (from, to] of the standard normal x = (h-m_c)/s,
// on each of which f has a constant slope. With f' that slope,
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v
//
// (Hoeffding), a sum of positive terms over intervals and pairs of them. The
// mean of f less its value at x = 0 is the integral of (f'-f'(0)) (1-Phi) over
// x > 0 less that of (f'-f'(0)) Phi over x < 0. The interval around 0 drops out
// of it, so that nothing large cancels. With f' - f'(0) =
// (1-f'(0)) f' - f'(0) (1-f') it has its digits also where slopes are near 0 or
// near 1.
type tally struct {
	base, variance, keep, pull float64
	followed                   float64 // integral of f' Phi so far
	following, resting         float64 // the integrals of f' and of -(1-f') for the mean
	keepAt, pullAt             float64 // f'(0) and 1-f'(0)
}

// shift is the mean of f less base, in standard deviations.
func (t *tally) shift() float64 { return t.pullAt*t.following + t.keepAt*t.resting }

// add adds an interval where f has slope keep = 1 - pull, and is at base at
// x = 0, if that is in it.
func (t *tally) add(from, to *edge, keep, pull, base float64) {
	if !(from.z < to.z) {
		return
	}
	a, b := *from, *to
	share := mass(a, b)
	t.keep += keep * share
	t.pull += pull * share
	below, above := 0.0, 0.0
	if keep > 0 || b.z < 0 {
		below = area(a, b)
	}
	if a.z >= 0 || (keep > 0 && t.followed > 0) {
		above = area(b.flip(), a.flip())
	}
	if keep > 0 {
		t.variance += keep * keep * spread(a, b)
		if above > 0 {
			t.variance += 2 * t.followed * keep * above
		}
		t.followed += keep * below
	}
	switch {
	case b.z < 0:
		t.following -= keep * below
		t.resting += pull * below
	case a.z >= 0:
		t.following += keep * above
		t.resting -= pull * above
	default:
		t.base, t.keepAt, t.pullAt = base, keep, pull
	}
}

// move is add for slope one.
func (t *tally) move(a, b edge, base float64) {
	if !(a.z < b.z) {
		return
	}
	t.keep += mass(a, b)
	t.variance += spread(a, b)
	above := 0.0
	if t.followed > 0 || a.z >= 0 {
		above = area(b.flip(), a.flip())
	}
	if above > 0 {
		t.variance += 2 * t.followed * above
	}
	below := area(a, b)
	t.followed += below
	switch {
	case b.z < 0:
		t.following -= below
	case a.z >= 0:
		t.following += above
	default:
		t.base, t.keepAt, t.pullAt = base, 1, 0
	}
}

// rest is add for slope zero.
func (t *tally) rest(a, b edge, base float64) {
	t.pull += mass(a, b)
	switch {
	case b.z < 0:
		t.resting += area(a, b)
	case a.z >= 0:
		t.resting -= area(b.flip(), a.flip())
	default:
		t.base, t.keepAt, t.pullAt = base, 0, 1
	}
}
