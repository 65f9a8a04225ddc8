package loss

import "math"

// gridded is a likelihood whose posteriors at a site can be integrated together, on
// one grid of f that is fine enough for all of them.
type gridded interface {
	Likelihood
	// curvature bounds the second derivative of LogDensity, in size.
	curvature() float64
	// modes are the ends of an interval around h that holds the modes of every posterior
	// with at most k[j] examples of target y[j].
	modes(c, h float64, y, k []float64) (lo, hi float64)
}

// Grids of the posteriors.
const (
	firstFine  = 1       // first step of f, in the least width that a posterior can have
	firstField = 0.7     // first step of the field h, in 1/sqrt(c) or in its standard deviation
	gridLevels = 5       // halvings of both
	mostGrid   = 1 << 20 // numbers that a grid may have
	mostFields = 1 << 11 // fields
	mostWide   = 2000    // first steps across a posterior: beyond, even steps waste what uneven ones save
	leastMass  = 1e-200  // integral over a posterior that has its digits
)

// together are the moments (T4) of a likelihood, the same as moment by moment over the
// fields and the combinations of counts, which costs some 100 evaluations of the
// density each. Here p(y|f)^k is tabulated over f once for every combination, and so
// is the prior N(f; h, 1/c) for every field: what is left are sums of products. Both
// trapezoid rules, over f and over h, converge faster than any power of their steps. ok is
// false where the grid would be too large or does not settle.
func (x smoothMixture) together(cav Cavity) (m Moments, ok bool) {
	s, width := math.Sqrt(cav.Var), 1/math.Sqrt(cav.C)
	if x.grid == nil || !(s > 0) {
		return m, false
	}
	most, all := make([]float64, len(x.targets)), 0.0
	for i := range x.p {
		for j, k := range x.row(i) {
			most[j] = math.Max(most[j], k)
		}
	}
	for _, k := range most {
		all += k
	}
	t := table{smoothMixture: x, cav: cav, sd: s, most: most,
		fine: firstFine / math.Sqrt(cav.C+all*x.grid.curvature()), field: firstField * math.Min(1, width/s)}
	t.coarse = t.fine
	var before []posterior
	change := math.Inf(1)
	for level := range gridLevels {
		now, ok := t.posteriors()
		if !ok {
			return m, false
		}
		if level > 0 {
			last, rounding := change, 0.0
			change = 0
			for i, p := range now {
				change += x.p[i] * (p.apart(before[i].terms) + math.Abs(p.base-before[i].base)/s)
				rounding = math.Max(rounding, x.relative*(math.Abs(p.base)+math.Abs(cav.Mean))/s)
			}
			if change <= 0.1*normalError+10*rounding || (level > 1 && change <= 1e-5 && change <= last*last) {
				return x.blended(cav, now), true
			}
		}
		before = now
		t.fine, t.field = t.fine/2, t.field/2
	}
	return m, false
}

// posterior is the predictor for one combination of counts: where it puts the cavity
// mean, and its averages over the fields beside that.
type posterior struct {
	base float64
	terms
}

// blended mixes the combinations.
func (x smoothMixture) blended(cav Cavity, all []posterior) Moments {
	s := math.Sqrt(cav.Var)
	var b blend
	for i, t := range all {
		if none(x.row(i)) {
			b.add(x.p[i], response{base: cav.Mean, variance: cav.Var, keep: 1})
			continue
		}
		b.add(x.p[i], response{base: t.base, shift: s * t.terms[1], variance: cav.Var * math.Max(0, t.terms[2]-t.terms[1]*t.terms[1]), keep: t.terms[3], pull: t.terms[4]})
	}
	return clamp(b.moments())
}

// table is one pair of grids.
type table struct {
	smoothMixture
	cav         Cavity
	sd          float64
	most        []float64 // largest count of each target
	fine, field float64   // steps of f, and of h in standard deviations
	coarse      float64   // the first step of f

	first   float64     // the least f
	density [][]float64 // p(y|f)^k up to a factor, for each combination; nil where nothing is there
	prior   [3][]float64
}

