package multifidelity

import "bootbench/resample"

// designLaw is the law of counts that depend on each other by parts of the examples: groups that are drawn
// together, or strata that are drawn within. (The first iterate is additive in the counts: marginals are
// enough for its mean, T14.)
type designLaw struct {
	part []int // of each example
	// Laws of the counts in each part: at all; given that an example of it, or of another, is left out.
	marginal, inside, outside []jointCounts
}

// newDesignLaw reports false where the law is not known.
func newDesignLaw(draws resample.Sampler) (d designLaw, known bool) {
	switch s := draws.(type) {
	case resample.Grouped:
		scheme, ok := s.Groups.(resample.Scheme)
		if !ok {
			return d, false
		}
		law, known := newJointCounts(scheme)
		given := law.givenAbsent()
		never, _ := newJointCounts(resample.Bernoulli{}) // its rate is 0
		d.part = s.Group
		for range s.Count {
			d.marginal, d.inside, d.outside = append(d.marginal, law), append(d.inside, never),
				append(d.outside, given)
		}
		return d, known
	case resample.Stratified:
		d.part, known = s.Stratum, true
		for _, within := range s.Within {
			law, ok := newJointCounts(within.(resample.Scheme))
			d.marginal, d.inside, known = append(d.marginal, law), append(d.inside, law.givenAbsent()), known && ok
		}
		d.outside = d.marginal
	}
	return d, known
}

// designed is the mean of the first iterate over a design, of which every example has a site: with example i
// of part p left out
//
//	E F1_i = m_i + G_ii delta_i(0) + sum_{l not in p} G_il delta_l + sum_{l in p, l != i} G_il delta_l|i
//
// with delta the means of xi - g under the law of the other parts, and of the others of i's part.
func (x *expectation) designed(d designLaw) (*Expectation, error) {
	n := len(x.Y)
	part := make([]int, n) // of each site
	for i, site := range x.Site {
		part[site] = d.part[i]
	}
	var delta [3][]float64
	for k, laws := range [][]jointCounts{d.marginal, d.outside, d.inside} {
		for i, site := range x.sites {
			mean, _, err := site.moments(laws[part[i]], -1)
			if err != nil {
				return nil, err
			}
			delta[k] = append(delta[k], mean)
		}
	}
	e := &Expectation{Mean: x.mean(delta[0]), AbsentMean: make([]float64, n)}
	outside, inside, product, of := delta[1], delta[2], make([]float64, n), make([]float64, n)
	x.engine.MulVecOffDiag(product, outside)
	for i, site := range x.Site {
		e.AbsentMean[i] = x.Solution.Mean[site] + product[site] + x.chi[site]*x.sites[site].value([]int{0})
	}
	for p := range d.marginal {
		for l := range of {
			if of[l] = 0; part[l] == p {
				of[l] = inside[l] - outside[l]
			}
		}
		x.engine.MulVecOffDiag(product, of)
		for i, site := range x.Site {
			if part[site] == p {
				e.AbsentMean[i] += product[site]
			}
		}
	}
	return e, nil
}
