package model

import (
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/batch"
	"bootbench/linalg"
)

// part is the sites of this process, and the examples at them: all of them, but on ranks that share a factor.
type part struct {
	sites    linalg.Share
	examples []int     // their numbers; nil: all
	y        []float64 // their targets
	site     []int     // their sites, counted from the first own one
}

func (m *Model) wholePart() part {
	return part{sites: linalg.ShareOut(nil, m.Sites()), y: m.Set.Y, site: m.Site}
}

func (m *Model) ownPart() part {
	if m.team == nil {
		return m.wholePart()
	}
	p := part{sites: m.Factor.Sites(), examples: []int{}}
	for i, site := range m.Site {
		if p.sites.Holds(site) {
			p.examples, p.y, p.site = append(p.examples, i), append(p.y, m.Set.Y[i]),
				append(p.site, site-p.sites.First)
		}
	}
	return p
}

// columns are the own ones of a matrix over the sites.
func (p part) columns(a blas64.General) blas64.General {
	if a.Rows == 0 || p.sites.Alone() {
		return a
	}
	return blas64.General{Rows: a.Rows, Cols: p.sites.Own(), Stride: a.Stride, Data: a.Data[p.sites.First:]}
}

// ofOneClass reports whether a resample, of which the counts of own examples are given, has examples of one
// class only: then the best bias is not the only one, or not finite.
func (p part) ofOneClass(counts []int) bool {
	drawn := make([]float64, 2)
	for i, k := range counts {
		if k > 0 {
			drawn[int(p.y[i]+1)/2] = 1
		}
	}
	p.sites.Sum(drawn)
	return (drawn[0] > 0) != (drawn[1] > 0)
}

// whole are the counts of all n examples, and predictions at all sites and then at new inputs.
func (p part) whole(n int, counts []int, f []float64) ([]int, []float64) {
	if p.examples == nil {
		return counts, f
	}
	drawn := make([]float64, n)
	for k, i := range p.examples {
		drawn[i] = float64(counts[k])
	}
	p.sites.Sum(drawn)
	all := make([]int, n)
	for i, v := range drawn {
		all[i] = int(v)
	}
	own := p.sites.Own()
	return all, append(p.sites.Gather(f[:own]), f[own:]...)
}

// ownExact trains on all examples, and returns predictions at own sites.
type ownExact struct {
	batch.Exact
	part
	n int // examples
}

func (t ownExact) Fit(counts []int, f []float64) error {
	counts, all := t.whole(t.n, counts, f)
	err := t.Exact.Fit(counts, all)
	copy(f, t.sites.Of(all))
	copy(f[t.sites.Own():], all[t.sites.Total:])
	return err
}
