package dataset

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
)

// randomTable writes rows of d uniform numbers with 17 digits and a target.
func randomTable(n, d int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	var b []byte
	for j := range d {
		b = fmt.Appendf(b, "x%d,", j)
	}
	b = append(b, "y\n"...)
	for range n {
		for range d {
			b = append(strconv.AppendFloat(b, rng.Float64(), 'g', -1, 64), ',')
		}
		b = append(strconv.AppendInt(b, int64(rng.IntN(100)), 10), '\n')
	}
	return b
}

// TestTextsAreNotKept: what a set holds after reading is its matrix and its targets; no name or cell keeps
// the text that it was part of.
func TestTextsAreNotKept(t *testing.T) {
	const n, d = 40000, 10
	file := randomTable(n, d)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := ReadTable(bytes.NewReader(file), "f.csv", Options{})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || s.N() != n || s.D() != d {
		t.Fatal(err)
	}
	if got, most := float64(after.HeapAlloc)-float64(before.HeapAlloc), 8.0*n*(d+1)*1.05; got > most {
		t.Errorf("%.3g bytes for a set of %.3g", got, most)
	}
	runtime.KeepAlive(file)
	runtime.KeepAlive(s)
}
