package fits

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/combin"

	"bootbench/resample"
)

// partLaw is the law of the counts in a part of the examples: the marginal, and given that an example of the
// part, or of another, is left out. (The first iterate is additive in the counts: marginals suffice for its
// mean, T14.)
type partLaw struct{ marginal, inside, outside *jointCounts }

// partLaws are the laws of the independent parts of n examples, and the part of each example: groups, strata,
// or all examples of a scheme. They are nil if unknown.
func partLaws(scheme resample.Scheme, n int) (laws []partLaw, part []int) {
	designed, ok := scheme.(resample.Designed)
	if !ok {
		return within(make([]int, n), scheme)
	}
	switch s := designed.Draws.(type) {
	case resample.Grouped:
		controlGroups, ok := s.Groups.(resample.Scheme)
		marginal := newJointCounts(controlGroups)
		if !ok || marginal == nil || s.Empty() > negligibleEmpty { // which are drawn again
			return nil, nil
		}
		never := newJointCounts(resample.Bernoulli{}) // of rate 0
		return slices.Repeat([]partLaw{{marginal, never, marginal.givenAbsent()}}, s.Count), s.Group
	case resample.Stratified:
		return within(s.Stratum, s.Within...)
	}
	return nil, nil
}

// negligibleEmpty is the probability of a draw without groups that changes the laws by less than the
// standard errors of refined values.
const negligibleEmpty = 1e-5

// within are the laws of draws within parts.
func within[S resample.Scheme](part []int, draws ...S) (laws []partLaw, of []int) {
	for _, d := range draws {
		marginal := newJointCounts(d)
		if marginal == nil {
			return nil, nil
		}
		laws = append(laws, partLaw{marginal, marginal.givenAbsent(), marginal})
	}
	return laws, part
}

// jointCounts is the exact joint law of the examples' counts under a scheme, without the approximation of
// resample.CountDistribution by independent counts. Under all schemes examples are exchangeable: the law is
// the one of independent counts, or a mixture of draws from urns.
type jointCounts struct {
	scheme *resample.Cached
	urns   []urn // none: independent

	lock   sync.Mutex
	totals map[int]resample.Counts // of n examples, see total
}

// urn draws from equivalent examples.
type urn struct {
	weight          float64
	draws, examples int
	replace         bool
}

// newJointCounts is nil for an unknown scheme.
func newJointCounts(s resample.Scheme) *jointCounts {
	c := &jointCounts{scheme: resample.Cache(s), totals: map[int]resample.Counts{}}
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
				c.urns = append(c.urns, urn{float64(fold.count) / float64(s.Folds), s.N - fold.size, s.N,
					false})
			}
		}
	default:
		return nil
	}
	return c
}

// independent reports whether the counts of different examples are independent.
func (c *jointCounts) independent() bool { return c.urns == nil }

// givenAbsent is the law of the other examples' counts, given that one is left out.
func (c *jointCounts) givenAbsent() *jointCounts {
	if c.independent() {
		return c
	}
	given, total := &jointCounts{scheme: c.scheme, totals: map[int]resample.Counts{}}, 0.0
	for _, u := range c.urns {
		if u = u.after(1, 0); u.weight > 0 {
			given.urns = append(given.urns, u)
			total += u.weight
		}
	}
	for i := range given.urns {
		given.urns[i].weight /= total
	}
	return given
}

// total is the law of the total count of n examples, on a window of counts of probability at least 1 - 1e-17
// under resample.CountDistribution.
func (c *jointCounts) total(n int) resample.Counts {
	if c.independent() {
		return c.scheme.Counts(n)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
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
		for j := range n {
			u = u.after(n[j], k[j])
		}
		p += u.weight
	}
	return p
}

// after is the urn without n of its examples that have k of its draws. Its weight is multiplied by the
// probability of that, binomial, or hypergeometric without replacement.
func (u urn) after(n, k int) urn {
	rest := urn{0, u.draws - k, u.examples - n, u.replace}
	switch {
	case rest.draws < 0 || rest.examples < 0 || !u.replace && (k > n || rest.draws > rest.examples):
	case u.replace:
		rest.weight = u.weight * math.Exp(logBinomial(u.draws, k)+powerLog(k, n, u.examples)+
			powerLog(rest.draws, rest.examples, u.examples))
	default:
		rest.weight = u.weight * math.Exp(logBinomial(n, k)+logBinomial(rest.examples, rest.draws)-
			logBinomial(u.examples, u.draws))
	}
	return rest
}

// powerLog is log((a/b)^k), 0 for k = 0.
func powerLog(k, a, b int) float64 {
	if k == 0 {
		return 0
	}
	return float64(k) * math.Log(float64(a)/float64(b))
}

func logBinomial(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
