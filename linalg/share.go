package linalg

import (
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Share is the part of N sites that belongs to this process, and the Team among which
// they are shared. The zero Team is this process alone, which has all of them.
type Share struct {
	First, Last int   // this one's: First to Last-1
	Total       int   // N
	team        Team  // nil: alone
	bounds      []int // member p holds sites bounds[p] to bounds[p+1]-1
}

// ShareOut deals n sites out to the members of a team, in order. A nil team is this process alone.
func ShareOut(team Team, n int) Share {
	if team == nil || team.Size() == 1 {
		return Share{Last: n, Total: n}
	}
	bounds := make([]int, team.Size()+1)
	for p := range bounds {
		bounds[p] = shareBound(n, p, team.Size())
	}
	return shareWithin(team, bounds)
}

// shareBound is the first of n sites that belongs to a member of so many; that of the one after the last is
// n. Package dataset, which imports nothing, deals rows by the same rule.
func shareBound(n, member, members int) int { return int(int64(n) * int64(member) / int64(members)) }

func shareWithin(team Team, bounds []int) Share {
	p := team.Rank()
	return Share{bounds[p], bounds[p+1], bounds[len(bounds)-1], team, bounds}
}

// subset is the share of the listed sites, ascending, by their places in the list.
func (s Share) subset(sites []int) Share {
	if s.team == nil {
		return Share{Last: len(sites), Total: len(sites)}
	}
	bounds := make([]int, len(s.bounds))
	for p, bound := range s.bounds {
		bounds[p] = sort.SearchInts(sites, bound)
	}
	return shareWithin(s.team, bounds)
}

// Own is the number of sites of this member, widest that of whoever has most of them.
func (s Share) Own() int { return s.Last - s.First }

func (s Share) widest() int { return ownSites(s.Total, s.members()) }

// members is the number of processes.
func (s Share) members() int {
	if s.team == nil {
		return 1
	}
	return s.team.Size()
}

// member is the number of this one.
func (s Share) member() int {
	if s.team == nil {
		return 0
	}
	return s.team.Rank()
}

// Alone says that this process has all sites.
func (s Share) Alone() bool { return s.team == nil }

// ownSites is the largest number of n sites that one of so many members holds.
func ownSites(n, members int) int { return (n + members - 1) / max(1, members) }

// Holds reports whether a site is this member's.
func (s Share) Holds(site int) bool { return site >= s.First && site < s.Last }

// leads is true of one member.
func (s Share) leads() bool { return s.member() == 0 }

// Of is the part of a vector over all sites that belongs to this member.
func (s Share) Of(x []float64) []float64 { return x[s.First:s.Last] }

// Sum adds x up over the members.
func (s Share) Sum(x []float64) {
	if s.team != nil && len(x) > 0 {
		s.team.Sum(x)
	}
}

// SumOf is the sum of one number of each member.
func (s Share) SumOf(v float64) float64 {
	sum := []float64{v}
	s.Sum(sum)
	return sum[0]
}

// Max is the largest number of any member, NaN where one has that.
func (s Share) Max(v float64) float64 {
	one := []float64{v}
	s.MaxEach(one)
	return one[0]
}

// MaxEach is Max for each number of x.
func (s Share) MaxEach(x []float64) {
	if s.team == nil || len(x) == 0 {
		return
	}
	members := s.team.Size()
	all := make([]float64, members*len(x))
	copy(all[s.team.Rank()*len(x):], x)
	s.Sum(all)
	for i := range x {
		x[i] = all[i]
		for p := 1; p < members; p++ {
			x[i] = max(x[i], all[p*len(x)+i]) // of Go: NaN where one is
		}
	}
}

// Around are the sums of one number of each member before and after this one.
func (s Share) Around(v float64) (before, after float64) {
	if s.team == nil {
		return 0, 0
	}
	all := make([]float64, s.team.Size())
	own := s.team.Rank()
	all[own] = v
	s.Sum(all)
	return floats.Sum(all[:own]), floats.Sum(all[own+1:])
}

// Gather is a vector over all sites, put together from every member's part.
func (s Share) Gather(own []float64) []float64 {
	all := make([]float64, s.Total)
	copy(s.Of(all), own)
	s.Sum(all)
	return all
}

// gather puts together a vector over the sites of which every member has its part.
func (s Share) gather(x []float64) {
	if s.team != nil {
		clear(x[:s.First])
		clear(x[s.Last:])
		s.Sum(x)
	}
}

// sum32 is sum in single precision, whose additions are made in double.
func (s Share) sum32(x []float32) {
	if s.team == nil {
		return
	}
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	s.Sum(wide)
	for i, v := range wide {
		x[i] = float32(v)
	}
}

// Agree is err on all members.
func (s Share) Agree(err error) error {
	if s.team == nil {
		return err
	}
	return s.team.Agree(err)
}
