package resample

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestFolds: every period leaves out every example once, in folds whose sizes differ by one at most, in every
// stratum and in all, and groups whole; other partitions and seeds differ, and draws come in any order.
func TestFolds(t *testing.T) {
	stratum := []int{0, 1, 1, 0, 2, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 1, 0, 2, 0, 0, 0, 0}
	group := []int{0, 0, 1, 2, 2, 2, 3, 3, 1, 4, 4, 4}
	grouped, err := Design{N: 12, Group: group, Stratum: make([]int, 12)}.Of("kfold", Options{Folds: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		Sampler
		n              int
		stratum, whole []int
	}{{KFold{2, 5}, 5, nil, nil}, {KFold{3, 12}, 12, nil, nil}, {KFold{5, 12}, 12, nil, nil},
		{KFold{12, 12}, 12, nil, nil}, {Partition{Folds: 4, Stratum: stratum}, 23, stratum, nil},
		{grouped, 12, nil, group}} {
		third, first := foldsOf(c.Sampler, 3, 2, c.n), foldsOf(c.Sampler, 3, 0, c.n)
		if slices.Equal(first, foldsOf(c.Sampler, 3, 1, c.n)) && slices.Equal(first, third) ||
			c.n == 23 && slices.Equal(first, foldsOf(c.Sampler, 4, 0, c.n)) {
			t.Errorf("%v: partitions are equal", c)
		}
		for k := -1; k < 3; k++ {
			count := make([]int, c.Period())
			for i, fold := range first {
				if fold < 0 || c.whole != nil && fold != first[slices.Index(c.whole, c.whole[i])] {
					t.Fatalf("%v: example %d is in fold %d of %v", c, i, fold, first)
				}
				if k < 0 || c.stratum != nil && c.stratum[i] == k {
					count[fold]++
				}
			}
			if slices.Max(count)-slices.Min(count) > 1 && c.whole == nil {
				t.Errorf("%v: stratum %d (-1: all) has %v members in the folds", c, k, count)
			}
		}
	}
}

// foldsOf are the folds of all examples in one period, -1 where there is not exactly one.
func foldsOf(s Sampler, seed uint64, period, n int) []int {
	fold, counts := make([]int, n), make([]float64, n)
	for i := range fold {
		fold[i] = -1
	}
	for k := range s.Period() {
		s.Draw(seed, period*s.Period()+k, counts)
		for i, c := range counts {
			if c == 0 {
				fold[i] = map[bool]int{true: k, false: -1}[fold[i] == -1]
			}
		}
	}
	return fold
}

// TestForwardChain has the splits of scikit-learn 1.7's TimeSeriesSplit(n_splits=3, test_size=2) of 9 rows.
func TestForwardChain(t *testing.T) {
	s, counts := ForwardChain{Folds: 3, Length: 2}, make([]float64, 9)
	plan := Resamples{Scheme: s, Y: make([]float64, 9)}
	for b, start := range []int{3, 5, 7} {
		s.Draw(0, b, counts)
		want := slices.Concat(slices.Repeat([]float64{1}, start), make([]float64, 9-start))
		if first, end := Tested(plan, b, 9); !slices.Equal(counts, want) || first != start || end != start+2 {
			t.Errorf("fold %d trains on %v and is judged from %d to %d", b, counts, first, end)
		}
	}
}

// TestDesigns: over 20000 draws the mean counts and the shares of draws that lack an example are, to five
// standard errors, the ratio and ProbAbsent, which is not 0 for the only unit of a stratum; members of a
// group are drawn together, and no draw is empty.
func TestDesigns(t *testing.T) {
	group := []int{0, 0, 1, 2, 2, 2, 3, 3, 1, 4, 4, 4}
	stratum := []int{0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1}
	single := []int{0, 0, 0, 1, 2, 2, 2, 2, 0, 3, 2, 2} // 1 and 3 have one row each
	for _, test := range []struct {
		scheme string
		Design
		pool []int // of each example: how many members it is drawn from; nil: half of them on average
	}{
		{"poisson", Design{Group: group}, nil},
		{"poisson", Design{Group: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1}}, nil},
		{"bernoulli", Design{Group: []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2}}, nil},
		{"multinomial", Design{Group: group, Stratum: stratum}, []int{2, 2, 2, 3, 3, 3, 3, 3, 2, 3, 3, 3}},
		{"multinomial", Design{Group: []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2},
			Stratum: []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}}, nil},
		{"subsample", Design{Stratum: stratum}, nil},
		{"multinomial", Design{Stratum: single}, nil},
		{"subsample", Design{Stratum: single}, nil},
		{"multinomial", Design{Block: 5}, nil},
		{"multinomial", Design{Block: 2, Group: group}, []int{2, 2, 2, 3, 3, 3, 2, 2, 2, 3, 3, 3}},
	} {
		d, name := test.Design, fmt.Sprintf("%s %+v", test.scheme, test.Design)
		d.N = len(group)
		s, err := d.Of(test.scheme, Options{Ratio: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		const draws = 20000
		counts, sum, absent := make([]float64, d.N), make([]float64, d.N), make([]float64, d.N)
		for b := range draws {
			if s.Draw(7, b, counts); slices.Max(counts) == 0 {
				t.Fatalf("%s: draw %d is empty", name, b)
			}
			for i, c := range counts {
				if d.Group != nil && d.Block == 0 && c != counts[slices.Index(d.Group, d.Group[i])] {
					t.Fatalf("%s: draw %d splits a group: %v", name, b, counts)
				}
				sum[i] += c / draws
				if c == 0 {
					absent[i] += 1. / draws
				}
			}
		}
		for i := range sum {
			if p := ProbAbsent(s, i); !(p > 0) || math.Abs(absent[i]-p) > 5*math.Sqrt(p*(1-p)/draws) {
				t.Errorf("%s: example %d is absent from %.4f of the draws, not %.4f", name, i, absent[i], p)
			}
			want := 0.5
			if test.pool != nil {
				want = math.Round(0.5*float64(test.pool[i])) / float64(test.pool[i])
			}
			if groups, ok := s.(Designed).Draws.(Grouped); ok {
				want /= 1 - groups.Empty()
			}
			if math.Abs(sum[i]-want) > 5/math.Sqrt(draws) {
				t.Errorf("%s: example %d is drawn %.4f times, not %.4f", name, i, sum[i], want)
			}
		}
	}
}

// TestRefusedDesigns: schemes that a design has no draws for are refused with a cure.
func TestRefusedDesigns(t *testing.T) {
	parts := []int{0, 0, 1, 1}
	for _, c := range []struct {
		scheme, says string
		Design
	}{
		{"bayesian", "take multinomial", Design{Group: parts}},
		{"bayesian", "take multinomial", Design{Stratum: parts}},
		{"poisson", "strata take multinomial, subsample or kfold", Design{Stratum: parts}},
		{"subsample", "by multinomial", Design{Block: 2}},
		{"poisson", "all examples are in one group", Design{Group: make([]int, 4)}},
	} {
		c.N = len(parts)
		_, err := c.Of(c.scheme, Options{Ratio: 1})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %+v: %v, want an error that says %q", c.scheme, c.Design, err, c.says)
		}
	}
}

