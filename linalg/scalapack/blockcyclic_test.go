package scalapack

import "testing"

// Every share of every grid together is the whole, and the first is the largest.
func TestShares(t *testing.T) {
	for _, n := range []int{0, 1, 5, 64, 100, 257} {
		for _, block := range []int{1, 7, 64, 300} {
			for count := 1; count <= 5; count++ {
				seen := make([]int, n)
				for which := range count {
					list := ownedIndices(n, block, count, which)
					if first := ownedIndices(n, block, count, 0); len(list) > len(first) {
						t.Errorf("n = %d, blocks of %d, %d of %d: %d rows, the first has %d",
							n, block, which, count, len(list), len(first))
					}
					for _, i := range list {
						if i/block%count != which {
							t.Errorf("row %d with %d of %d", i, which, count)
						}
						seen[i]++
					}
				}
				for i, times := range seen {
					if times != 1 {
						t.Errorf("n = %d, blocks of %d, %d shares: row %d is %d times there",
							n, block, count, i, times)
					}
				}
			}
		}
	}
}
