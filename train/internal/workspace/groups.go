package workspace

import "bootbench/train"

// Groups are the examples of positive weight by active site: site p has First[p] to First[p+1]-1 of them.
type Groups struct {
	Active  []int     // the active sites, ascending
	First   []int     // length len(Active)+1
	Y, K    []float64 // target and weight of each
	Example []int     // its number in the train.Set

	next []int // by site: where its next example goes
}

// Gather fills g from p on m sites. Sites with admit false are skipped with their examples.
func (g *Groups) Gather(p *train.Set, m int, admit func(site int) bool) {
	g.next = Resize(g.next, m)
	clear(g.next)
	for j, k := range p.Weight {
		if k > 0 {
			g.next[p.Site.At(j)]++
		}
	}
	g.Active, g.First = g.Active[:0], append(g.First[:0], 0)
	total := 0
	for s, count := range g.next {
		g.next[s] = -1
		if count > 0 && admit(s) {
			g.next[s] = total
			total += count
			g.Active, g.First = append(g.Active, s), append(g.First, total)
		}
	}
	g.Y, g.K, g.Example = Resize(g.Y, total), Resize(g.K, total), Resize(g.Example, total)
	for j, k := range p.Weight {
		s := p.Site.At(j)
		if at := g.next[s]; k > 0 && at >= 0 {
			g.Y[at], g.K[at], g.Example[at] = p.Y[j], k, j
			g.next[s]++
		}
	}
}

// Of are the targets and the weights of active site p.
func (g *Groups) Of(p int) (y, k []float64) {
	a, b := g.First[p], g.First[p+1]
	return g.Y[a:b], g.K[a:b]
}
