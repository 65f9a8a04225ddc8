package resample

import "sync"

// Cached is a distribution that keeps the counts it has computed, so that the
// many sites of a problem share one table per number of copies. It is safe for
// concurrent use. Its Counts share their memory: callers must not write to them.
type Cached struct {
	law    CountDistribution
	mu     sync.Mutex
	counts map[int]Counts
}

// Cache wraps a distribution; one that is wrapped already is returned as it is.
func Cache(law CountDistribution) *Cached {
	if cached, ok := law.(*Cached); ok {
		return cached
	}
	return &Cached{law: law, counts: make(map[int]Counts)}
}

// Mean is that of the wrapped distribution.
func (c *Cached) Mean() float64 { return c.law.Mean() }

// Counts computes the table for n at its first call.
func (c *Cached) Counts(n int) Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts, ok := c.counts[n]
	if !ok {
		counts = c.law.Counts(n)
		c.counts[n] = counts
	}
	return counts
}

// ProbZero is that of the wrapped distribution.
func (c *Cached) ProbZero(n int) float64 { return ProbZero(c.law, n) }

// WithinSiteVar is that of the wrapped distribution.
func (c *Cached) WithinSiteVar(n, k int) float64 { return WithinSiteVar(c.law, n, k) }

// ConditionalOnAbsent is that of the wrapped distribution, wrapped too.
func (c *Cached) ConditionalOnAbsent() CountDistribution { return Cache(ConditionalOnAbsent(c.law)) }
