package solver

import (
	"math"

	"bootbench/loss"
	"bootbench/solver/site"
)

// innerIteration improves m_c and V_c at fixed G, in O(M^2) per pass. A pass computes the g and u that match
// the sites' means and variances to chi of G, and reads the cavities off G. At its fixed point m and V match
// the chi and c of G.
//
// A pass often overshoots by nearly as much as it corrects: if a site is free in G but pinned by its cavity,
// its field oscillates, and an odd number of plain passes makes spurious points stationary. With Anderson
// acceleration they converge.
type innerIteration struct {
	sites    *siteModel
	fields   siteParams // G and U only
	at, to   cavities
	anderson *anderson
}

// Limits of the inner iteration. Counts are refreshes per converged cell of
// BenchmarkGrid without Newton's method, where they came to 13.4.
const (
	innerPasses      = 12  // passes at fixed G at most; 3: 17.1, none: 24.4
	innerDepth       = 8   // of their Anderson acceleration
	innerTol         = 0.1 // passes stop at this fraction of the squared distance to the next cavities
	innerMaxDistance = 3   // largest distance with passes; at larger ones they more often mislead
)

func newInnerIteration(s *siteModel) *innerIteration {
	n := len(s.sites)
	return &innerIteration{sites: s, fields: newSiteParams(n), at: make(cavities, 3*n),
		to: make(cavities, 3*n), anderson: newAnderson(2*n, innerDepth)}
}

// run makes up to innerPasses passes, until one changes x by less than tol. It sets x to the point of the
// least change and returns the number of passes. After cancellation x is an earlier point.
func (p *innerIteration) run(x cavities, tol float64) int {
	p.anderson.reset()
	copy(p.at, x)
	copy(p.to, x)
	least := math.Inf(1)
	for pass := 1; ; pass++ {
		p.pass()
		if p.sites.cancelled() {
			return pass
		}
		moved := p.sites.distance(p.to, p.at)
		if moved < least {
			least = moved
			copy(x, p.to)
		}
		if pass == innerPasses || !(moved > tol) {
			return pass
		}
		n := len(p.sites.sites)
		p.anderson.step(p.at[n:], p.to[n:])
	}
}

// pass computes to from at.
func (p *innerIteration) pass() {
	_, b := p.sites.engine.Diag()
	p.sites.eachMoments(p.at, func(i int, cav loss.Cavity, m loss.Moments) {
		p.fields.G[i], p.fields.U[i] = site.MatchMoments(cav, m, b[i])
	})
	p.sites.cavityFields(p.to, p.fields)
}