// TestPermuted: targets stay in their part; groups of equal size exchange all targets, means of unequal ones
// change places and deviations stay, mixed labels change places between groups of one size, and all
// arrangements occur.
func TestPermuted(t *testing.T) {
	for _, c := range []struct {
		within       []int
		group        []int
		y            []float64
		labels       bool
		what         string
		arrangements float64
	}{
		{[]int{0, 1, 0, 1, 0, 1}, nil, []float64{1, 2, 3, 4, 5, 6}, false, "rows within strata", 36},
		{nil, []int{0, 0, 1, 1, 2, 2}, []float64{1, 2, 3, 4, 5, 6}, false, "whole groups", 6},
		{nil, []int{0, 0, 1, 1, 2, 2}, []float64{1, 2, 1, 2, 5, 6}, false, "whole groups", 3},
		{nil, []int{0, 0, 0, 1, 2, 2}, []float64{1, 2, 3, 7, 5, 6}, false, "the means of groups", 6},
		{nil, []int{0, 0, 0, 1, 2, 2}, []float64{1, 1, 1, -1, 1, 1}, true, "the means of groups", 3},
		{nil, []int{0, 0, 1, 2, 2, 3}, []float64{1, -1, 1, 1, 1, -1}, true, "whole groups of one size", 4},
		{nil, []int{0, 0, 1, 1, 1}, []float64{1, -1, 1, 1, -1}, true, "whole groups of one size", 1},
	} {
		p := &Permuted{Y: c.y, Within: c.within, Group: c.group, Labels: c.labels, Seed: 3}
		seen := map[string]bool{}
		for k := range 400 {
			y := p.Targets(k)
			seen[fmt.Sprint(y)] = true
			for i := range y {
				if c.within != nil && c.within[i] != c.within[slices.Index(c.y, y[i])] {
					t.Errorf("%v: targets %v leave their part", c.within, y)
				}
			}
			for i := 1; i < len(y); i++ {
				step := c.y[i] - c.y[i-1]
				if c.what == "the means of groups" && c.group[i] == c.group[i-1] && y[i]-y[i-1] != step {
					t.Errorf("%v: targets %v, a deviation has changed", c.group, y)
				}
			}
			if slices.Sort(y); c.what != "the means of groups" &&
				!slices.Equal(y, slices.Sorted(slices.Values(c.y))) {
				t.Errorf("%v: targets %v", c.group, y)
			}
		}
		if p.What() != c.what || p.Arrangements() != c.arrangements || float64(len(seen)) != c.arrangements {
			t.Errorf("%v: %g arrangements of %s, %d drawn; want %+v", c.group, p.Arrangements(), p.What(),
				len(seen), c)
		}
	}
}
