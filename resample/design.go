package resample

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Design describes dependent examples. Those of one group are drawn, and left out, together; draws are made
// within strata, and in blocks of rows in order of time.
type Design struct {
	N       int
	Group   []int // of each example, numbered from 0; nil: no groups
	Stratum []int // of each example, numbered from 0; nil: there is one
	Block   int   // length of the blocks, of the rows of every group; 0: none
}

// String describes the draws.
func (d Design) String() string {
	var parts []string
	if d.Block > 0 {
		parts = append(parts, fmt.Sprintf("of blocks of %d rows", d.Block))
	}
	if d.Group != nil {
		parts = append(parts, map[bool]string{true: "within groups", false: "of whole groups"}[d.Block > 0])
	}
	if d.Stratum != nil {
		parts = append(parts, "within strata")
	}
	return strings.Join(parts, " ")
}

// mostlyEmpty is the probability of a draw without groups above which a scheme is refused.
const mostlyEmpty = 0.99

// Of is the scheme of that name over a design. Its Ratio is the ratio of draws to groups if whole groups are
// drawn, else to examples. Draws of groups are never empty.
func (d Design) Of(name string, o Options) (Scheme, error) {
	o.N = d.N
	stratum := d.Stratum
	whole := d.Group != nil && d.Block == 0
	if whole {
		o.N = len(membersOf(d.Group, d.N))
		stratum = d.groupStrata(o.N)
	}
	law, err := ByName(name, o)
	switch {
	case whole && o.N < 2:
		return nil, errors.New(
			"resample: all examples are in one group: without it there are none to train on")
	case whole && err != nil:
		return nil, fmt.Errorf("resample: of %d groups: %s", o.N,
			strings.TrimPrefix(err.Error(), "resample: "))
	}
	if err != nil || d.Group == nil && d.Stratum == nil && d.Block == 0 {
		return law, err
	}
	s := Designed{Scheme: law, Design: d, Draws: law}
	switch {
	case slices.Contains(GeneratedNames(), name):
		err = fmt.Errorf("resample: %s resamples have every row, with other targets: there are no groups, "+
			"strata or blocks to draw", name)
	case d.Block > 0 && (name != Multinomial{}.Name() || stratum != nil):
		err = fmt.Errorf("resample: blocks are drawn with replacement and without strata, by multinomial")
	case d.Block > 0:
		s.Draws = CircularBlocks{Length: d.Block, Ratio: o.Ratio, Series: membersOf(d.Group, d.N)}
	case name == Bayesian{}.Name():
		err = fmt.Errorf("resample: %s has no weights of groups or within strata: take multinomial", name)
	case stratum != nil:
		s.Draws, err = stratified(name, o, stratum)
	}
	if whole {
		g := Grouped{Groups: s.Draws, Group: d.Group, Count: o.N}
		if s.Draws = g; g.Empty() > mostlyEmpty {
			err = fmt.Errorf("resample: ratio %g of %d groups leaves resamples without a draw", o.Ratio, o.N)
		}
	}
	return s, err
}

// groupStrata are the strata of groups, which their first examples have; nil without strata.
func (d Design) groupStrata(groups int) []int {
	if d.Stratum == nil {
		return nil
	}
	stratum := make([]int, groups)
	for i, g := range slices.Backward(d.Group) {
		stratum[g] = d.Stratum[i]
	}
	return stratum
}

// independently names the scheme of independent draws for a scheme of fixed size.
var independently = map[string]string{Multinomial{}.Name(): Poisson{}.Name(),
	Subsample{}.Name(): Bernoulli{}.Name()}

// stratified is the sampler of a scheme of fixed size, or of folds, within strata. If resamples of fixed size
// would have all units of a stratum, as the only one, these are drawn independently, as often on average: a
// unit that is never left out has no left-out error.
func stratified(name string, o Options, stratum []int) (Sampler, error) {
	switch name {
	case KFold{}.Name():
		return Partition{Folds: o.Folds, Stratum: stratum}, nil
	case Poisson{}.Name(), Bernoulli{}.Name():
		return nil, fmt.Errorf("resample: %s draws every example independently of its stratum: strata take "+
			"multinomial, subsample or kfold", name)
	}
	s := Stratified{Stratum: stratum}
	for k, members := range membersOf(stratum, len(stratum)) {
		o.N = max(1, len(members))
		within, err := ByName(name, o)
		if len(members) == 1 || err == nil && within.Absent() == 0 {
			within, err = ByName(independently[name], o)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: stratum %d", err, k+1)
		}
		s.Within = append(s.Within, within.(Sampled))
	}
	return s, nil
}

// membersOf lists the members of parts numbered from 0; without parts all n are in one.
func membersOf(part []int, n int) (members [][]int) {
	for i := range n {
		k := 0
		if part != nil {
			k = part[i]
		}
		for len(members) <= k {
			members = append(members, nil)
		}
		members[k] = append(members[k], i)
	}
	return members
}

