package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Design says how examples depend on each other. Those of one group are drawn, and left out, together; draws
// are made within strata, and from rows in order of time in blocks.
type Design struct {
	N       int
	Group   []int // of each example, numbered from 0; nil: each is its own
	Stratum []int // of each example, numbered from 0; nil: there is one
	Block   int   // length of the blocks, of the rows of every group; 0: none
}

// String says what is drawn.
func (d Design) String() string {
	var parts []string
	if d.Block > 0 {
		parts = append(parts, fmt.Sprintf("of blocks of %d rows", d.Block))
	}
	switch {
	case d.Group != nil && d.Block > 0:
		parts = append(parts, "within groups")
	case d.Group != nil:
		parts = append(parts, "of whole groups")
	}
	if d.Stratum != nil {
		parts = append(parts, "within strata")
	}
	return strings.Join(parts, " ")
}

// Of is the scheme of that name over a design. Its Ratio is that of draws over groups where whole groups are
// drawn, and over examples else.
func (d Design) Of(name string, o Options) (Scheme, error) {
	o.N = d.N
	if d.Group == nil && d.Stratum == nil && d.Block == 0 {
		return ByName(name, o)
	}
	if d.Block > 0 {
		return d.blocks(name, o)
	}
	units := d.units()
	o.N = len(units)
	law, err := ByName(name, o)
	if err != nil {
		return nil, err
	}
	s := Designed{Scheme: law, Design: d, Draws: law, absent: make([]float64, o.N)}
	for u := range units {
		s.absent[u] = ProbZero(law, 1)
	}
	if d.Stratum != nil {
		if s.Draws, err = d.stratify(law, name, o, units, s.absent); err != nil {
			return nil, err
		}
	}
	if d.Group != nil {
		s.Draws = Grouped{Groups: s.Draws, Group: d.Group, Count: o.N}
		absent := make([]float64, d.N)
		for i, g := range d.Group {
			absent[i] = s.absent[g]
		}
		s.absent = absent
	}
	return s, nil
}

// units are the strata of what is drawn, groups or examples. That of a group is the most frequent of its
// examples, the first of equals.
func (d Design) units() []int {
	if d.Group == nil {
		return d.strata()
	}
	counts := map[[2]int]int{}
	var stratum []int
	for i, s := range d.strata() {
		g := d.Group[i]
		for len(stratum) <= g {
			stratum = append(stratum, 0)
		}
		counts[[2]int{g, s}]++
		if best := counts[[2]int{g, stratum[g]}]; counts[[2]int{g, s}] > best {
			stratum[g] = s
		}
	}
	return stratum
}

func (d Design) strata() []int {
	if d.Stratum == nil {
		return make([]int, d.N)
	}
	return d.Stratum
}

// stratify is the sampler of a scheme of fixed size, or of folds, within the strata of units; it fills in
// with what probability each is absent.
func (d Design) stratify(law Scheme, name string, o Options, stratum []int, absent []float64) (Sampler,
	error) {
	if name == (KFold{}).Name() {
		return Partition{Folds: o.Folds, Stratum: stratum}, nil
	}
	if name != (Multinomial{}).Name() && name != (Subsample{}).Name() {
		return nil, fmt.Errorf("resample: %s draws every example independently of its stratum: strata take "+
			"multinomial, subsample or kfold", name)
	}
	s := Stratified{Stratum: stratum}
	for k, size := range sizes(stratum) {
		o.N = max(1, size)
		of, err := ByName(name, o)
		if err != nil {
			return nil, fmt.Errorf("%w: stratum %d", err, k+1)
		}
		s.Within = append(s.Within, of)
	}
	for u, k := range stratum {
		absent[u] = ProbZero(s.Within[k].(Scheme), 1)
	}
	return s, nil
}

// sizes counts the members of parts that are numbered from 0.
func sizes(part []int) (count []int) {
	for _, k := range part {
		for len(count) <= k {
			count = append(count, 0)
		}
		count[k]++
	}
	return count
}

// Designed is a scheme over a design: it draws as Draws does. As a distribution it is the scheme of equal
// and independent units, under which the theory is wrong where examples are dependent.
type Designed struct {
	Scheme
	Design Design
	Draws  Sampler
	absent []float64 // P(count = 0) of each example
}

// Sample and SampleAt are those of Draws.
func (s Designed) Sample(rng *rand.Rand, counts []int)       { s.Draws.Sample(rng, counts) }
func (s Designed) SampleAt(seed uint64, b int, counts []int) { Draw(s.Draws, seed, b, counts) }
func (s Designed) Period() int                               { return Period(s.Draws) }
func (s Designed) Absent() float64                           { return ProbZero(s.Scheme, 1) }
func (s Designed) WithinSiteVar(n, k int) float64            { return WithinSiteVar(s.Scheme, n, k) }
func (s Designed) ConditionalOnAbsent() CountDistribution    { return ConditionalOnAbsent(s.Scheme) }

