package core

import (
	"fmt"
	"math"
	"slices"
)

// Sites are the vectors over the sites of an engine that factorises B = I + d^1/2 K d^1/2.
type Sites struct {
	D             []float64 // the d of G
	Root, Inverse []float64 // d^1/2, kept away from zero, and 1/d^1/2
	Chi, B        []float64 // diag(G), 1 - d chi
}

// smallestRoot is the least d^1/2, so that G = -(B^-1)_ij/(r_i r_j) also holds at d = 0. Off-diagonal
// elements of L and L^-1 scale with r, so nothing is lost; its square is far below rounding, and the squares
// of those elements do not underflow.
const smallestRoot = 1e-70

// NewSites allocates n sites.
func NewSites(n int) Sites {
	v := func() []float64 { return make([]float64, n) }
	return Sites{D: v(), Root: v(), Inverse: v(), Chi: v(), B: v()}
}

// MoveTo stores d.
func (s *Sites) MoveTo(d []float64) {
	copy(s.D, d)
	for i, v := range d {
		s.Root[i] = math.Max(math.Sqrt(v), smallestRoot)
		s.Inverse[i] = 1 / s.Root[i]
	}
}

// ConditionalVariance sets chi_i to the variance v_i = K_ii - sum_{k<i} L_ik^2/d_i of site i given the
// previous ones, divided by L_ii^2; sum is the sum of L_ik^2.
func (s *Sites) ConditionalVariance(i int, kii, sum, pivot float64) {
	s.Chi[i] = (kii - sum/(s.Root[i]*s.Root[i])) / (pivot * pivot)
}

// Diagonal completes chi_i and b_i from m = (L^-1)_ii and below, the sum of the other squares of column i:
//
//	b_i = (B^-1)_ii = sum_k (L^-1)_ki^2,
//	chi_i = (1 - b_i)/d_i = v_i/L_ii^2 - sum_{k>i} (L^-1)_ki^2/d_i.
//
// The first form of chi loses 1/d_i against chi_i to rounding, the second K_ii: the smaller loss is taken.
func (s *Sites) Diagonal(i int, kii, below, m float64) {
	s.B[i] = m*m + below
	if s.D[i]*kii >= 1 {
		s.Chi[i] = (1 - s.B[i]) / s.D[i]
	} else {
		s.Chi[i] -= below / (s.Root[i] * s.Root[i])
	}
}

// Positive reports whether all x are.
func Positive(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return !(v > 0) })
}

// SiteError reports an unusable site parameter.
type SiteError struct {
	Site  int // 0-based
	Value float64
}

func (e *SiteError) Error() string {
	return fmt.Sprintf("site parameter d of site %d is %v, must be finite and >= 0", e.Site+1, e.Value)
}

// Check refuses invalid site parameters.
func Check(d []float64, n int) error {
	if len(d) != n {
		return fmt.Errorf("%d site parameters for %d sites", len(d), n)
	}
	for i, v := range d {
		if !(v >= 0) || math.IsInf(v, 1) {
			return &SiteError{Site: i, Value: v}
		}
	}
	return nil
}
