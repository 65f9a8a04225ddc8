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

// Rows with equal hashes must still be told apart.
func TestDistinctSurvivesCollisions(t *testing.T) {
	a, b := collidingRows()
	if hashRow(a) != hashRow(b) || slices.Equal(a, b) {
		t.Fatalf("%v and %v do not collide: choose others", a, b)
	}
	x := Matrix{Rows: 4, Cols: 3, Stride: 3, Data: slices.Concat(a, b, a, b)}
	site, first := Distinct(x)
	if !slices.Equal(site, []int{0, 1, 0, 1}) || !slices.Equal(first, []int{0, 1}) {
		t.Errorf("sites %v, first %v", site, first)
	}
}

// collidingRows builds rows of three features whose second feature cancels the
// hash of the first, which leaves the state zero in both.
func collidingRows() (a, b []float64) {
	row := func(v float64) []float64 {
		// The state after the first feature of a row of three.
		state := mix(3 ^ math.Float64bits(v))
		return []float64{v, math.Float64frombits(state), 5}
	}
	var rows [][]float64
	for v := 1.0; len(rows) < 2; v++ {
		if r := row(v); checkFinite(r[1]) == nil {
			rows = append(rows, r)
		}
	}
	return rows[0], rows[1]
}
