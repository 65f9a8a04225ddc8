package loss

import (
	"math"
	"slices"

	"bootbench/resample"
)

// polyline is a convex, piecewise linear loss of the prediction f: slope
// slopes[j] between kinks[j-1] and kinks[j], with no kink before the first and
// after the last. Kinks rise strictly, slopes rise; the first slope may be -Inf
// and the last +Inf, which bars f from there.
type polyline struct {
	kinks, slopes []float64
}

// along are the slopes between the points of a finer list of kinks.
func (l polyline) along(kinks []float64) []float64 {
	steps := make([]float64, len(kinks)+1)
	own := 0
	for j := range steps {
		if j > 0 && own < len(l.kinks) && l.kinks[own] <= kinks[j-1] {
			own++
		}
		steps[j] = l.slopes[own]
	}
	return steps
}

// part is what the n examples of one target bring to a site: their loss, and
// the law of their count.
type part struct {
	loss polyline
	law  resample.Law
	n    int
}

// counts lists the probable counts of the part's examples. Where the window of
// the law starts above 0, the count 0 comes on top, because it alone leaves the
// cavity as it is, however small its probability.
func (t part) counts() (counts []int, p []float64) {
	window := t.law.Counts(t.n)
	if zero := resample.Zero(t.law, t.n); window.First > 0 && zero > 0 {
		counts, p = append(counts, 0), append(p, zero)
	}
	for k, q := range window.All() {
		if q > 0 {
			counts, p = append(counts, k), append(p, q)
		}
	}
	return counts, p
}

// mixture is the loss of a site, a polyline whose slopes depend on the counts:
// with probability p[i] they are row i of slopes. The kinks are common.
//
// The proximal map (T3) of a polyline with slopes b_0 <= ... <= b_m and kinks
// x_1 < ... < x_m has slope one and zero by turns:
//
//	f(h) = h - b_j/c  where that lies between x_j and x_(j+1),
//	f(h) = x_j        for x_j + b_(j-1)/c <= h <= x_j + b_j/c.
type mixture struct {
	kinks  []float64
	p      []float64
	slopes []float64 // len(p) rows of len(kinks)+1
}

// newMixture is the sum of the parts, over all combinations of their counts.
// The likeliest combination comes first.
func newMixture(parts []part) *mixture {
	x := &mixture{p: []float64{1}}
	for _, t := range parts {
		x.kinks = append(x.kinks, t.loss.kinks...)
	}
	slices.Sort(x.kinks)
	x.kinks = slices.Compact(x.kinks)
	x.slopes = make([]float64, len(x.kinks)+1)
	for _, t := range parts {
		x = x.with(t)
	}
	x.lead()
	return x
}

// with is the mixture with one more part.
func (x *mixture) with(t part) *mixture {
	sum := &mixture{kinks: x.kinks}
	steps := t.loss.along(x.kinks)
	counts, probabilities := t.counts()
	for i, p := range x.p {
		for j, k := range counts {
			sum.add(p*probabilities[j], x.row(i), float64(k), steps)
		}
	}
	return sum
}

// add appends the slopes row + k steps with probability p, or adds p to the
// last row where that has the same slopes: a hard margin asks only whether k is
// 0.
func (x *mixture) add(p float64, row []float64, k float64, steps []float64) {
	for j, b := range row {
		if k > 0 {
			b += k * steps[j]
		}
		x.slopes = append(x.slopes, b)
	}
	last := len(x.p) - 1
	if last >= 0 && slices.Equal(x.row(last), x.row(last+1)) {
		x.p[last] += p
		x.slopes = x.slopes[:len(x.slopes)-len(row)]
		return
	}
	x.p = append(x.p, p)
}

// lead swaps the likeliest row to the front.
func (x *mixture) lead() {
	best := 0
	for i, p := range x.p {
		if p > x.p[best] {
			best = i
		}
	}
	x.p[0], x.p[best] = x.p[best], x.p[0]
	first, other := x.row(0), x.row(best)
	for j := range first {
		first[j], other[j] = other[j], first[j]
	}
}

