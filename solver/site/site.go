// Package site computes the response of a site, a distinct input with its examples, to its cavity (T4, T6).
package site

import (
	"fmt"
	"math"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Limits of the site parameters.
const (
	// minResponse bounds c chi from below, and so d = c (1 - c chi)/(c chi) from above. A site with smaller
	// p(0) is always present; d = c/p(0) would overflow, and 1e10 c pins the predictor as well: the relative
	// change of the other cavities is 1e-10.
	minResponse = 1e-10

	// minInverse is the smallest 1/d, relative to K_ii. The rounding of K is 2^-53; with K replaced by its
	// numerical low-rank factor (linalg.Dense.UseFactor), d up to 2^60/K_ii loses no accuracy.
	minInverse = 0x1p-60

	// minVariance is the smallest V_c, relative to K_ii: a standard deviation of 1e-10 acts as a jump.
	minVariance = 1e-20
)

// SmallestVariance replaces chi = 0 at K_ii = 0, where the predictor is 0 in every resample: the fourth power
// of its inverse c does not overflow.
const SmallestVariance = 1e-70

// Site is a distinct input with a loss bound to its examples.
type Site struct {
	loss.Site
	Examples    []int
	Weight      float64 // of its examples
	MinVariance float64 // smallest V_c
	minInverse  float64 // smallest 1/d
}

// Group puts the examples on their sites and binds the loss to each. weights are the examples' weights, equal
// within a site, nil for 1. diagonal is K's.
func Group(siteOf linalg.Sites, y, weights []float64, l loss.Loss, law resample.CountDistribution,
	diagonal []float64) ([]Site, error) {
	sites := make([]Site, len(diagonal))
	for example := range y {
		at := siteOf.At(example)
		sites[at].Examples = append(sites[at].Examples, example)
		if weights == nil {
			sites[at].Weight = 1
		} else if w := &sites[at].Weight; *w == 0 || *w == weights[example] {
			*w = weights[example]
		} else {
			return nil, fmt.Errorf("site %d holds examples of different weights", at+1)
		}
	}
	for i, v := range diagonal {
		if len(sites[i].Examples) == 0 {
			return nil, fmt.Errorf("site %d holds no example", i+1)
		}
		k := math.Max(v, SmallestVariance)
		sites[i].MinVariance, sites[i].minInverse = minVariance*k, k*minInverse
	}
	sites, err := Bind(sites, y, l, law)
	if err != nil {
		return nil, err
	}
	ofLoss := map[float64][]loss.Site{} // by weight
	for _, s := range sites {
		ofLoss[s.Weight] = append(ofLoss[s.Weight], s.Site)
	}
	for _, alike := range ofLoss {
		loss.Share(alike)
	}
	return sites, nil
}

// Bind returns the sites with another loss and law; y are the targets of all examples, unless the law
// generates them.
func Bind(sites []Site, y []float64, l loss.Loss, law resample.CountDistribution) ([]Site, error) {
	generated, random := law.(resample.Generated)
	law = resample.Cache(law)
	type alone struct{ target, weight float64 }
	single, times := map[alone]loss.Site{}, map[float64]loss.Loss{} // of one example; the loss by weight
	bind := func(targets []float64, weight float64) (bound loss.Site, err error) {
		if times[weight] == nil {
			if times[weight], err = loss.Times(l, weight); err != nil {
				return nil, err
			}
		}
		bound, known := single[alone{targets[0], weight}]
		if !known || len(targets) > 1 {
			bound, err = times[weight].Site(targets, law)
		}
		if len(targets) == 1 {
			single[alone{targets[0], weight}] = bound
		}
		return bound, err
	}
	all := append([]Site(nil), sites...)
	for i := range all {
		at := &all[i]
		targets, p := [][]float64{make([]float64, len(at.Examples))}, []float64(nil)
		for copy, example := range at.Examples {
			targets[0][copy] = y[example]
		}
		if random {
			targets, p = generated.Alternatives(at.Examples)
		}
		var parts []loss.Site
		for _, y := range targets {
			bound, err := bind(y, at.Weight)
			if err != nil {
				return nil, fmt.Errorf("site %d: %w", i+1, err)
			}
			parts = append(parts, bound)
		}
		if at.Site = parts[0]; random {
			at.Site = loss.Drawn(targets, p, parts)
		}
	}
	return all, nil
}

// EachLeftOut calls f with the left-out loss of every example. Examples of equal target have the same; for a
// site of one example it is the cavity's, for every training loss (M03-45).
func (s *Site) EachLeftOut(cav loss.Cavity, y []float64, test loss.Test, f func(example int, value float64)) {
	if len(s.Examples) == 1 {
		f(s.Examples[0], test.Gaussian(cav.Mean, cav.Var, y[s.Examples[0]]))
		return
	}
	byTarget := map[float64]float64{}
	for copy, example := range s.Examples {
		value, known := byTarget[y[example]]
		if !known {
			value = s.LeftOut(cav, copy, test)
			byTarget[y[example]] = value
		}
		f(example, value)
	}
}

// Response is c chi, kept away from zero.
func (s *Site) Response(c float64, m loss.Moments) float64 {
	least := c * s.minInverse
	return math.Max(m.Response, math.Max(minResponse, least/(1+least)))
}

// Parameters are the site parameters that give the site, in its cavity, the moments m (T4, T6):
//
//	d = c (1 - c chi)/(c chi),   g = m/chi - c m_c,   u = V/chi^2 - c^2 V_c.
//
// u >= 0, since by Cauchy and Schwarz V V_c >= cov(f, h)^2 = (V_c c chi)^2.
func (s *Site) Parameters(cav loss.Cavity, m loss.Moments) (d, g, u float64) {
	response := s.Response(cav.C, m)
	g, u = MatchMoments(cav, m, response)
	return cav.C * m.Shrinkage / response, g, u
}

// Slopes are the derivatives of the Parameters d, g, u with respect to log c, m_c and log V_c, a row for each
// of these; ok is false where the site does not know them.
func (s *Site) Slopes(cav loss.Cavity, d, g, u float64) (by [3][3]float64, ok bool) {
	sloped, ok := s.Site.(loss.Sloped)
	if !ok {
		return by, false
	}
	of, ok := sloped.MomentSlopes(cav)
	if !ok {
		return by, false
	}
	c, response := cav.C, cav.C/(cav.C+d)
	limited := response <= s.Response(c, loss.Moments{})*(1+1e-9)           // constant
	by = [3][3]float64{{d, g, 2 * u}, {0, -c, 0}, {0, 0, -c * c * cav.Var}} // at constant moments
	for k, m := range of {
		if limited {
			m.Response = 0
		}
		relative := m.Response / response
		by[k][0] += c*m.Shrinkage/response - d*relative
		by[k][1] += c*m.Mean/response - (g+c*cav.Mean)*relative
		by[k][2] += c*c*m.Var/(response*response) - 2*(u+c*c*cav.Var)*relative
		if u == 0 {
			by[k][2] = 0
		}
	}
	return by, true
}

// MatchMoments computes the g and u that give the site its mean and variance at chi = response/c.
func MatchMoments(cav loss.Cavity, m loss.Moments, response float64) (g, u float64) {
	return cav.C * (m.Mean/response - cav.Mean), math.Max(0, cav.C*cav.C*(m.Var/(response*response)-cav.Var))
}
