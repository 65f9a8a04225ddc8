package dataset

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
)

// Ranks are processes that hold the inputs of one set together. They run the same program and
// call the same methods in the same order; linalg/dist has them over MPI.
type Ranks interface {
	// Rank is the number of this process, from 0 to Size-1.
	Rank() int
	Size() int
	// Sum adds x up over the ranks. All get the same, bit for bit.
	Sum(x []float64)
	// Broadcast copies rank from's x to all, and BroadcastBytes returns its text on all.
	Broadcast(x []float64, from int)
	BroadcastBytes(text []byte, from int) []byte
	// Agree is nil if err is nil on all ranks, and otherwise an error on all.
	Agree(err error) error
}

// bound is the first of n things that belong to a rank and those after it.
func bound(n, rank, size int) int { return int(int64(n) * int64(rank) / int64(size)) }

// sum adds x up over ranks; nil is this process alone.
func sum(r Ranks, x []float64) {
	if r != nil && len(x) > 0 {
		r.Sum(x)
	}
}

// Own says which examples' inputs are here, first to last-1: all of them, or this rank's even
// part.
func (s *Set) Own() (first, last int) {
	if s.Ranks == nil {
		return 0, s.N()
	}
	n, rank, size := s.N(), s.Ranks.Rank(), s.Ranks.Size()
	return bound(n, rank, size), bound(n, rank+1, size)
}

// Spread is a set that all ranks have whole with this rank's part of the inputs only. Sparse
// inputs stay whole.
func (s *Set) Spread(r Ranks) (*Set, error) {
	if s.Sparse != nil || s.Ranks != nil {
		return s, nil
	}
	var err error
	if own := s.Digest(); own != string(r.BroadcastBytes([]byte(own), 0)) {
		err = &Error{File: s.Name, Err: errOtherData}
	}
	if err := r.Agree(err); err != nil {
		return nil, err
	}
	part := *s
	part.Ranks = r
	first, last := part.Own()
	part.X = NewMatrix(last-first, s.X.Cols)
	for i := range part.X.Rows {
		copy(part.X.Row(i), s.X.Row(first+i))
	}
	return &part, nil
}

var errOtherData = errors.New("these data are not those of rank 0")

// Whole is s with all inputs here, on every rank.
func (s *Set) Whole() *Set {
	if s.Ranks == nil {
		return s
	}
	return s.Head(s.N())
}

// Agree is err, or where ranks hold the inputs together an error on all if it is one on any.
func (s *Set) Agree(err error) error {
	if s.Ranks == nil {
		return err
	}
	return s.Ranks.Agree(err)
}

// Rows copies the inputs of the examples with the given numbers, in that order. Ranks that hold
// them together must all ask for the same.
func (s *Set) Rows(rows []int) Matrix {
	if s.Ranks == nil {
		return s.X.Gather(rows)
	}
	first, last := s.Own()
	some := NewMatrix(len(rows), s.X.Cols)
	for k, i := range rows {
		if first <= i && i < last {
			copy(some.Row(k), s.X.Row(i-first))
		}
	}
	sum(s.Ranks, some.Data)
	return some
}

// Share is Rows for an ascending list that ranks share evenly: each gets its part of the list.
// Without ranks that is all of it.
func (s *Set) Share(rows []int) Matrix {
	if s.Ranks == nil {
		return s.X.Gather(rows)
	}
	bounds := make([]int, s.Ranks.Size()+1)
	for p := range bounds {
		bounds[p] = bound(s.N(), p, s.Ranks.Size())
	}
	return deal(s.Ranks, s.X, bounds, len(rows), func(k int) int { return rows[k] })
}

// dealtAtOnce is about how many numbers travel at a time.
const dealtAtOnce = 1 << 17

