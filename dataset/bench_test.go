package dataset

import (
	"bytes"
	"fmt"
	"io"
	"math"
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

// TestReadingTakesTwiceTheMatrix: all that reading allocates, freed or not, is at
// most 2.5 times the matrix: the cells in blocks, the matrix and the targets, besides buffers.
func TestReadingTakesTwiceTheMatrix(t *testing.T) {
	const n, d = 40000, 20
	file := randomTable(n, d)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	s, err := ReadTable(bytes.NewReader(file), "f.csv", Options{})
	runtime.ReadMemStats(&after)
	if err != nil || s.N() != n || s.D() != d {
		t.Fatal(err)
	}
	if got, most := float64(after.TotalAlloc-before.TotalAlloc), 2.5*8*n*d+8*sampleBytes; got > most {
		t.Errorf("%.3g bytes for a matrix of %.3g", got, 8.0*n*d)
	}
	if math.IsNaN(s.X.Data[len(s.X.Data)-1]) {
		t.Error("the last cell is missing")
	}
}

// BenchmarkReadTable/n=1000000 is a file of 390 MB.
func BenchmarkReadTable(b *testing.B) {
	for _, n := range []int{10000, 1000000} {
		b.Run(fmt.Sprintf("n=%d/d=20", n), func(b *testing.B) {
			if n > 100000 && testing.Short() {
				b.Skip("a large file")
			}
			file := randomTable(n, 20)
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if _, err := ReadTable(io.NopCloser(bytes.NewReader(file)), "f.csv", Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N), "s/op")
		})
	}
}
