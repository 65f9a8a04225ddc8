package linalg

import "fmt"

// Sites maps each of N examples to its site, 0 to M-1. Nil means that example i is on site i, and N = M.
type Sites []int

// At is the site of example i.
func (s Sites) At(i int) int {
	if s == nil {
		return i
	}
	return s[i]
}

// Check refuses a map that does not put n examples on m sites.
func (s Sites) Check(n, m int) error {
	switch {
	case s == nil && n != m:
		return fmt.Errorf("%d targets do not fit %d sites", n, m)
	case s != nil && len(s) != n:
		return fmt.Errorf("the map to sites has length %d, but there are %d targets", len(s), n)
	}
	for i, site := range s {
		if site < 0 || site >= m {
			return fmt.Errorf("example %d is on site %d of %d", i+1, site+1, m)
		}
	}
	return nil
}

// Merge sums the weights of the examples of each site and averages their targets y: total and
// mean have length M, and mean is 0 where total is. Without weights, nil, each example has weight 1.
func (s Sites) Merge(y, weight, total, mean []float64) {
	clear(total)
	clear(mean)
	for i, v := range y {
		w, site := 1.0, s.At(i)
		if weight != nil {
			w = weight[i]
		}
		total[site] += w
		mean[site] += w * v
	}
	for site, w := range total {
		if w > 0 {
			mean[site] /= w
		}
	}
}
