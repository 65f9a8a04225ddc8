package linalg

import (
	"slices"
	"sort"
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
		bounds[p] = ShareBound(n, p, team.Size())
	}
	return shareWithin(team, bounds)
}

// ShareBound is the first of n sites that belongs to a member of so many; that of the one after the last is n.
func ShareBound(n, member, members int) int { return int(int64(n) * int64(member) / int64(members)) }

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

// Alone says that this process has all sites.
func (s Share) Alone() bool { return s.team == nil }

// ownSites is the largest number of n sites that one of so many members holds.
func ownSites(n, members int) int { return (n + members - 1) / max(1, members) }

// Holds reports whether a site is this member's.
func (s Share) Holds(site int) bool { return site >= s.First && site < s.Last }

// leads is true of one member.
func (s Share) leads() bool { return s.team == nil || s.team.Rank() == 0 }

// among are those of the listed sites, ascending, whose rows are here; Of is the part of a
// vector over all sites that belongs to them.
func (s Share) among(sites []int) []int {
	if s.team == nil {
		return sites
	}
	return sites[sort.SearchInts(sites, s.First):sort.SearchInts(sites, s.Last)]
}

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
	if s.team == nil {
		return v
	}
	all := make([]float64, s.team.Size())
	all[s.team.Rank()] = v
	s.Sum(all)
	return slices.Max(all)
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

// summedAtOnce is how many numbers one sum has at most where rows are gathered.
const summedAtOnce = 1 << 20

// gatherRows is gather for the rows of a matrix over the sites: many at a time where they stand without gaps.
func gatherRows[T float32 | float64](s Share, data []T, rows, cols, stride int, sum func(x []T)) {
	if s.team == nil || cols == 0 {
		return
	}
	for r := range rows {
		row := data[r*stride : r*stride+cols]
		clear(row[:s.First])
		clear(row[s.Last:])
	}
	height := 1
	if stride == cols {
		height = max(1, summedAtOnce/cols)
	}
	for first := 0; first < rows; first += height {
		sum(data[first*stride : (min(rows, first+height)-1)*stride+cols])
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
