package loss

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"bootbench/loss/internal/normal"
)

// Limits of tables.
const (
	minAlike   = 16   // sites from which a table pays
	logCWidth  = 0.25 // of a patch
	logCOrder  = 12   // Chebyshev points of a patch in log c
	fieldOrder = 24   // in h
	// size of omitted coefficients; the last two of each direction must be below 100 times it
	patchTol        = 1e-12
	maxWindow       = 40   // patches within reach of a cavity at most
	leastTableSD    = 0.02 // of the cavities that are served, in units of 1/sqrt(c)
	leastResponse   = 1e-4 // below which relative accuracy matters
	halfRule        = 12   // points of the trapezoid rule on either side of the mean
	ruleHalvings    = 2    // of its step, where its halves differ
	maxRule         = 2*halfRule<<ruleHalvings + 1
	ruleReach       = 7.2  // standard deviations; leaves out 1e-12 of the mass
	likelihoodPatch = 3    // width in h of patches, in standard deviations of the posterior
	ruleTol         = 3e-6 // largest difference of its halves; the error is about the square
)

// siteTable is the predictor of sites with equivalent examples, averaged over the counts, as a function of
// log c and the field h: by Chebyshev interpolation on patches, made at their first use.
type siteTable struct {
	smoothMixture
	mu      sync.Mutex
	patches map[patchKey]*tablePatch
}

// patchKey is the number of a patch in log c and in h.
type patchKey struct{ logC, field int }

// tablePatch holds Chebyshev coefficients: for every degree in h a row of degrees in log c.
type tablePatch struct {
	once   sync.Once
	coarse bool // the coefficients do not decay far enough
	rows   [][]averaged
}

// canonical are the sorted targets that represent equivalent sites: labels up to a common sign.
func (p *predictor) canonical(y []float64) (targets []float64, sign float64) {
	targets, sign = slices.Clone(y), 1
	if p.mirrored && floats.Sum(y) < 0 {
		sign = -1
		floats.Scale(-1, targets)
	}
	slices.Sort(targets)
	return targets, sign
}

// Share gives equivalent sites a common table if they are many. All must have the same loss and law, and none
// be in use.
func Share(sites []Site) {
	alike := map[string][]*smoothSite{}
	for _, site := range slices.Concat(sites, partsOf(sites)) {
		if s, ok := site.(*smoothSite); ok && s.patchWidth > 0 {
			var targets []float64
			targets, s.sign = s.canonical(s.targets)
			key := fmt.Sprint(targets)
			alike[key] = append(alike[key], s)
		}
	}
	for _, group := range alike {
		if len(group) < minAlike {
			continue
		}
		targets, _ := group[0].canonical(group[0].targets)
		table := &siteTable{smoothMixture: newSmoothMixture(group[0].predictor, targets, group[0].law),
			patches: map[patchKey]*tablePatch{}}
		for _, s := range group {
			s.table = table
		}
	}
}

// moments averages the table over the cavity of a site with that sign of the canonical targets. It returns
// false if it is less accurate than quadrature.
func (t *siteTable) moments(cav Cavity, sign float64) (Moments, bool) {
	root, sd := math.Sqrt(cav.C), math.Sqrt(cav.Var)
	if !(sd*root >= leastTableSD && cav.C <= maxCavityPrecision) {
		return Moments{}, false
	}
	w := windows.Get().(*tableWindow)
	defer windows.Put(w)
	mean := sign * cav.Mean
	if !w.set(t, cav.C, mean-ruleReach*sd, mean+ruleReach*sd) {
		return Moments{}, false
	}
	m, ok := ruleMoments(Cavity{cav.C, mean, cav.Var}, w.values[:], w.fill)
	m.Mean *= sign
	return m, ok
}

// ruleMoments averages over the cavity by the trapezoid rule; fill computes the averages over the counts at
// equidistant fields. It returns false if the rule's two halves differ, or the response is small.
func ruleMoments(cav Cavity, values []averaged, fill func(v []averaged, from, step float64)) (Moments, bool) {
	root, sd := math.Sqrt(cav.C), math.Sqrt(cav.Var)
	for half, tries := halfRule, 0; tries <= ruleHalvings; half, tries = 2*half, tries+1 {
		v := values[:2*half+1]
		fill(v, cav.Mean-ruleReach*sd, sd*ruleReach/float64(half))
		if m, ok := averageRule(v, ruleWeights[tries], sd*root); ok {
			m.Mean = cav.Mean + m.Mean/root
			m.Var /= cav.C
			return m, m.Response >= leastResponse
		}
	}
	return Moments{}, false
}

// ruleWeights are the densities at the points of the trapezoid rules.
var ruleWeights = func() (rules [ruleHalvings + 1][]float64) {
	for tries := range rules {
		half := halfRule << tries
		for i := range 2*half + 1 {
			rules[tries] = append(rules[tries], normal.PDF(ruleReach*float64(i-half)/float64(half)))
		}
	}
	return rules
}()

// averageRule averages the values at -ruleReach ... ruleReach standard deviations over the cavity of the
// given standard deviation in units of 1/sqrt(c): Mean is the mean of f - m_c. It returns false if the rule
// on every second point differs.
func averageRule(v []averaged, weights []float64, sd float64) (m Moments, ok bool) {
	half := len(v) / 2
	var sums [2]averaged
	var mass [2]float64
	for i, w := range weights {
		s, at := &sums[i&1], &v[i]
		mass[i&1] += w
		s[0] += w * at[0]
		s[1] += w * at[1]
		s[2] += w * at[2]
	}
	total := mass[0] + mass[1]
	for q := range sums[0] {
		even, odd := sums[0][q]/mass[0], sums[1][q]/mass[1]
		if !(math.Abs(even-odd) <= ruleTol) {
			return m, false
		}
	}
	m.Mean = (sums[0][0] + sums[1][0]) / total
	m.Var = (sums[0][1] + sums[1][1]) / total
	m.Shrinkage = (sums[0][2] + sums[1][2]) / total
	m.Response = 1 - m.Shrinkage
	scatter := 0.0 // variance over the cavity of the mean over counts
	step := sd * ruleReach / float64(half)
	for i, w := range weights {
		off := step*float64(i-half) + v[i][0] - m.Mean
		scatter += w * off * off
	}
	m.Var += scatter / total
	return m, true
}

