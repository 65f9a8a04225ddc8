package resample

import "sync"

// Cached is a distribution that keeps the counts it has computed, so that the
// many sites of a problem share one table per number of copies. It is safe for
// concurrent use. Its Counts share their memory: callers must not write to them.
type Cached struct {
	CountDistribution
	mu    sync.Mutex
	draws map[int]*Draws
}

// Cache wraps a distribution; one that is wrapped already is returned as it is.
func Cache(law CountDistribution) *Cached {
	if cached, ok := law.(*Cached); ok {
		return cached
	}
	return &Cached{CountDistribution: law, draws: map[int]*Draws{}}
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
		return newDraws(law, n)
	}
	cached.mu.Lock()
	defer cached.mu.Unlock()
	if cached.draws[n] == nil {
		cached.draws[n] = newDraws(cached.CountDistribution, n)
	}
	return cached.draws[n]
}

func newDraws(law CountDistribution, n int) *Draws {
	d := &Draws{Counts: law.Counts(n)}
	if real, ok := law.(interface {
		WithinSiteWeight(n int, w float64) float64
	}); ok {
		for j := range d.P {
			d.WithinSiteVar = append(d.WithinSiteVar, real.WithinSiteWeight(n, d.At(j)))
		}
		return d
	}
	for k := range d.All() {
		d.WithinSiteVar = append(d.WithinSiteVar, WithinSiteVar(law, n, k))
	}
	return d
}

// Counts computes the table for n at its first call.
func (c *Cached) Counts(n int) Counts { return DrawsOf(c, n).Counts }

// Absent is that of the wrapped distribution.
func (c *Cached) Absent() float64 { return ProbZero(c.CountDistribution, 1) }

// WithinSiteVar is that of the wrapped distribution.
func (c *Cached) WithinSiteVar(n, k int) float64 { return WithinSiteVar(c.CountDistribution, n, k) }

// ConditionalOnAbsent is that of the wrapped distribution, wrapped too.
func (c *Cached) ConditionalOnAbsent() CountDistribution {
	return Cache(ConditionalOnAbsent(c.CountDistribution))
}
