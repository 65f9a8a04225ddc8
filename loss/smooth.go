package loss

import (
	"math"
	"slices"
	"sync"

	"bootbench/loss/internal/counts"
	"bootbench/loss/internal/normal"
	"bootbench/resample"
)

// predictor is the predictor f at a site as a function of the cavity field h, and
// what is known of it.
type predictor struct {
	// at is f given k[j] examples of each target y[j], and its slope df/dh.
	at func(c, h float64, y, k []float64) (f, slope float64)
	// The error of f: relative to f and h, and in units of the prior's standard
	// deviation 1/sqrt(c).
	relative, prior float64
	// derivatives are those of Differentiable, nil if unknown.
	derivatives func(f, y float64) (first, second float64)
	// f is analytic for h within strip of the real axis; or analytic and bends on
	// no less than scale, in units of 1/sqrt(c). 0 if unknown.
	strip, scale float64
	likelihood   tabulable // nil but for likelihoods that can be tabulated
	// patchWidth is the width in h of a siteTable's patches, 0: there are none.
	patchWidth float64
	mirrored   bool // labels and predictor may change their signs together
}

// exactPredictor is a predictor exact to rounding.
func exactPredictor(at func(c, h float64, y, k []float64) (f, slope float64)) predictor {
	return predictor{at: at, relative: 0x1p-51}
}

// noise is the error of the value f at the field h.
func (p predictor) noise(c, h, f float64) float64 {
	return p.relative*(math.Abs(f)+math.Abs(h)) + p.prior/math.Sqrt(c)
}

// smoothSite is a site whose predictor is known by evaluation.
type smoothSite struct {
	predictor
	targets  []float64
	law      resample.CountDistribution
	all      smoothMixture
	table    *siteTable // of the sites alike, or nil
	standard standard
}

// smoothMixture is the predictor over the joint counts.
type smoothMixture struct {
	predictor
	*counts.Joint
}

func newSmoothSite(y []float64, law resample.CountDistribution, p predictor) *smoothSite {
	return &smoothSite{predictor: p, targets: slices.Clone(y), law: law, all: newSmoothMixture(p, y, law)}
}

func newSmoothMixture(p predictor, y []float64, law resample.CountDistribution) smoothMixture {
	x := smoothMixture{p, counts.New(y, law).Prune(math.Max(counts.MinProb, p.prior))}
	x.LikeliestFirst()
	return x
}

// Moments averages over the cavity and over the counts: by the table that the site shares
// with others, where that can, else by quadrature of its own.
func (s *smoothSite) Moments(cav Cavity) Moments {
	if s.table != nil {
		if m, ok := s.table.moments(cav, s.standard); ok {
			return m.clamp()
		}
	}
	return s.all.moments(cav)
}

// Distribution is a mapped Gaussian for every row of the counts.
func (s *smoothSite) Distribution(cav Cavity) Distribution { return s.all.distribution(cav) }

// LeftOut averages the test loss over the distribution that the site's other
// examples leave; a site of one example leaves the cavity itself (M03-45).
func (s *smoothSite) LeftOut(cav Cavity, copy int, test Test) float64 {
	rest := newSmoothMixture(s.predictor, others(s.targets, copy), s.law)
	return rest.distribution(cav).expect(test, s.targets[copy])
}

// maxCavityPrecision is the c from which on no example moves the predictor: K_ii is
// 0, or as good as.
const maxCavityPrecision = 1e40

// normalError is the absolute error of averages over the standard normal.
const normalError = 1e-9

// moments computes the moments (T4).
func (x smoothMixture) moments(cav Cavity) Moments {
	integrate := x.perCountMoments
	if x.likelihood != nil && cav.C <= maxCavityPrecision && cav.Var > 0 {
		integrate = x.jointMoments
	}
	return integrate(cav).clamp()
}

// clamp raises a shrinkage to 0 that the error of the quadrature made negative.
func (m Moments) clamp() Moments {
	if m.Shrinkage < 0 {
		m.Shrinkage, m.Response = 0, 1
	}
	return m
}

