package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/need"
	"bootbench/linalg"
)

// perPair reports the time for each of the n pairs that one iteration handles.
func perPair(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/pair")
}

func BenchmarkGram(b *testing.B) {
	const n, d = 2000, 8
	x := gaussian(rand.New(rand.NewPCG(1, 1)), n, d)
	for _, kind := range []Kind{RBF, Matern12, Matern32, Matern52, Linear, Poly} {
		b.Run(fmt.Sprintf("kind=%v/n=%d/d=%d", kind, n, d), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Spec{Kind: kind}).Gram(x); err != nil {
					b.Fatal(err)
				}
			}
			perPair(b, n*(n+1)/2)
		})
	}
}

func BenchmarkGramPlain(b *testing.B) {
	const n, d = 2000, 8
	x := gaussian(rand.New(rand.NewPCG(1, 1)), n, d)
	b.Run(fmt.Sprintf("kind=rbf/n=%d/d=%d", n, d), func(b *testing.B) {
		for b.Loop() {
			gramPlain(Spec{}, x)
		}
		perPair(b, n*(n+1)/2)
	})
}

// BenchmarkGramStages times what Gram is made of: products, distances,
// exponentials on one goroutine.
func BenchmarkGramStages(b *testing.B) {
	const n, d = 2000, 8
	in := need.One(Spec{}.Prepare(gaussian(rand.New(rand.NewPCG(1, 1)), n, d)))(b)
	b.Run("stage=allocate", func(b *testing.B) {
		for b.Loop() {
			linalg.NewSym(n)
		}
		perPair(b, n*(n+1)/2)
	})
	b.Run("stage=products", func(b *testing.B) {
		s := linalg.NewSym(n)
		for b.Loop() {
			blas64.Syrk(blas.NoTrans, 1, in.train.scaled, 0, s.Raw())
		}
		perPair(b, n*(n+1)/2)
	})
	b.Run("stage=distances", func(b *testing.B) {
		v, p := make([]float64, tile), in.pairsWith(&in.train, 0, 1)
		for b.Loop() {
			clear(v)
			p.squaredDistances(v, 0)
		}
		perPair(b, tile)
	})
	b.Run("stage=exponentials", func(b *testing.B) {
		v, r2 := make([]float64, tile), make([]float64, tile)
		p := in.pairsWith(&in.train, 0, 1)
		p.squaredDistances(r2, 0)
		for b.Loop() {
			copy(v, r2)
			in.spec.profile(v, d)
		}
		perPair(b, tile)
	})
}

func BenchmarkCross(b *testing.B) {
	const m, p, d = 2000, 256, 8
	rng := rand.New(rand.NewPCG(1, 1))
	in := need.One(Spec{}.Prepare(gaussian(rng, m, d)))(b)
	z, dst := gaussian(rng, p, d), general(p, m)
	b.Run(fmt.Sprintf("kind=rbf/m=%d/p=%d/d=%d", m, p, d), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := in.Cross(z, dst); err != nil {
				b.Fatal(err)
			}
		}
		perPair(b, m*p)
	})
}

// textLike draws n rows of a text: words of Zipf's law, each at most once a row.
func textLike(rng *rand.Rand, n, d, words int) CSR {
	x := CSR{Rows: n, Cols: d, Start: []int{0}}
	sum := make([]float64, d)
	total := 0.0
	for w := range sum {
		total += 1 / (float64(w) + 3.7)
		sum[w] = total
	}
	for range n {
		var row []int32
		for range words {
			w, _ := slices.BinarySearch(sum, total*rng.Float64())
			row = append(row, int32(w))
		}
		slices.Sort(row)
		row = slices.Compact(row)
		for range row {
			x.Value = append(x.Value, rng.Float64()/float64(words))
		}
		x.Index = append(x.Index, row...)
		x.Start = append(x.Start, len(x.Index))
	}
	return x
}

// BenchmarkSparseGram is the matrix of n documents: from the sparse rows, and
// from the same rows as a dense matrix.
func BenchmarkSparseGram(b *testing.B) {
	const n, d = 6000, 5000
	x := textLike(rand.New(rand.NewPCG(1, 1)), n, d, 110)
	for _, kind := range []Kind{Linear, RBF} {
		for _, form := range []string{"sparse", "dense"} {
			b.Run(fmt.Sprintf("kind=%v/n=%d/d=%d/form=%s", kind, n, d, form), func(b *testing.B) {
				var in Training
				var err error
				if form == "sparse" {
					in, err = Spec{Kind: kind, Gamma: 0}.PrepareSparse(x)
				} else {
					dense := general(n, d)
					for i := range n {
						index, value := x.Row(i)
						for k, c := range index {
							row(dense, i)[c] = value[k]
						}
					}
					in, err = Spec{Kind: kind}.Prepare(dense)
				}
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := in.Gram(); err != nil {
						b.Fatal(err)
					}
				}
				perPair(b, n*(n+1)/2)
			})
		}
	}
}
