package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Distinct numbers the distinct inputs by first appearance: site[i] is the input of row i, first[s] the first
// row of input s, and X.Gather(first) the matrix of distinct inputs. Rows are equal if their weights and all
// features are (0 and -0 are equal), compared by their SHA-256.
func (s *Set) Distinct() (site, first []int) { return s.distinct(nil) }

// distinct leaves out some features, nil for none.
func (s *Set) distinct(omit []bool) (site, first []int) {
	site = make([]int, s.N())
	number := make(map[[sha256.Size]byte]int, s.N())
	var b []byte
	for i := range site {
		b = s.appendRow(b[:0], i, omit)
		key := sha256.Sum256(b)
		k, ok := number[key]
		if !ok {
			k = len(first)
			number[key], first = k, append(first, i)
		}
		site[i] = k
	}
	return site, first
}

// counters are the features that number the rows: whole numbers that all differ.
func (s *Set) counters() []bool {
	counts := make([]bool, s.D())
	for j := range counts {
		counts[j] = true
		for i, known := 0, map[float64]bool{}; i < s.N() && counts[j]; i++ {
			v := s.X.At(i, j)
			counts[j], known[v] = v == math.Trunc(v) && !known[v], true
		}
	}
	return counts
}

// Copies numbers the distinct inputs as Distinct does, without numbers of rows, if rows are copies of others,
// and counts these; else site is nil. More than one row in a hundred agrees then with an earlier one in
// inputs and targets, there are not few inputs, nearly each has one target, and without copying less than one
// pair of rows would agree if the columns were independent. If all columns have few values, which may depend
// on each other, less than a millionth of a pair is required.
func (s *Set) Copies() (site []int, copies int) {
	if s.Sparse != nil || len(s.Columns) != 1 {
		return nil, 0
	}
	counts := s.counters()
	site, first := s.distinct(counts)
	y, rows, number := s.Columns[0].Y, []int(nil), map[[2]float64]bool{}
	for i, k := range site {
		if key := [2]float64{float64(k), y[i]}; !number[key] {
			number[key], rows = true, append(rows, i)
		}
	}
	copies = s.N() - len(rows)
	if len(first) < fewRows || 100*copies <= s.N() || 10*(len(rows)-len(first)) > copies {
		return nil, 0
	}
	pairs, most := float64(len(rows))*float64(len(rows))/2, 0
	for j := range s.D() + 1 {
		if j < s.D() && counts[j] {
			continue
		}
		count := map[float64]float64{}
		for _, i := range rows {
			v := y[i]
			if j < s.D() {
				v = s.X.At(i, j)
			}
			count[v]++
		}
		share, m := 0.0, float64(len(rows))
		for _, c := range count {
			share += (c / m) * (c / m)
		}
		pairs *= share
		if most = max(most, len(count)); pairs < 1e-6 {
			return site, copies
		}
	}
	if pairs >= 1 || 2*most < len(rows) {
		return nil, 0
	}
	return site, copies
}

// appendRow appends the bytes of weight and features of example i, except those to omit, the same for equal
// ones.
func (s *Set) appendRow(b []byte, i int, omit []bool) []byte {
	put := func(v float64) { b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v+0)) } // -0 + 0 is 0
	if s.Weights != nil {
		put(s.Weights[i])
	}
	if s.Sparse == nil {
		for j, v := range s.X.Row(i) {
			if omit == nil || !omit[j] {
				put(v)
			}
		}
		return b
	}
	index, value := s.Sparse.Row(i)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(index)))
	for k, j := range index {
		b = binary.LittleEndian.AppendUint64(b, uint64(j))
		put(value[k])
	}
	return b
}

// Digest is a checksum of shape, features and targets, without names; it is the same on every machine.
func (s *Set) Digest() string {
	h := sha256.New()
	b := binary.LittleEndian.AppendUint64(nil, uint64(s.N()))
	h.Write(binary.LittleEndian.AppendUint64(b, uint64(s.D())))
	for _, c := range s.Columns {
		h.Write(binary.LittleEndian.AppendUint64(b[:0], uint64(len(c.Levels))))
	}
	for i := range s.N() {
		b = b[:0]
		for _, c := range s.Columns {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(c.Y[i]))
		}
		h.Write(s.appendRow(b, i, nil))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
