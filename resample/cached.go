package resample

import "sync"

// Cached is a distribution that keeps the counts it has computed, so that the
// many sites of a problem share one table per number of copies. It is safe for
// concurrent use. Its Counts share their memory: callers must not write to them.
type Cached struct {
	law    CountDistribution
	mu     sync.Mutex
	counts map[int]Counts
	draws  map[int]*Draws
}

// Cache wraps a distribution; one that is wrapped already is returned as it is.
func Cache(law CountDistribution) *Cached {
	if cached, ok := law.(*Cached); ok {
		return cached
	}
	return &Cached{law: law, counts: make(map[int]Counts), draws: make(map[int]*Draws)}
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

// Draws are the counts of some examples and, for each k of their window, WithinSiteVar.
type Draws struct {
	Counts
	WithinSiteVar []float64
}

// DrawsOf are those of n examples; a Cached distribution has one for all sites with so many.
func DrawsOf(law CountDistribution, n int) *Draws {
	cached, ok := law.(*Cached)
	if !ok {
		return newDraws(law, law.Counts(n), n)
	}
	counts := cached.Counts(n)
	cached.mu.Lock()
	defer cached.mu.Unlock()
	d, known := cached.draws[n]
	if !known {
		d = newDraws(cached.law, counts, n)
		cached.draws[n] = d
	}
	return d
}

func newDraws(law CountDistribution, counts Counts, n int) *Draws {
	d := &Draws{Counts: counts, WithinSiteVar: make([]float64, len(counts.P))}
	for j := range d.P {
		d.WithinSiteVar[j] = WithinSiteVar(law, n, d.First+j)
	}
	return d
}

// ProbZero is that of the wrapped distribution.
func (c *Cached) ProbZero(n int) float64 { return ProbZero(c.law, n) }

// WithinSiteVar is that of the wrapped distribution.
func (c *Cached) WithinSiteVar(n, k int) float64 { return WithinSiteVar(c.law, n, k) }

// ConditionalOnAbsent is that of the wrapped distribution, wrapped too.
func (c *Cached) ConditionalOnAbsent() CountDistribution { return Cache(ConditionalOnAbsent(c.law)) }
