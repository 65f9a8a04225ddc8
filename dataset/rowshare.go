package dataset

import (
	"bytes"
	"encoding/gob"
)

// rowShare says which rows of a table, or of an array, this rank has read: Ranks read consecutive parts of
// it, as even in bytes as lines allow.
type rowShare struct {
	ranks  Ranks
	bounds []int // rank p has read rows bounds[p] to bounds[p+1]-1
}

// shareOf has ranks tell each other how many rows they have; nil is this process alone.
func shareOf(r Ranks, rows int) *rowShare {
	if r == nil {
		return nil
	}
	counts := make([]float64, r.Size())
	counts[r.Rank()] = float64(rows)
	sum(r, counts)
	s := &rowShare{ranks: r, bounds: make([]int, r.Size()+1)}
	for p, c := range counts {
		s.bounds[p+1] = s.bounds[p] + int(c)
	}
	return s
}

// all are the ranks, nil for this process alone.
func (s *rowShare) all() Ranks {
	if s == nil {
		return nil
	}
	return s.ranks
}

// first is the number of rows before those of this rank, and total that of all where own are this rank's.
func (s *rowShare) first() int {
	if s == nil {
		return 0
	}
	return s.bounds[s.ranks.Rank()]
}

func (s *rowShare) total(own int) int {
	if s == nil {
		return own
	}
	return s.bounds[len(s.bounds)-1]
}

// even moves rows between ranks until each has its even part.
func (s *rowShare) even(x Matrix) Matrix {
	if s == nil {
		return x
	}
	uneven, n := false, s.total(0)
	for p, b := range s.bounds {
		uneven = uneven || b != bound(n, p, s.ranks.Size())
	}
	if !uneven {
		return x
	}
	return deal(s.ranks, x, s.bounds, n, func(k int) int { return k })
}

// gather puts the numbers of all ranks' rows together.
func (s *rowShare) gather(own []float64) []float64 {
	if s == nil {
		return own
	}
	all := make([]float64, s.total(0))
	copy(all[s.first():], own)
	sum(s.ranks, all)
	return all
}

// gatherTexts does so with texts; nil if no rank has any.
func (s *rowShare) gatherTexts(own []string) []string {
	if s == nil {
		return own
	}
	var all []string
	for _, texts := range exchange(s.ranks, own) {
		all = append(all, texts...)
	}
	return all
}

// exchange tells all ranks what each has to say.
func exchange[T any](r Ranks, own T) []T {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(own); err != nil {
		panic(err) // T has fields that gob does not know
	}
	all := make([]T, r.Size())
	for p := range all {
		if err := gob.NewDecoder(bytes.NewReader(r.BroadcastBytes(text.Bytes(), p))).Decode(&all[p]); err != nil {
			panic(err)
		}
	}
	return all
}

// everywhere reports whether something holds on all ranks.
func everywhere(r Ranks, holds bool) bool {
	failed := []float64{0}
	if !holds {
		failed[0] = 1
	}
	sum(r, failed)
	return failed[0] == 0
}