// deal shares count rows out evenly, the k-th of them row at(k), ascending, of a matrix of which rank p
// holds rows bounds[p] to bounds[p+1]-1 as x. Only what changes hands travels, and from one rank to all.
func deal(r Ranks, x Matrix, bounds []int, count int, at func(k int) int) Matrix {
	rank, size := r.Rank(), r.Size()
	first, last := bound(count, rank, size), bound(count, rank+1, size)
	mine := NewMatrix(last-first, x.Cols)
	block := NewMatrix(max(1, dealtAtOnce/max(1, x.Cols)), x.Cols)
	for p := range size {
		from := sort.Search(count, func(k int) bool { return at(k) >= bounds[p] })
		to := sort.Search(count, func(k int) bool { return at(k) >= bounds[p+1] })
		stay, leave := bound(count, p, size), bound(count, p+1, size)
		for k := from; k < to; {
			if stay <= k && k < leave {
				end := min(to, leave)
				for ; k < end; k++ {
					if p == rank {
						copy(mine.Row(k-first), x.Row(at(k)-bounds[p]))
					}
				}
				continue
			}
			end := min(to, k+block.Rows)
			if k < stay {
				end = min(end, stay)
			}
			if p == rank {
				for i := k; i < end; i++ {
					copy(block.Row(i-k), x.Row(at(i)-bounds[p]))
				}
			}
			r.Broadcast(block.Data[:(end-k)*x.Cols], p)
			for i := max(k, first); i < min(end, last); i++ {
				copy(mine.Row(i-first), block.Row(i-k))
			}
			k = end
		}
	}
	return mine
}

// distinctOverRanks is Distinct of rows that ranks hold together: rows are the same where 16 bytes
// of their SHA-256 are. Each rank looks for repetitions among the keys of its residue class.
func distinctOverRanks(r Ranks, x Matrix, n int) (site, firsts []int) {
	const size = 16
	own := make([]byte, 0, size*x.Rows)
	row := make([]byte, 8*x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if v == 0 {
				v = 0 // -0 as 0
			}
			binary.LittleEndian.PutUint64(row[8*j:], math.Float64bits(v))
		}
		key := sha256.Sum256(row)
		own = append(own, key[:size]...)
	}
	type key = [size]byte
	seen := map[key]int{} // the first row of a key
	var pairs []byte      // later rows, and the first of their key
	at := 0
	for p := range r.Size() {
		for keys := r.BroadcastBytes(own, p); len(keys) > 0; keys = keys[size:] {
			if k := key(keys[:size]); int(binary.LittleEndian.Uint32(keys)%uint32(r.Size())) == r.Rank() {
				if before, repeated := seen[k]; repeated {
					pairs = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(pairs, uint64(at)),
						uint64(before))
				} else {
					seen[k] = at
				}
			}
			at++
		}
	}
	type repetition struct{ row, of int }
	var repeated []repetition
	for p := range r.Size() {
		for list := r.BroadcastBytes(pairs, p); len(list) > 0; list = list[16:] {
			repeated = append(repeated, repetition{int(binary.LittleEndian.Uint64(list)),
				int(binary.LittleEndian.Uint64(list[8:]))})
		}
	}
	slices.SortFunc(repeated, func(a, b repetition) int { return cmp.Compare(a.row, b.row) })
	site, firsts = make([]int, n), make([]int, 0, n-len(repeated))
	for i := range site {
		if len(repeated) > 0 && repeated[0].row == i {
			site[i], repeated = site[repeated[0].of], repeated[1:]
			continue
		}
		site[i] = len(firsts)
		firsts = append(firsts, i)
	}
	return site, firsts
}

// checksum is one that can be handed on in the middle.
type checksum interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// inTurn has ranks write to a checksum one after the other, as one process would, and leaves the same
// on all.
func inTurn(r Ranks, h checksum, write func()) {
	for p := range r.Size() {
		var state []byte
		if p == r.Rank() {
			write()
			state, _ = h.MarshalBinary() // which has no way to fail
		}
		if err := h.UnmarshalBinary(r.BroadcastBytes(state, p)); err != nil {
			panic(err)
		}
	}
}
