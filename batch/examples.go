package batch

import (
	"fmt"

	"bootbench/loss"
)

// Problem is what is resampled: N examples on M sites.
type Problem struct {
	Loss loss.Proximal
	Y    []float64 // targets, length N
	Site []int     // site of each example, 0 to M-1; nil: example i is alone on site i
}

// examples are the examples by their sites.
type examples struct {
	loss   loss.Proximal
	y      []float64
	site   []int
	target []float64   // of each site, that of its first example
	mixed  []mixedSite // sites whose examples have different targets
}

// mixedSite is a site with different targets: its proximal map is that of a sum of
// losses.
type mixedSite struct {
	site     int
	examples []int
	y        []float64
}

func newExamples(p Problem, sites int) (*examples, error) {
	if p.Loss == nil {
		return nil, fmt.Errorf("there is no loss to train with")
	}
	e := &examples{loss: p.Loss, y: p.Y, site: p.Site, target: make([]float64, sites)}
	if p.Site == nil {
		if len(p.Y) != sites {
			return nil, fmt.Errorf("%d examples without a map to sites do not fill %d sites", len(p.Y), sites)
		}
		copy(e.target, p.Y)
		return e, nil
	}
	if len(p.Site) != len(p.Y) {
		return nil, fmt.Errorf("the map to sites covers %d of %d examples", len(p.Site), len(p.Y))
	}
	of := make([][]int, sites)
	for i, site := range p.Site {
		if site < 0 || site >= sites {
			return nil, fmt.Errorf("example %d is on site %d of %d", i+1, site+1, sites)
		}
		of[site] = append(of[site], i)
	}
	for site, members := range of {
		if len(members) == 0 {
			return nil, fmt.Errorf("site %d has no example", site+1)
		}
		e.target[site] = p.Y[members[0]]
		m := mixedSite{site: site, examples: members}
		differ := false
		for _, i := range members {
			m.y = append(m.y, p.Y[i])
			differ = differ || p.Y[i] != e.target[site]
		}
		if differ {
			e.mixed = append(e.mixed, m)
		}
	}
	return e, nil
}

// weigh writes the total count of every site.
func (e *examples) weigh(weight []float64, counts []int) {
	if e.site == nil {
		for i, k := range counts {
			weight[i] = float64(k)
		}
		return
	}
	clear(weight)
	for i, k := range counts {
		weight[e.site[i]] += float64(k)
	}
}

// relax is f_i = f_{s_i}(h_i) at all sites (T3).
func (e *examples) relax(f, c, h, weight []float64, counts []int) {
	loss.ProxEach(e.loss, f, c, h, e.target, weight)
	for _, m := range e.mixed {
		k := make([]float64, len(m.examples))
		for j, i := range m.examples {
			k[j] = float64(counts[i])
		}
		f[m.site], _ = e.loss.Prox(c[m.site], h[m.site], m.y, k)
	}
}
