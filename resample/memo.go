package resample

import "sync"

// Cached is a law that keeps the counts it has computed, so that the many sites
// of a problem share one table per number of copies. It is safe for concurrent
// use. Its Counts share their memory: callers must not write to them.
type Cached struct {
	law    CountDistribution
	mu     sync.Mutex
	counts map[int]Counts
}

// Cache wraps law into a Memo. Wrapping a Memo gives the same Memo.
func Cache(law CountDistribution) *Cached {
	if memo, ok := law.(*Cached); ok {
		return memo
	}
	return &Cached{law: law, counts: make(map[int]Counts)}
}

// Mean is the mean of the law within.
func (m *Cached) Mean() float64 { return m.law.Mean() }

// Counts is the table of the law within, computed at the first call for n.
func (m *Cached) Counts(n int) Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts, ok := m.counts[n]
	if !ok {
		counts = m.law.Counts(n)
		m.counts[n] = counts
	}
	return counts
}

// ProbZero is P(k = 0) of the law within; see the package function Zero.
func (m *Cached) ProbZero(n int) float64 { return ProbZero(m.law, n) }

// WithinSiteVar is that of the law within; see the package function Split.
func (m *Cached) WithinSiteVar(n, k int) float64 { return WithinSiteVar(m.law, n, k) }

// ConditionalOnAbsent remembers the law that the law within leaves; see the package
// function ConditionalOnAbsent.
func (m *Cached) ConditionalOnAbsent() CountDistribution { return Cache(ConditionalOnAbsent(m.law)) }
