package multifidelity

import (
	"math"

	"bootbench/resample"
)

// countLaw is the law of the examples' counts by parts that do not depend on each other: groups that are
// drawn together, strata that are drawn within, or of a scheme all examples. (The first iterate is additive
// in the counts: marginals are enough for its mean, T14.)
type countLaw struct {
	part []int // of each example
	// Laws of the counts in each part: at all; given that an example of it, or of another, is left out.
	marginal, inside, outside []*jointCounts
}

// newCountLaw reports false where the law of n examples is not known.
func newCountLaw(scheme resample.Scheme, n int) (law countLaw, known bool) {
	designed, ok := scheme.(resample.Designed)
	if !ok {
		return within(make([]int, n), scheme)
	}
	switch s := designed.Draws.(type) {
	case resample.Grouped:
		groups, ok := s.Groups.(resample.Scheme)
		if !ok {
			return law, false
		}
		marginal, known := newJointCounts(groups)
		given, never := marginal.givenAbsent(), &jointCounts{scheme: resample.Cache(resample.Bernoulli{})} // rate 0
		law.part = s.Group
		for range s.Count {
			law.marginal, law.inside = append(law.marginal, marginal), append(law.inside, never)
			law.outside = append(law.outside, given)
		}
		return law, known
	case resample.Stratified:
		return within(s.Stratum, s.Within...)
	}
	return law, false
}

// within is the law of draws within parts.
func within[S resample.Scheme](part []int, draws ...S) (law countLaw, known bool) {
	law.part, known = part, true
	for _, d := range draws {
		marginal, ok := newJointCounts(d)
		known = known && ok
		law.marginal, law.inside = append(law.marginal, marginal), append(law.inside, marginal.givenAbsent())
	}
	law.outside = law.marginal
	return law, known
}

// jointCounts is the exact joint law of the examples' counts under a scheme, where
// resample.CountDistribution takes examples as independent. Under all schemes examples are
// exchangeable: the law is that of independent counts, or a mixture of draws from urns.
type jointCounts struct {
	scheme *resample.Cached
	urns   []urn                   // none: independent
	totals map[int]resample.Counts // of n examples, see total
}

// urn draws from examples, all alike.
type urn struct {
	weight          float64
	draws, examples int
	replace         bool
}

// newJointCounts reports false for a scheme that it does not know.
func newJointCounts(s resample.Scheme) (c *jointCounts, known bool) {
	c = &jointCounts{scheme: resample.Cache(s), totals: map[int]resample.Counts{}}
	switch s := s.(type) {
	case resample.Poisson, resample.Bernoulli:
	case resample.Multinomial:
		c.urns = []urn{{1, s.Size, s.N, true}}
	case resample.Subsample:
		c.urns = []urn{{1, s.Size, s.N, false}}
	case resample.KFold:
		size, larger := s.N/s.Folds, s.N%s.Folds
		for _, fold := range []struct{ size, count int }{{size + 1, larger}, {size, s.Folds - larger}} {
			if fold.count > 0 {
				c.urns = append(c.urns, urn{float64(fold.count) / float64(s.Folds), s.N - fold.size, s.N, false})
			}
		}
	default:
		return c, false
	}
	return c, true
}

// independent says whether the counts of different examples are.
func (c *jointCounts) independent() bool { return c.urns == nil }

// givenAbsent is the law of the other examples' counts, given that one is left out.
func (c *jointCounts) givenAbsent() *jointCounts {
	if c.independent() {
		return c
	}
	given, total := &jointCounts{scheme: c.scheme, totals: map[int]resample.Counts{}}, 0.0
	for _, u := range c.urns {
		u.weight *= u.prob([]int{1}, []int{0})
		u.examples--
		total += u.weight
		if u.weight > 0 {
			given.urns = append(given.urns, u)
		}
	}
	for i := range given.urns {
		given.urns[i].weight /= total
	}
	return given
}

// total is the law of the total count of n examples, on a window of counts that
// resample.CountDistribution leaves no more than 1e-17 outside of.
func (c *jointCounts) total(n int) resample.Counts {
	if c.independent() {
		return c.scheme.Counts(n)
	}
	law, known := c.totals[n]
	if !known {
		law.First = c.scheme.Counts(n).First
		for j := range c.scheme.Counts(n).P {
			law.P = append(law.P, c.prob([]int{n}, []int{law.First + j}))
		}
		c.totals[n] = law
	}
	return law
}

// prob is the probability that sets of n[j] examples have total counts k[j].
func (c *jointCounts) prob(n, k []int) float64 {
	if c.independent() {
		p := 1.0
		for j := range n {
			window := c.scheme.Counts(n[j])
			if k[j] < window.First || k[j] >= window.First+len(window.P) {
				return 0
			}
			p *= window.P[k[j]-window.First]
		}
		return p
	}
	p := 0.0
	for _, u := range c.urns {
		p += u.weight * u.prob(n, k)
	}
	return p
}

// prob is the multinomial, without replacement the multivariate hypergeometric
// probability of the counts k of sets of n[j] examples.
func (u urn) prob(n, k []int) float64 {
	others, left := u.examples, u.draws
	for j := range n {
		others -= n[j]
		left -= k[j]
	}
	if left < 0 || others < 0 {
		return 0
	}
	if !u.replace {
		logP := logBinomial(others, left) - logBinomial(u.examples, u.draws)
		for j := range n {
			logP += logBinomial(n[j], k[j])
		}
		return math.Exp(logP)
	}
	logP := logFactorial(u.draws) - logFactorial(left) + powerLog(left, others, u.examples)
	for j := range n {
		logP += powerLog(k[j], n[j], u.examples) - logFactorial(k[j])
	}
	return math.Exp(logP)
}

// powerLog is log((a/b)^k), 0 for k = 0.
func powerLog(k, a, b int) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * math.Log(float64(a)/float64(b))
}

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}

// logBinomial is log C(n, k), -Inf where there is no such choice.
func logBinomial(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	return logFactorial(n) - logFactorial(k) - logFactorial(n-k)
}
