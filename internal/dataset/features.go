package dataset

import (
	"math/rand/v2"
	"slices"

	"bootbench/linalg"
)

// FeatureColumn is a column of the data, and the numbers of the features that it became.
type FeatureColumn struct {
	Name     string
	Features []int
}

// FeatureColumns are the columns that became features, in their order; of sparse data every feature is one.
func (s *Set) FeatureColumns() (all []FeatureColumn) {
	columns, next := s.Encoding().Columns, 0
	if len(columns) == 0 {
		for _, name := range numbered("", s.D()) {
			columns = append(columns, encodedColumn{Name: name})
		}
	}
	for _, from := range columns {
		c := FeatureColumn{Name: from.Name}
		for range from.width() {
			c.Features = append(c.Features, next)
			next++
		}
		all = append(all, c)
	}
	return all
}

// dense is a copy with dense inputs of its own.
func (s *Set) dense() *Set {
	other := *s
	if other.X.Data = slices.Clone(s.X.Data); s.Sparse != nil {
		other.X, other.Sparse = s.Sparse.Dense(), nil
	}
	return &other
}

// Without is a copy of dense inputs in which a column is the same in every row, so that it tells nothing.
func (s *Set) Without(c FeatureColumn) *Set {
	other := s.dense()
	for i := range s.N() {
		for _, j := range c.Features {
			other.X.Row(i)[j] = 0
		}
	}
	return other
}

// Permuted is a copy of dense inputs in which the values of a column have changed places at random: among the
// groups if each has one value, else among the rows.
func (s *Set) Permuted(c FeatureColumn, rng *rand.Rand) *Set {
	other, x := s.dense(), s.dense().X
	from := rng.Perm(s.N())
	if first, whole := s.constantIn(x, c); whole {
		to := rng.Perm(len(first))
		for i, g := range s.Groups {
			from[i] = first[to[g]]
		}
	}
	for i := range from {
		for _, j := range c.Features {
			other.X.Row(i)[j] = x.Row(from[i])[j]
		}
	}
	return other
}

// constantIn is the first row of each group, and whether every group has one value of a column.
func (s *Set) constantIn(x linalg.Matrix, c FeatureColumn) (first []int, whole bool) {
	if s.Groups == nil {
		return nil, false
	}
	first = slices.Repeat([]int{-1}, 1+slices.Max(s.Groups))
	for i, g := range s.Groups {
		if first[g] < 0 {
			first[g] = i
		}
		for _, j := range c.Features {
			if x.Row(i)[j] != x.Row(first[g])[j] {
				return nil, false
			}
		}
	}
	return first, true
}
