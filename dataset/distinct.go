package dataset

import (
	"math"
	"math/bits"
)

// Distinct finds repeated inputs: rows all of whose features are equal (0 and
// -0 are). site[i] is the number of the distinct input of row i, and first[s]
// is the first row that has distinct input s; distinct inputs are numbered by
// first appearance. X.Gather(first) is the matrix of distinct inputs. The cost
// is O(N D): rows are hashed, and rows of equal hash are compared.
func Distinct(x Matrix) (site, first []int) {
	hash := func(i int) uint64 { return hashRow(x.Row(i)) }
	equal := func(i, j int) bool { return equalRows(x.Row(i), x.Row(j)) }
	return distinct(x.Rows, hash, equal)
}

// distinct numbers the different ones among n rows.
func distinct(n int, hash func(i int) uint64, equal func(i, j int) bool) (site, first []int) {
	site = make([]int, n)
	var next []int // the following distinct input of the same hash, or -1
	newest := make(map[uint64]int, n)
	for i := range n {
		h := hash(i)
		s, ok := newest[h]
		if !ok {
			s = -1
		}
		head := s
		for s >= 0 && !equal(i, first[s]) {
			s = next[s]
		}
		if s < 0 {
			s = len(first)
			first = append(first, i)
			next = append(next, head)
			newest[h] = s
		}
		site[i] = s
	}
	return site, first
}

// hashRow mixes the bits of a row; equal rows have equal hashes.
func hashRow(row []float64) uint64 {
	h := uint64(len(row))
	for _, v := range row {
		if v == 0 {
			v = 0 // -0 as 0
		}
		h = mix(h ^ math.Float64bits(v))
	}
	return h
}

// mix spreads 64 bits: both halves of a product with 2^64 over the golden ratio.
func mix(h uint64) uint64 {
	high, low := bits.Mul64(h, 0x9e3779b97f4a7c15)
	return high ^ low
}

func equalRows(a, b []float64) bool {
	for j, v := range a {
		if v != b[j] {
			return false
		}
	}
	return true
}