// row holds the slopes of combination i.
func (x *mixture) row(i int) []float64 {
	n := len(x.kinks) + 1
	return x.slopes[i*n : (i+1)*n]
}

// moments are the moments (T4) over h and over the combinations: the variance
// is the mean of the variances given the counts and the variance of the means,
// both sums of positive terms. Means are taken as deviations from where the
// likeliest combination puts the cavity mean, so that they keep their digits
// where all of them lie at one kink.
func (x *mixture) moments(cav Cavity) Moments {
	w := newWalk(x.kinks, cav)
	var m Moments
	var reference, shift, total float64
	for i, p := range x.p {
		r := w.respond(x.row(i))
		if i == 0 {
			reference = r.base
		}
		off := (r.base - reference) + r.shift - shift
		before := total
		total += p
		shift += p / total * off
		m.Var += p * (r.variance + before/total*off*off)
		m.Keep += p * r.keep
		m.Pull += p * r.pull
	}
	m.Mean = reference + shift
	return m
}

// law is the law of the predictor: for every combination the Gaussian cavity,
// moved and cut at the kinks, and an atom at every kink.
func (x *mixture) law(cav Cavity) Law {
	var law Law
	s := math.Sqrt(cav.Var)
	atoms := make([]float64, len(x.kinks))
	for i, p := range x.p {
		slopes := x.row(i)
		piece := Piece{Weight: p, Mean: cav.Mean - slopes[0]/cav.C, SD: s, Lo: math.Inf(-1)}
		for j, kink := range x.kinks {
			if slopes[j] == slopes[j+1] {
				continue
			}
			from := position(kink, piece.Mean, s)
			piece.Hi = kink
			law.piece(piece)
			piece.Mean, piece.Lo = cav.Mean-slopes[j+1]/cav.C, kink
			atoms[j] += p * cutMass(from, position(kink, piece.Mean, s))
		}
		piece.Hi = math.Inf(1)
		law.piece(piece)
	}
	for j, weight := range atoms {
		if weight > 0 {
			law.Atoms = append(law.Atoms, Atom{At: x.kinks[j], Weight: weight})
		}
	}
	return law
}

// polylineSite is a piecewise linear loss at one site.
type polylineSite struct {
	targets []float64
	all     *mixture
	others  []*mixture // of all examples but number j; shared between equal targets
}

// newPolylineSite binds the loss of each target. The combinations of the counts
// are those of the distinct targets: their number multiplies.
func newPolylineSite(y []float64, law resample.Law, of func(y float64) polyline) *polylineSite {
	site := &polylineSite{targets: slices.Clone(y)}
	distinct, first := []float64(nil), make(map[float64]*mixture)
	for _, v := range y {
		if !slices.Contains(distinct, v) {
			distinct = append(distinct, v)
		}
	}
	parts := func(without float64) *mixture {
		var list []part
		for _, v := range distinct {
			t := part{loss: of(v), law: law}
			for _, u := range y {
				if u == v {
					t.n++
				}
			}
			if v == without {
				t.n--
			}
			if t.n > 0 {
				list = append(list, t)
			}
		}
		return newMixture(list)
	}
	site.all = parts(math.NaN())
	for _, v := range distinct {
		first[v] = parts(v)
	}
	for _, v := range y {
		site.others = append(site.others, first[v])
	}
	return site
}

// Moments are those of the mixture over the counts of all examples.
func (s *polylineSite) Moments(cav Cavity) Moments { return s.all.moments(cav) }

// Law has cut Gaussians, and atoms at the kinks (M04-18).
func (s *polylineSite) Law(cav Cavity) Law { return s.all.law(cav) }

// LeftOut averages the test loss over the law that the site's other examples
// leave; a site of one example leaves the cavity itself (M04-17).
func (s *polylineSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	return s.others[copy].law(cav).average(test, s.targets[copy])
}
