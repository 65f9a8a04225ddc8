package linalg

import "sort"

// Team is processes, its members, that hold the rows of one low-rank factor together. They
// run the same program and call the same methods in the same order. See dist.NewTeam.
type Team interface {
	// Rank is the number of this member, from 0 to Size-1.
	Rank() int
	Size() int
	// Sum adds x up over the members. All get the same, bit for bit.
	Sum(x []float64)
	// Broadcast copies member from's x to all.
	Broadcast(x []float64, from int)
	// Agree is nil if err is nil on all members, and otherwise an error on all.
	Agree(err error) error
}

// share is the sites whose rows of R this process holds. Vectors over the sites are whole
// on every member: each computes its part of them, and gather puts these together.
type share struct {
	team        Team  // nil: this process is alone, and has all
	bounds      []int // member p holds sites bounds[p] to bounds[p+1]-1
	first, last int   // this one's: first to last-1
}

// shareOut deals n sites out to the members of a team, in order.
func shareOut(team Team, n int) share {
	if team == nil || team.Size() == 1 {
		return share{first: 0, last: n}
	}
	bounds := make([]int, team.Size()+1)
	for p := range bounds {
		bounds[p] = int(int64(n) * int64(p) / int64(team.Size()))
	}
	return share{team, bounds, bounds[team.Rank()], bounds[team.Rank()+1]}
}

// subset is the share of the listed sites, ascending, by their places in the list.
func (s share) subset(sites []int) share {
	if s.team == nil {
		return share{first: 0, last: len(sites)}
	}
	bounds := make([]int, len(s.bounds))
	for p, bound := range s.bounds {
		bounds[p] = sort.SearchInts(sites, bound)
	}
	return share{s.team, bounds, bounds[s.team.Rank()], bounds[s.team.Rank()+1]}
}

// own is the number of sites of this member, widest that of whoever has most of them.
func (s share) own() int { return s.last - s.first }

func (s share) widest() int {
	if s.team == nil {
		return s.own()
	}
	return ownSites(s.bounds[s.team.Size()], s.team.Size())
}

// ownSites is the largest number of n sites that one of so many members holds.
func ownSites(n, members int) int { return (n + members - 1) / max(1, members) }

// holds reports whether a site's row is here.
func (s share) holds(site int) bool { return site >= s.first && site < s.last }

// leads is true of one member.
func (s share) leads() bool { return s.team == nil || s.team.Rank() == 0 }

// among are those of the listed sites, ascending, whose rows are here; of is the part of a
// vector over all sites that belongs to them.
func (s share) among(sites []int) []int {
	if s.team == nil {
		return sites
	}
	return sites[sort.SearchInts(sites, s.first):sort.SearchInts(sites, s.last)]
}

func (s share) of(x []float64) []float64 { return x[s.first:s.last] }

// sum adds x up over the members.
func (s share) sum(x []float64) {
	if s.team != nil && len(x) > 0 {
		s.team.Sum(x)
	}
}

// gather puts together a vector over the sites of which every member has its part.
func (s share) gather(x []float64) {
	if s.team != nil {
		clear(x[:s.first])
		clear(x[s.last:])
		s.sum(x)
	}
}

// summedAtOnce is how many numbers one sum has at most where rows are gathered.
const summedAtOnce = 1 << 20

// gatherRows is gather for the rows of a matrix over the sites: many at a time where they stand without gaps.
func gatherRows[T float32 | float64](s share, data []T, rows, cols, stride int, sum func(x []T)) {
	if s.team == nil || cols == 0 {
		return
	}
	for r := range rows {
		row := data[r*stride : r*stride+cols]
		clear(row[:s.first])
		clear(row[s.last:])
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
func (s share) sum32(x []float32) {
	if s.team == nil {
		return
	}
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	s.sum(wide)
	for i, v := range wide {
		x[i] = float32(v)
	}
}

// agree is err on all members.
func (s share) agree(err error) error {
	if s.team == nil {
		return err
	}
	return s.team.Agree(err)
}
