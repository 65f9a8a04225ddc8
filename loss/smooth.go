package loss

import (
	"math"
	"slices"

	"bootbench/loss/internal/counts"
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
	likelihood  concave // of which it is the posterior mean, or nil
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
	if test == (Prediction{}) {
		return rest.moments(cav).Mean
	}
	return rest.distribution(cav).expect(test, s.targets[copy])
}

// maxCavityPrecision is the c from which on no example moves the predictor: K_ii is
// 0, or as good as.
const maxCavityPrecision = 1e40

// normalError is the absolute error of averages over the standard normal.
const normalError = 1e-9

// moments computes the moments (T4): by one rule for all rows of counts, where f is known to be smooth and
// the rule is sure, else by a quadrature for each.
func (x smoothMixture) moments(cav Cavity) Moments {
	if x.patchWidth > 0 && cav.C <= maxCavityPrecision && cav.Var > 0 {
		fields := make([]float64, 0, maxRule)
		fill := func(v []averaged, from, step float64) {
			fields = fields[:0]
			for i := range v {
				fields = append(fields, from+step*float64(i))
			}
			copy(v, x.averages(cav.C, fields))
		}
		if m, ok := ruleMoments(cav, make([]averaged, maxRule), fill); ok {
			return m.clamp()
		}
	}
	return x.perCountMoments(cav).clamp()
}

// clamp raises a shrinkage to 0 that the error of the quadrature made negative.
func (m Moments) clamp() Moments {
	if m.Shrinkage < 0 {
		m.Shrinkage, m.Response = 0, 1
	}
	return m
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
			d.curves = append(d.curves, mappedNormal{Weight: p, Mean: cav.Mean, SD: sd, f: f, noise: noise})
		}
	}
	return d
}

// rowMaps returns the predictor for each row of the counts.
func (x smoothMixture) rowMaps(cav Cavity) func(row int) risingMap {
	if x.likelihood != nil && cav.C <= maxCavityPrecision && cav.Var > 0 {
		t := &rowTable{smoothMixture: x, c: cav.C, patches: map[int]*rowPatch{}}
		t.width = t.patchWidthAt(math.Log(cav.C)/logCWidth - 0.5)
		return func(row int) risingMap { return tableRow{t, row} }
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
