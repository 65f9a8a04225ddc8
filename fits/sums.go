package fits

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Sums are sums over fits, at many items such as sites or examples: of variables, and of their products. They
// are stored per group of fits, for the jackknife. Their memory does not depend on the number of fits.
type Sums struct {
	variables, groups int
	width             int       // sums of a group at an item: the number of fits, the variables, the products
	all               []float64 // items x groups x width
}

// NewSums allocates sums, with the products of all pairs of variables or without.
func NewSums(groups, items, variables int, products bool) *Sums {
	s := &Sums{variables: variables, groups: groups, width: 1 + variables}
	if products {
		s.width += variables * (variables + 1) / 2
	}
	s.all = make([]float64, items*groups*s.width)
	return s
}

// Add adds the variables of one fit at an item.
func (s *Sums) Add(group, item int, observed []float64) {
	sums := s.Group(group, item).sums
	sums[0]++
	at := 1 + len(observed)
	for i, v := range observed {
		if sums[1+i] += v; at == len(sums) {
			continue
		}
		for _, w := range observed[i:] {
			sums[at] += v * w
			at++
		}
	}
}

// Group are the sums of one group at an item.
func (s *Sums) Group(group, item int) Moments {
	return Moments{s.variables, s.all[(item*s.groups+group)*s.width:][:s.width]}
}

// Total are the sums of all groups at an item.
func (s *Sums) Total(item int) Moments {
	total := make([]float64, s.width)
	for g := range s.groups {
		floats.Add(total, s.Group(g, item).sums)
	}
	return Moments{s.variables, total}
}

// Moments are the sums at one item.
type Moments struct {
	variables int
	sums      []float64
}

// Count is the number of fits; Sum and Mean (NaN without fits) are of variable i, and Central is the sum of
// the products of i and j about their means.
func (m Moments) Count() float64           { return m.sums[0] }
func (m Moments) Sum(i int) float64        { return m.sums[1+i] }
func (m Moments) Mean(i int) float64       { return m.Sum(i) / m.Count() }
func (m Moments) Central(i, j int) float64 { return m.Product(i, j) - m.Sum(i)*m.Mean(j) }

// Product is the sum of the products of variables i and j.
func (m Moments) Product(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	return m.sums[1+m.variables+i*m.variables-i*(i-1)/2+j-i]
}

// Less are the sums of m minus a part's.
func (m Moments) Less(part Moments) Moments {
	rest := make([]float64, len(m.sums))
	return Moments{m.variables, floats.SubTo(rest, m.sums, part.sums)}
}

// Jackknife is the standard error of an estimate from its values with one of G groups deleted in turn: the
// square root of (G-1)/G sum_g (e_g - mean e)^2. NaN for fewer than two groups.
func Jackknife(without []float64) float64 {
	g := float64(len(without))
	if g < 2 {
		return math.NaN()
	}
	about := make([]float64, len(without)) // relative to the first: equal values give exactly 0
	for i, v := range without {
		about[i] = v - without[0]
	}
	return math.Sqrt((g - 1) * stat.PopVariance(about, nil))
}
