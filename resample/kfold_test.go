package resample

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFolds: K draws in a row leave every example out exactly once, in folds of
// equal size to within one; draws do not depend on the order in which they are
// taken; partitions and seeds differ.
func TestFolds(t *testing.T) {
	for _, s := range []KFold{{2, 5}, {3, 12}, {5, 12}, {12, 12}} {
		counts := make([]int, s.N)
		var partitions [][]int // per block, the fold of each example
		for block := range 3 {
			fold, total := make([]int, s.N), make([]int, s.N)
			for f := range s.Folds {
				s.SampleAt(4, block*s.Folds+f, counts)
				absent := 0
				for i, k := range counts {
					if k == 0 {
						fold[i] = f
						total[i]++
						absent++
					} else if k != 1 {
						t.Fatalf("%+v: count %d", s, k)
					}
				}
				if absent != s.N/s.Folds && absent != (s.N+s.Folds-1)/s.Folds || absent != s.size(f) {
					t.Errorf("%+v: fold %d has %d examples", s, f, absent)
				}
			}
			for i, n := range total {
				if n != 1 {
					t.Errorf("%+v: block %d leaves example %d out %d times", s, block, i, n)
				}
			}
			partitions = append(partitions, fold)
		}
		if slices.Equal(partitions[0], partitions[1]) && slices.Equal(partitions[1], partitions[2]) {
			t.Errorf("%+v: all partitions are the same", s)
		}
		again, other := make([]int, s.N), make([]int, s.N)
		s.SampleAt(4, 1, again)
		Draw(s, 4, 1, other)
		if !slices.Equal(again, other) || again[slices.Index(partitions[0], 1)] != 0 {
			t.Errorf("%+v: draw 1 is %v, then %v", s, again, other)
		}
		if Period(s) != s.Folds || Period(Poisson{1}) != 1 {
			t.Error("periods")
		}
	}
	a, b := make([]int, 40), make([]int, 40)
	KFold{4, 40}.SampleAt(1, 0, a)
	KFold{4, 40}.SampleAt(2, 0, b)
	if slices.Equal(a, b) {
		t.Error("two seeds, one partition")
	}
}

// TestDraw: what is no series has the stream PCG(seed, b) for draw b.
func TestDraw(t *testing.T) {
	a, b := make([]int, 30), make([]int, 30)
	Draw(Poisson{1}, 3, 9, a)
	Poisson{1}.Sample(rand.New(rand.NewPCG(3, 9)), b)
	if !slices.Equal(a, b) {
		t.Errorf("%v, not %v", a, b)
	}
}

// TestSizes: schemes of fixed size keep it.
func TestSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	counts := make([]int, 11)
	for range 200 {
		for _, size := range []int{1, 4, 11} {
			(Subsample{size, 11}).Sample(rng, counts)
			sum := 0
			for _, k := range counts {
				sum += k
			}
			if sum != size || slices.Max(counts) != 1 {
				t.Fatalf("%d of 11 gives %v", size, counts)
			}
		}
	}
}
