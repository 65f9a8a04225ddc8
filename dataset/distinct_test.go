package dataset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// distinctByPairs is the plain way: compare every pair of rows.
func distinctByPairs(x Matrix) (site, first []int) {
	for i := range x.Rows {
		s := slices.IndexFunc(first, func(f int) bool { return slices.Equal(x.Row(i), x.Row(f)) })
		if s < 0 {
			s = len(first)
			first = append(first, i)
		}
		site = append(site, s)
	}
	return site, first
}

func TestDistinctAgainstPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(0, 40).Draw(t, "n"), rapid.IntRange(0, 3).Draw(t, "d")
		value := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 1 + 0x1p-52})
		x := Matrix{Rows: n, Cols: d, Stride: d, Data: rapid.SliceOfN(value, n*d, n*d).Draw(t, "x")}
		site, first := Distinct(x)
		wantSite, wantFirst := distinctByPairs(x)
		if !slices.Equal(site, wantSite) || !slices.Equal(first, wantFirst) {
			t.Fatalf("got %v, %v; want %v, %v", site, first, wantSite, wantFirst)
		}
		for i, s := range site { // the matrix of distinct inputs gives the rows back
			if !slices.Equal(x.Gather(first).Row(s), x.Row(i)) {
				t.Fatalf("row %d is not distinct input %d", i, s)
			}
		}
	})
}
