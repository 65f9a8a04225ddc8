package loss

import "math"

// walk goes through the intervals on which the proximal map of a polyline has
// slope one or zero, from left to right, and adds up what the Gaussian cavity
// sees of them. It keeps the edges of the last combination of counts, some of
// which are those of the next.
type walk struct {
	Cavity
	sd    float64
	kinks []float64
	known [4]edge
}

func newWalk(kinks []float64, cav Cavity) walk {
	return walk{Cavity: cav, sd: math.Sqrt(cav.Var), kinks: kinks, known: [4]edge{origin, origin, origin, origin}}
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
// base + shift, where base = f(m_c); its variance; and the cavity's mass where
// f has slope one (keep) and zero (pull).
type response struct {
	base, shift, variance, keep, pull float64
}

// respond walks through the intervals for one row of slopes.
func (w *walk) respond(slopes []float64) response {
	var t tally
	mean := w.Mean - slopes[0]/w.C
	from, straight := edge{z: math.Inf(-1)}, true
	for j, kink := range w.kinks {
		if slopes[j] == slopes[j+1] {
			continue
		}
		straight = false
		to := w.edge(2*j, position(kink, mean, w.sd))
		t.follow(from, to, mean)
		mean = w.Mean - slopes[j+1]/w.C
		from = w.edge(2*j+1, position(kink, mean, w.sd))
		t.rest(to, from, kink)
	}
	if straight {
		return response{base: mean, variance: w.Var, keep: 1}
	}
	t.follow(from, edge{z: math.Inf(1)}, mean)
	return response{t.base, w.sd * t.shift(), w.Var * t.variance, t.keep, t.pull}
}

// tally adds up over intervals (from, to] of the standard normal x = (h-m_c)/s.
// With f' = 1 on some and 0 on the others,
//
//	variance = 2 x double integral of f'(u) f'(v) Phi(u) (1-Phi(v)) over u < v
//
// (Hoeffding), a sum of positive terms over intervals and pairs of them. The
// mean of f less its value at x = 0 is
//
//	integral of f' (1-Phi) over x > 0 less integral of f' Phi over x < 0,
//
// and the same with (1-f') and the other sign. The one that leaves out the
// interval around 0 is taken, so that nothing large cancels.
type tally struct {
	base, variance, keep, pull float64
	followed                   float64 // integral of Phi so far where f' = 1
	following, resting         float64 // the mean by either form
	rests                      bool    // at x = 0
}

// shift is the mean of f less base, in standard deviations.
func (t *tally) shift() float64 {
	if t.rests {
		return t.following
	}
	return t.resting
}

// follow adds an interval where f = h + const, whose mean is mean.
func (t *tally) follow(a, b edge, mean float64) {
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
		t.base = mean
	}
}

// rest adds an interval where f stays at a kink.
func (t *tally) rest(a, b edge, kink float64) {
	t.pull += mass(a, b)
	switch {
	case b.z < 0:
		t.resting += area(a, b)
	case a.z >= 0:
		t.resting -= area(b.flip(), a.flip())
	default:
		t.base, t.rests = kink, true
	}
}
