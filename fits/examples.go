package fits

import (
	"bootbench/loss"
	"bootbench/train"
)

// examples are the examples by their sites.
type examples struct {
	loss   loss.Proximal
	site   train.Sites // of each example
	sites  int
	shared [][]int // the examples of each site with several
}

// sites are the examples of a fit, summed by site, or the fit's own lists.
type sites struct {
	weight, target []float64
	mixed          []mixedSite
}

// mixedSite is a site with present examples of different targets: its proximal map is the one of a sum of
// losses.
type mixedSite struct {
	site      int
	y, weight []float64
}

func newExamples(l loss.Proximal, site train.Sites, sites int) *examples {
	e, of := &examples{loss: l, site: site, sites: sites}, make([][]int, sites)
	for i, site := range site {
		of[site] = append(of[site], i)
	}
	for _, members := range of {
		if len(members) > 1 {
			e.shared = append(e.shared, members)
		}
	}
	return e
}

// gather sums the examples of a fit by site.
func (e *examples) gather(s *sites, f *Fit) {
	if e.site == nil {
		s.weight, s.target = f.Weight, f.Target
		return
	}
	if s.weight == nil {
		s.weight, s.target = make([]float64, e.sites), make([]float64, e.sites)
	}
	clear(s.weight)
	for i, w := range f.Weight {
		site := e.site[i]
		if s.weight[site] += w; w > 0 || s.weight[site] == 0 {
			s.target[site] = f.Target[i]
		}
	}
	s.mixed = s.mixed[:0]
	for _, members := range e.shared {
		m := mixedSite{site: e.site[members[0]]}
		differ := false
		for _, i := range members {
			if f.Weight[i] > 0 {
				m.y, m.weight = append(m.y, f.Target[i]), append(m.weight, f.Weight[i])
				differ = differ || f.Target[i] != m.y[0]
			}
		}
		if differ {
			s.mixed = append(s.mixed, m)
		}
	}
}

// relax is f_i = f_{s_i}(h_i) at all sites (T3).
func (e *examples) relax(f, c, h []float64, s *sites) {
	loss.ProxEach(e.loss, f, c, h, s.target, s.weight)
	for _, m := range s.mixed {
		f[m.site], _ = e.loss.Prox(c[m.site], h[m.site], m.y, m.weight)
	}
}