// IsDependent reports whether a scheme draws examples together, so that the theory does not hold.
func IsDependent(s Scheme) bool {
	designed, ok := s.(Designed)
	return ok && (designed.Design.Group != nil || designed.Design.Block > 0)
}

// ProbAbsent is the probability that an example is left out.
func ProbAbsent(s Scheme, example int) float64 {
	if designed, ok := s.(Designed); ok {
		return designed.absent[example]
	}
	return ProbZero(s, 1)
}

// Grouped draws whole groups: every example is drawn as often as its group.
type Grouped struct {
	Groups Sampler
	Group  []int // of each example
	Count  int   // groups
}

// Sample is Sampler.Sample.
func (s Grouped) Sample(rng *rand.Rand, counts []int) {
	s.spread(counts, func(groups []int) { s.Groups.Sample(rng, groups) })
}

// Period is that of the groups' draws.
func (s Grouped) Period() int { return Period(s.Groups) }

// SampleAt is Periodic.SampleAt.
func (s Grouped) SampleAt(seed uint64, b int, counts []int) {
	s.spread(counts, func(groups []int) { Draw(s.Groups, seed, b, groups) })
}

func (s Grouped) spread(counts []int, draw func(groups []int)) {
	groups := make([]int, s.Count)
	draw(groups)
	for i, g := range s.Group {
		counts[i] = groups[g]
	}
}

// Stratified draws within every stratum, from one after the other.
type Stratified struct {
	Within  []Sampler // of each stratum
	Stratum []int     // of each member
}

// Sample is Sampler.Sample.
func (s Stratified) Sample(rng *rand.Rand, counts []int) {
	within := make([][]int, len(s.Within))
	for k, size := range sizes(s.Stratum) {
		if within[k] = make([]int, size); size > 0 {
			s.Within[k].Sample(rng, within[k])
		}
	}
	for i, k := range s.Stratum {
		counts[i], within[k] = within[k][0], within[k][1:]
	}
}

// CircularBlocks is the circular block bootstrap (Politis and Romano 1992) of series, rows in order of time:
// blocks of Length consecutive rows, whose starts are drawn with replacement from all rows of a series, its
// last followed by its first, until Ratio times as many rows are drawn as it has; the last block is cut. So
// all rows of a series are drawn equally often, where blocks that do not wrap around draw its ends less.
type CircularBlocks struct {
	Length int
	Ratio  float64
	Series [][]int // the rows of each
}

// Sample is Sampler.Sample.
func (s CircularBlocks) Sample(rng *rand.Rand, counts []int) {
	clear(counts)
	for _, rows := range s.Series {
		for _, length := range s.lengths(len(rows)) {
			start := rng.IntN(len(rows))
			for k := range length {
				counts[rows[(start+k)%len(rows)]]++
			}
		}
	}
}

// lengths are those of the blocks that are drawn of n rows.
func (s CircularBlocks) lengths(n int) (all []int) {
	for left := int(math.Round(s.Ratio * float64(n))); left > 0; left -= all[len(all)-1] {
		all = append(all, min(s.Length, n, left))
	}
	return all
}

// absent is the probability that a row of a series of n is: no block covers it.
func (s CircularBlocks) absent(n int) float64 {
	p := 1.0
	for _, length := range s.lengths(n) {
		p *= 1 - float64(length)/float64(n)
	}
	return p
}

// blocks is the bootstrap of blocks, of the rows of every group.
func (d Design) blocks(name string, o Options) (Scheme, error) {
	if name != (Multinomial{}).Name() || d.Stratum != nil {
		return nil, fmt.Errorf("resample: blocks are drawn with replacement and without strata, by multinomial")
	}
	law, err := ByName(name, o)
	if err != nil {
		return nil, err
	}
	b := CircularBlocks{Length: d.Block, Ratio: o.Ratio, Series: make([][]int, 1)}
	group := d.Group
	if group == nil {
		group = make([]int, d.N)
	}
	for i, g := range group {
		for len(b.Series) <= g {
			b.Series = append(b.Series, nil)
		}
		b.Series[g] = append(b.Series[g], i)
	}
	s := Designed{Scheme: law, Design: d, Draws: b}
	for _, g := range group {
		s.absent = append(s.absent, b.absent(len(b.Series[g])))
	}
	return s, nil
}
