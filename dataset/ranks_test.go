package dataset_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"bootbench/dataset"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
)

// onRanks calls f on every one of so many ranks.
func onRanks(count int, f func(r dataset.Ranks)) {
	disttest.OnRanks(1, count, func(g dist.Grid) { f(dist.NewTeam(g)) })
}

// repeating is n examples with d features, most of which another has, too, some by -0 for 0.
func repeating(n, d int, rng *rand.Rand) *dataset.Set {
	s := &dataset.Set{Name: "repeating", X: dataset.NewMatrix(n, d), Y: make([]float64, n)}
	for k := range s.X.Data {
		if s.X.Data[k] = float64(rng.IntN(3)); s.X.Data[k] == 0 && rng.IntN(2) == 0 {
			s.X.Data[k] = math.Copysign(0, -1)
		}
	}
	for i := range s.Y {
		s.Y[i] = rng.NormFloat64()
	}
	return s
}

// What ranks that hold parts of the inputs say of a set is what one process says of the whole: sums over rows
// to rounding, the rest to the last bit; from fewer rows than ranks on.
func TestRanksHoldOneSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	for _, n := range []int{1, 2, 5, 64, 301} {
		for _, ranks := range []int{1, 2, 3, 7} {
			set := repeating(n, 1+rng.IntN(5), rng)
			site, first := set.Distinct()
			want, rounding := set.Standardizer(), float64(n)*0x1p-52 // of sums of n numbers near 1
			list := []int{n - 1, 0, n / 2, n - 1}
			shares := make([]dataset.Matrix, ranks)
			onRanks(ranks, func(r dataset.Ranks) {
				part, err := set.Spread(r)
				if err != nil {
					t.Error(err)
					return
				}
				from, to := part.Own()
				if part.X.Rows != to-from || part.N() != n || part.D() != set.D() {
					t.Errorf("rank %d of %d holds %d rows, its own are %d to %d of %d", r.Rank(), ranks, part.X.Rows, from,
						to, n)
				}
				if s, f := part.Distinct(); !slices.Equal(s, site) || !slices.Equal(f, first) {
					t.Errorf("%d ranks: sites %v, first %v; of one process %v, %v", ranks, s, f, site, first)
				}
				if part.Digest() != set.Digest() {
					t.Errorf("%d ranks: another digest", ranks)
				}
				got := part.Standardizer()
				for j := range want.Mean {
					if math.Abs(got.Mean[j]-want.Mean[j]) > rounding || math.Abs(got.SD[j]-want.SD[j]) > rounding {
						t.Errorf("%d ranks: scales %v, of one process %v", ranks, got, want)
					}
				}
				if !reflect.DeepEqual(part.Rows(list), positive(set.X.Gather(list))) ||
					!reflect.DeepEqual(positive(part.Whole().X), positive(set.X)) {
					t.Errorf("%d ranks: other rows", ranks)
				}
				shares[r.Rank()] = part.Share(first)
			})
			var together []float64
			for p, x := range shares {
				if x.Rows != len(first)*(p+1)/ranks-len(first)*p/ranks {
					t.Errorf("rank %d of %d has %d of %d sites", p, ranks, x.Rows, len(first))
				}
				together = append(together, x.Data...)
			}
			if !slices.Equal(together, set.X.Gather(first).Data) {
				t.Errorf("%d ranks share out other sites than the %d of one process", ranks, len(first))
			}
		}
	}
}

// positive is x with 0 for -0, as it comes out of a sum.
func positive(x dataset.Matrix) dataset.Matrix {
	for k, v := range x.Data {
		x.Data[k] = v + 0
	}
	return x
}

// Ranks that read other data than rank 0 refuse them, all with an error.
func TestRanksRefuseOtherData(t *testing.T) {
	onRanks(3, func(r dataset.Ranks) {
		_, err := dataset.Load(fmt.Sprintf("synthetic:waves,n=20,d=2,seed=%d", 1+r.Rank()/2),
			dataset.Options{Ranks: r})
		if err == nil {
			t.Errorf("rank %d takes them", r.Rank())
		}
	})
}