// jointMoments averages all rows of counts at once, in units of about the standard
// deviation of the predictor.
func (x smoothMixture) jointMoments(cav Cavity) Moments {
	s := math.Sqrt(cav.Var)
	n := len(x.P)
	m := mixedMap{table: newQuadTable(x, cav.C, cav.Mean, cavityReach*s, x.P), cav: cav, sd: s, unit: s,
		f: make([]float64, n), slope: make([]float64, n)}
	m.table.all(cav.Mean, m.f, m.slope)
	for i, p := range x.P {
		m.base += p * m.f[i]
	}
	for i, p := range x.P {
		m.unit = math.Hypot(m.unit, math.Sqrt(p)*(m.f[i]-m.base))
	}
	t := normal.Average(&m, normal.Options{
		Tol: 0.1 * normalError, Noise: x.prior + x.noise(cav.C, cav.Mean, m.base)/m.unit,
		Rate: s / m.unit, Scale: x.scale / (s * math.Sqrt(cav.C)),
	})
	return Moments{Mean: m.base + m.unit*t[0], Var: m.unit * m.unit * math.Max(0, t[1]-t[0]*t[0]),
		Response: t[2], Shrinkage: t[3]}
}

// cavityReach is how far tables go, in standard deviations of the cavity.
const cavityReach = 8

// mixedMap is the predictor of all rows of counts, averaged, as a function of the
// field in standard deviations of the cavity.
type mixedMap struct {
	table      *quadTable
	cav        Cavity
	sd         float64
	base, unit float64 // of f
	f, slope   []float64
}

func (m *mixedMap) Terms(z float64) (t normal.Terms) {
	m.table.all(m.cav.Mean+m.sd*z, m.f, m.slope)
	for i, p := range m.table.P {
		off, slope := (m.f[i]-m.base)/m.unit, m.slope[i]
		t[0] += p * off
		t[1] += p * off * off
		t[2] += p * slope
		t[3] += p * (1 - slope)
	}
	return t
}

// perCountMoments averages every row of counts on its own.
func (x smoothMixture) perCountMoments(cav Cavity) Moments {
	var m mixtureMoments
	site := newSiteMap(x, cav)
	for i, p := range x.P {
		r := site.response(p, x.Row(i))
		m.add(p, &r)
	}
	return m.moments()
}

// distribution is that of the predictor.
func (x smoothMixture) distribution(cav Cavity) Distribution {
	var d Distribution
	sd := math.Sqrt(cav.Var)
	row := x.rowMaps(cav)
	for i, p := range x.P {
		switch {
		case counts.IsEmpty(x.Row(i)):
			d.addGaussian(p, cav.Mean, cav.Var)
		case sd == 0:
			d.Atoms = append(d.Atoms, Atom{At: row(i).at(cav.Mean).f, Weight: p})
		default:
			f := row(i)
			noise := x.noise(cav.C, math.Abs(cav.Mean)+curveReach*sd, f.at(cav.Mean).f)
			d.Curves = append(d.Curves, MappedNormal{Weight: p, Mean: cav.Mean, SD: sd, f: f, noise: noise})
		}
	}
	return d
}

// rowMaps returns the predictor for each row of the counts.
func (x smoothMixture) rowMaps(cav Cavity) func(row int) risingMap {
	if x.likelihood != nil && cav.C <= maxCavityPrecision && cav.Var > 0 {
		ones := slices.Repeat([]float64{1}, len(x.P))
		table := &lockedTable{quadTable: newQuadTable(x, cav.C, cav.Mean, curveReach*math.Sqrt(cav.Var), ones)}
		return func(row int) risingMap { return tableRow{table, row} }
	}
	return func(row int) risingMap {
		m := newSiteMap(x, cav)
		m.setCounts(x.Row(row))
		if x.derivatives != nil {
			return pushedRow{m}
		}
		return evaluatedRow{m}
	}
}

// lockedTable is a table that several may look into at once.
type lockedTable struct {
	mu sync.Mutex
	*quadTable
}

// tableRow is the predictor of a likelihood for one row of counts.
type tableRow struct {
	table *lockedTable
	row   int
}

func (r tableRow) at(h float64) point {
	r.table.mu.Lock()
	defer r.table.mu.Unlock()
	f, slope := r.table.alone(r.row, h)
	return point{h, f, slope}
}

// evaluatedRow is the predictor for one row of counts, by its map.
type evaluatedRow struct{ m *siteMap }

func (r evaluatedRow) at(h float64) point {
	m := *r.m // which remembers
	f, slope, _ := m.evaluate(h)
	return point{h, f, slope}
}

// pushedRow is evaluatedRow where the derivative of the loss is known: h = f + sum_j k_j l'(f, y_j)/c (T3).
type pushedRow struct{ m *siteMap }

func (r pushedRow) at(h float64) point { return evaluatedRow(r).at(h) }

func (r pushedRow) crossing(x float64, _ bool) point {
	push, curvature := r.m.push(x)
	return point{x + push, x, 1 / (1 + curvature)}
}