// Designed is a scheme over a design: it draws by Draws. Its distribution is the one of equal and independent
// units, which is wrong for dependent examples.
type Designed struct {
	Scheme
	Design Design
	Draws  Sampler
}

func (s Designed) Draw(seed uint64, b int, weight []float64) { s.Draws.Draw(seed, b, weight) }
func (s Designed) Period() int                               { return s.Draws.Period() }

// IsDependent reports whether a scheme draws examples together, so that the theory does not apply.
func IsDependent(s Scheme) bool {
	designed, ok := s.(Designed)
	return ok && (designed.Design.Group != nil || designed.Design.Block > 0)
}

// ProbAbsent is the probability that a draw of a scheme, or of the samplers of a design, lacks an example.
func ProbAbsent(s Sampler, example int) float64 {
	switch s := s.(type) {
	case Designed:
		blocks, ok := s.Draws.(CircularBlocks)
		switch {
		case ok && s.Design.Group != nil:
			return blocks.absent(len(blocks.Series[s.Design.Group[example]]))
		case ok:
			return blocks.absent(s.Design.N)
		}
		return ProbAbsent(s.Draws, example)
	case Grouped:
		empty := s.Empty()
		return (ProbAbsent(s.Groups, s.Group[example]) - empty) / (1 - empty)
	case Stratified:
		return ProbAbsent(s.Within[s.Stratum[example]], 0)
	case Partition:
		return 1 / float64(s.Folds)
	}
	return s.(CountDistribution).Absent()
}

// Grouped draws whole groups: every example is drawn as often as its group. A draw without groups, from which
// nothing can be learned, is drawn again.
type Grouped struct {
	Groups Sampler
	Group  []int // of each example
	Count  int   // groups
}

func (s Grouped) Period() int { return s.Groups.Period() }

// Empty is the probability that one draw of Groups has none.
func (s Grouped) Empty() float64 { return empty(s.Groups, s.Count) }

// empty is the probability that a draw from n units has none of them.
func empty(draws Sampler, n int) float64 {
	switch s := draws.(type) {
	case Poisson, Bernoulli:
		return ProbZero(s.(Scheme), n)
	case Stratified:
		for _, within := range s.Within {
			if empty(within, 1) == 0 {
				return 0 // its draws have a fixed size
			}
		}
		p := 1.0
		for k, members := range membersOf(s.Stratum, n) {
			p *= empty(s.Within[k], len(members))
		}
		return p
	}
	return 0
}

// nextSeed is the distance of the seeds by which a draw is repeated, 2^64 over the golden ratio.
const nextSeed = 0x9e3779b97f4a7c15

func (s Grouped) Draw(seed uint64, b int, weight []float64) {
	groups := make([]float64, s.Count)
	for s.Groups.Draw(seed, b, groups); slices.Max(groups) == 0; {
		seed += nextSeed
		s.Groups.Draw(seed, b, groups)
	}
	for i, g := range s.Group {
		weight[i] = groups[g]
	}
}

// Stratified draws within every stratum, one after the other.
type Stratified struct {
	Within  []Sampled // of each stratum
	Stratum []int     // of each member
}

// Sampled is a scheme that draws from a stratum.
type Sampled interface {
	Scheme
	Sample(rng *rand.Rand, weight []float64)
}

func (Stratified) Period() int { return 1 }

func (s Stratified) Draw(seed uint64, b int, weight []float64) {
	rng := stream(seed, b)
	for k, members := range membersOf(s.Stratum, len(weight)) {
		within := make([]float64, len(members))
		if len(members) > 0 {
			s.Within[k].Sample(rng, within)
		}
		for j, i := range members {
			weight[i] = within[j]
		}
	}
}

// CircularBlocks is the circular block bootstrap (Politis and Romano 1992) of series, rows in order of time:
// blocks of Length consecutive rows, whose starts are drawn with replacement from all rows of a series, its
// last followed by its first, until Ratio times its number of rows are drawn; the last block is cut. All rows
// of a series are drawn equally often, unlike without wrapping around.
type CircularBlocks struct {
	Length int
	Ratio  float64
	Series [][]int // the rows of each
}

func (CircularBlocks) Period() int { return 1 }

func (s CircularBlocks) Draw(seed uint64, b int, weight []float64) {
	rng := stream(seed, b)
	clear(weight)
	for _, rows := range s.Series {
		for _, length := range s.lengths(len(rows)) {
			start := rng.IntN(len(rows))
			for k := range length {
				weight[rows[(start+k)%len(rows)]]++
			}
		}
	}
}

func (s CircularBlocks) lengths(n int) (all []int) {
	for left := int(math.Round(s.Ratio * float64(n))); left > 0; left -= all[len(all)-1] {
		all = append(all, min(s.Length, n, left))
	}
	return all
}

// absent is the probability that no block contains a row of a series of n.
func (s CircularBlocks) absent(n int) float64 {
	p := 1.0
	for _, length := range s.lengths(n) {
		p *= 1 - float64(length)/float64(n)
	}
	return p
}