// posteriors averages the predictor over the fields for each combination.
func (t *table) posteriors() ([]posterior, bool) {
	side := math.Ceil(normalReach / t.field)
	if !(2*side < mostFields) || !t.tabulate(side) {
		return nil, false
	}
	all := make([]posterior, len(t.p))
	for i := 0.0; i <= side; i++ {
		for _, z := range []float64{i * t.field, -i * t.field} {
			t.sample(all, z)
			if i == 0 {
				break
			}
		}
	}
	for c := range all {
		if t.density[c] != nil {
			all[c].terms = all[c].normalised()
		}
	}
	return all, true
}

// tabulate fills the grid of f, which reaches from the lowest to the highest field and
// as far beyond as a posterior does.
func (t *table) tabulate(side float64) bool {
	lo, hi, wide := math.Inf(1), math.Inf(-1), 0.0
	for _, z := range []float64{-side, side} {
		a, b := t.grid.modes(t.cav.C, t.cav.Mean+t.sd*z*t.field, t.targets, t.most)
		lo, hi, wide = math.Min(lo, a), math.Max(hi, b), math.Max(wide, b-a)
	}
	reach := tiltReach / math.Sqrt(t.cav.C)
	if !((wide+2*reach)/t.coarse < mostWide) {
		return false
	}
	t.first = lo - reach
	points := math.Ceil((hi + reach - t.first) / t.fine)
	if !(points*float64(len(t.p)+len(t.targets)+3) < mostGrid) {
		return false
	}
	n := int(points) + 1
	logs := make([][]float64, len(t.targets))
	for m, y := range t.targets {
		logs[m] = make([]float64, n)
		for j := range n {
			logs[m][j] = t.grid.LogDensity(t.first+float64(j)*t.fine, y)
		}
	}
	for i := range t.prior {
		t.prior[i] = make([]float64, n)
	}
	t.density = make([][]float64, len(t.p))
	for c := range t.p {
		if none(t.row(c)) {
			continue
		}
		sum, top := make([]float64, n), math.Inf(-1)
		for j := range sum {
			for m, k := range t.row(c) {
				if k > 0 {
					sum[j] += k * logs[m][j]
				}
			}
			top = math.Max(top, sum[j])
		}
		for j, v := range sum {
			sum[j] = math.Exp(v - top)
		}
		t.density[c] = sum
	}
	return true
}

// sample adds the field z standard deviations above the cavity mean, the first of all
// at z = 0.
func (t *table) sample(all []posterior, z float64) {
	c, h := t.cav.C, t.cav.Mean+t.sd*z
	lo, hi := t.grid.modes(c, h, t.targets, t.most)
	reach := tiltReach / math.Sqrt(c)
	from := max(0, int((lo-reach-t.first)/t.fine))
	to := min(len(t.prior[0]), int((hi+reach-t.first)/t.fine)+2)
	one, off, square := t.prior[0][:max(0, to-from)], t.prior[1], t.prior[2]
	off, square = off[:len(one)], square[:len(one)]
	for j := range one {
		d := t.first + float64(from+j)*t.fine - h
		g := math.Exp(-0.5 * c * d * d)
		one[j], off[j], square[j] = g, g*d, g*d*d
	}
	weight := stdPDF(z)
	for i := range all {
		if t.density[i] == nil {
			continue
		}
		mass, mean, variance := 0.0, 0.0, 0.0
		for j, v := range t.density[i][from : from+len(one)] {
			mass += one[j] * v
			mean += off[j] * v
			variance += square[j] * v
		}
		if mass > leastMass {
			mean /= mass
			variance = variance/mass - mean*mean
			mean += h
		} else {
			_, mean, variance = t.grid.TiltedMoments(c, h, t.targets, t.row(i))
		}
		if z == 0 {
			all[i].base = mean
		}
		shift, slope := (mean-all[i].base)/t.sd, c*variance
		all[i].add(weight, terms{1, shift, shift * shift, slope, 1 - slope})
	}
}