// tableWindow is a table at one c, around a cavity: polynomials in h, one for every patch.
type tableWindow struct {
	width  float64 // of a patch
	first  int     // patch
	terms  [][]averaged
	buffer [maxWindow * fieldOrder]averaged
	values [maxRule]averaged
}

var windows = sync.Pool{New: func() any { return new(tableWindow) }}

// set evaluates the patches between two fields at c.
func (w *tableWindow) set(t *siteTable, c, from, to float64) bool {
	logC := math.Log(c) / logCWidth
	row := math.Floor(logC)
	w.width = t.patchWidthAt(row)
	lo, hi := math.Floor(from/w.width), math.Floor(to/w.width)
	if !(hi-lo < maxWindow && math.Abs(lo) < 1e6) {
		return false
	}
	w.first, w.terms = int(lo), w.terms[:0]
	var basis [logCOrder]float64
	chebyshev(basis[:], 2*(logC-row)-1)
	buffer := w.buffer[:]
	for j := range int(hi-lo) + 1 {
		p := t.patch(patchKey{int(row), w.first + j})
		if p.coarse {
			return false
		}
		terms := buffer[:len(p.rows)]
		buffer = buffer[len(p.rows):]
		for degree, coefficients := range p.rows {
			var a, b, c float64
			for i := range coefficients {
				v, t := &coefficients[i], basis[i]
				a += t * v[0]
				b += t * v[1]
				c += t * v[2]
			}
			terms[degree] = averaged{a, b, c}
		}
		w.terms = append(w.terms, terms)
	}
	return true
}

// patchWidthAt is the width in h of the patches of a row: the loss's, or more if a posterior of width
// 1/sqrt(c) is smoother.
func (p *predictor) patchWidthAt(row float64) float64 {
	if p.likelihood == nil {
		return p.patchWidth
	}
	return math.Hypot(p.patchWidth, likelihoodPatch*math.Exp(-0.5*logCWidth*(row+0.5)))
}

// fill evaluates the table at equidistant fields in the window.
func (w *tableWindow) fill(v []averaged, from, step float64) {
	for i := range v {
		place := (from + step*float64(i)) / w.width
		patch := min(max(0, int(math.Floor(place))-w.first), len(w.terms)-1)
		v[i] = clenshaw(w.terms[patch], 2*(place-float64(w.first+patch))-1)
	}
}

// patch returns a patch, made at its first use.
func (t *siteTable) patch(key patchKey) *tablePatch {
	t.mu.Lock()
	p := t.patches[key]
	if p == nil {
		p = &tablePatch{}
		t.patches[key] = p
	}
	t.mu.Unlock()
	p.once.Do(func() { p.fill(t, key) })
	return p
}

// fill interpolates the averages over the counts at the patch's Chebyshev points.
func (p *tablePatch) fill(t *siteTable, key patchKey) {
	fields := patchFields(t.patchWidthAt(float64(key.logC)), key.field, fieldOrder)
	var rows [fieldOrder][]averaged // coefficients by degree in h, at Chebyshev points in log c
	for i := range logCOrder {
		c := math.Exp(logCWidth * (float64(key.logC) + 0.5*(1+chebyshevPoint(i, logCOrder))))
		for degree, v := range chebyshevFit(t.averages(c, fields)) {
			rows[degree] = append(rows[degree], v)
		}
	}
	for _, row := range rows {
		p.rows = append(p.rows, chebyshevFit(row))
	}
	p.trim()
}

// trim drops negligible coefficients, and checks that they decay far enough.
func (p *tablePatch) trim() {
	for e, row := range p.rows {
		keep := 0
		for d := range row {
			size := row[d].largest()
			if !(size <= patchTol) {
				keep = d + 1
			}
			if (e >= fieldOrder-2 || d >= logCOrder-2) && !(size <= 100*patchTol) {
				p.coarse = true
			}
		}
		p.rows[e] = row[:keep]
	}
	for len(p.rows) > 1 && len(p.rows[len(p.rows)-1]) == 0 {
		p.rows = p.rows[:len(p.rows)-1]
	}
}

// averages computes the averages over the counts at fields.
func (x smoothMixture) averages(c float64, fields []float64) []averaged {
	n, root := len(x.P), math.Sqrt(c)
	all := make([]averaged, len(fields))
	f, slope := make([]float64, n*len(fields)), make([]float64, n*len(fields))
	if x.likelihood != nil {
		x.posteriors(c, fields, f, slope)
	} else {
		for i := range n {
			row := x.rowMap(c, 1e-12/root, x.Row(i))
			for j, h := range fields {
				f[j*n+i], slope[j*n+i], _ = row.evaluate(h)
			}
		}
	}
	for j, h := range fields {
		a := &all[j]
		for i, p := range x.P {
			a[0] += p * (f[j*n+i] - h)
			a[2] += p * (1 - slope[j*n+i])
		}
		for i, p := range x.P {
			off := f[j*n+i] - h - a[0]
			a[1] += p * off * off
		}
		a[0] *= root
		a[1] *= c
	}
	return all
}
