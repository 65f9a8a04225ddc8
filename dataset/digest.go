package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
)

// Digest is a checksum of the numbers of the set: shape, features and targets,
// not their names. Equal sets have equal digests on every machine.
func (s *Set) Digest() string {
	h := sha256.New()
	put := func(v uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
	put(uint64(s.N()))
	put(uint64(s.D()))
	for i, y := range s.Y {
		put(math.Float64bits(y))
		if s.Sparse != nil {
			index, value := s.Sparse.Row(i)
			put(uint64(len(index)))
			for k, j := range index {
				put(uint64(j))
				put(math.Float64bits(value[k]))
			}
			continue
		}
		for _, v := range s.X.Row(i) {
			put(math.Float64bits(v))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
