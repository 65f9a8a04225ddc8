package linalg_test

import (
	"math"
	"slices"
	"testing"

	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
)

// What shares add up and compare is, on every member, that of the whole vector.
func TestShareReduces(t *testing.T) {
	x := []float64{3, -1, 7, 2, 5, 0, 4} // sums of such numbers have no rounding
	disttest.OnRanks(1, 3, func(g dist.Grid) {
		share := linalg.ShareOut(dist.NewTeam(g), len(x))
		own := share.Of(x)
		sum := 0.0
		for _, v := range own {
			sum += v
		}
		before, after := share.Around(sum)
		if total := share.SumOf(sum); total != 20 || before+sum+after != 20 || share.First == 0 && before != 0 ||
			share.Last == len(x) && after != 0 {
			t.Errorf("rank %d: sum %v, %v before and %v after", g.Rank(), total, before, after)
		}
		if got := share.Gather(own); !slices.Equal(got, x) {
			t.Errorf("rank %d: %v", g.Rank(), got)
		}
		// The largest are negative, infinite, and no number.
		most := []float64{-1 - float64(g.Rank()), math.Inf(1 - 2*g.Rank()), []float64{0, math.NaN(), 2}[g.Rank()]}
		share.MaxEach(most)
		if most[0] != -1 || !math.IsInf(most[1], 1) || !math.IsNaN(most[2]) {
			t.Errorf("rank %d: largest %v", g.Rank(), most)
		}
	})
}
