package resample

import "sync"

// Memo is a law that keeps the counts it has computed, so that the many sites
// of a problem share one table per number of copies. It is safe for concurrent
// use. Its Counts share their memory: callers must not write to them.
type Memo struct {
	law    Law
	mu     sync.Mutex
	counts map[int]Counts
}

// Remember wraps law into a Memo. Wrapping a Memo gives the same Memo.
func Remember(law Law) *Memo {
	if memo, ok := law.(*Memo); ok {
		return memo
	}
	return &Memo{law: law, counts: make(map[int]Counts)}
}

// Mean is the mean of the law within.
func (m *Memo) Mean() float64 { return m.law.Mean() }

// Counts is the table of the law within, computed at the first call for n.
func (m *Memo) Counts(n int) Counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts, ok := m.counts[n]
	if !ok {
		counts = m.law.Counts(n)
		m.counts[n] = counts
	}
	return counts
}

// Zero is P(k = 0) of the law within; see the package function Zero.
func (m *Memo) Zero(n int) float64 { return Zero(m.law, n) }

// Split is that of the law within; see the package function Split.
func (m *Memo) Split(n, k int) float64 { return Split(m.law, n, k) }

// GivenAbsent remembers the law that the law within leaves; see the package
// function GivenAbsent.
func (m *Memo) GivenAbsent() Law { return Remember(GivenAbsent(m.law)) }
