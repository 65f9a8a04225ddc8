package linalg_test

import (
	"slices"
	"strings"
	"testing"

	"bootbench/linalg"
)

func TestSitesCheck(t *testing.T) {
	for _, c := range []struct {
		s    linalg.Sites
		n, m int
		says string
	}{
		{nil, 3, 3, ""},
		{nil, 2, 3, "2 targets do not fit 3 sites"},
		{linalg.Sites{0, 1, 0}, 3, 2, ""},
		{linalg.Sites{0, 1}, 3, 2, "has length 2, but there are 3 targets"},
		{linalg.Sites{0, 2, 0}, 3, 2, "example 2 is on site 3 of 2"},
		{linalg.Sites{0, 0, -1}, 3, 2, "example 3 is on site 0 of 2"},
		{linalg.Sites{}, 0, 0, ""},
	} {
		err := c.s.Check(c.n, c.m)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v of %d on %d: %v, want %q", c.s, c.n, c.m, err, c.says)
		}
	}
}

// TestMerge: a site has the number of its copies, and their mean target; without
// copies both are 0. Small integers make it exact.
func TestMerge(t *testing.T) {
	s := linalg.Sites{2, 0, 2, 1}
	y := []float64{1, 5, 4, 7}
	count, mean := []float64{9, 9, 9}, []float64{9, 9, 9} // previous contents do not matter
	s.Merge(y, nil, count, mean)
	if !slices.Equal(count, []float64{1, 1, 2}) || !slices.Equal(mean, []float64{5, 7, 2.5}) {
		t.Errorf("once each: %v, %v", count, mean)
	}
	s.Merge(y, []float64{2, 3, 1, 0}, count, mean)
	if !slices.Equal(count, []float64{3, 0, 3}) || !slices.Equal(mean, []float64{5, 0, 2}) {
		t.Errorf("with copies: %v, %v", count, mean)
	}
}
