package multifidelity

import "bootbench/resample"

// designLaw is the law of counts that depend on each other by parts of the examples: groups that are drawn
// together, or strata that are drawn within. (The first iterate is additive in the counts: marginals are
// enough for its mean, T14.)
type designLaw struct {
	part     []int // of each example
	count    int   // parts
	marginal func(part int) jointCounts
	// Given that an example is left out, the law of the others of its part, and of the other parts.
	inside, outside func(part int) jointCounts
}

// newDesignLaw is nil where the law is not known.
func newDesignLaw(draws resample.Sampler) *designLaw {
	switch s := draws.(type) {
	case resample.Grouped:
		scheme, ok := s.Groups.(resample.Scheme)
		if !ok {
			return nil
		}
		law, known := newJointCounts(scheme)
		if !known {
			return nil
		}
		given := law.givenAbsent()
		never, _ := newJointCounts(resample.Bernoulli{}) // its rate is 0
		return &designLaw{part: s.Group, count: s.Count, marginal: always(law), inside: always(never),
			outside: always(given)}
	case resample.Stratified:
		var marginal, inside []jointCounts
		for _, within := range s.Within {
			law, known := newJointCounts(within.(resample.Scheme))
			if !known {
				return nil
			}
			marginal, inside = append(marginal, law), append(inside, law.givenAbsent())
		}
		at := func(laws []jointCounts) func(int) jointCounts { return func(k int) jointCounts { return laws[k] } }
		return &designLaw{part: s.Stratum, count: len(s.Within), marginal: at(marginal), inside: at(inside),
			outside: at(marginal)}
	}
	return nil
}

func always(law jointCounts) func(int) jointCounts { return func(int) jointCounts { return law } }

// designed is the mean of the first iterate over a design, of which every example has a site: with example i
// of part p left out
//
//	E F1_i = m_i + G_ii delta_i(0) + sum_{l not in p} G_il delta_l + sum_{l in p, l != i} G_il delta_l|i
//
// with delta the means of xi - g under the law of the other parts, and of the others of i's part.
func (x *expectation) designed(d *designLaw) (*Expectation, error) {
	n := len(x.Y)
	part := make([]int, n) // of each site
	for i, site := range x.Site {
		part[site] = d.part[i]
	}
	means := func(law func(int) jointCounts) ([]float64, error) {
		mean := make([]float64, n)
		for i, site := range x.sites {
			var err error
			if mean[i], _, err = site.moments(law(part[i]), -1); err != nil {
				return nil, err
			}
		}
		return mean, nil
	}
	var delta [3][]float64
	for k, law := range []func(int) jointCounts{d.marginal, d.outside, d.inside} {
		var err error
		if delta[k], err = means(law); err != nil {
			return nil, err
		}
	}
	e := &Expectation{Mean: x.mean(delta[0]), AbsentMean: make([]float64, n)}
	outside, inside := delta[1], delta[2]
	product, of := make([]float64, n), make([]float64, n)
	x.engine.MulVecOffDiag(product, outside)
	absent := append([]float64(nil), product...)
	for p := range d.count {
		for i := range of {
			if of[i] = 0; part[i] == p {
				of[i] = inside[i] - outside[i]
			}
		}
		x.engine.MulVecOffDiag(product, of)
		for i := range absent {
			if part[i] == p {
				absent[i] += product[i]
			}
		}
	}
	for i, site := range x.Site {
		e.AbsentMean[i] = x.Solution.Mean[site] + absent[site] + x.chi[site]*x.sites[site].value([]int{0})
	}
	return e, nil
}
