package solver

import "math"

// passes improve m_c and V_c while G stays, in O(M^2) each. A pass asks the
// sites for the g and u that match their means and variances to chi of G, and
// reads the cavities that follow. At the fixed point of the passes m and V are
// those that belong to the chi and c of G.
//
// A pass often overshoots by nearly as much as it corrects: where G takes a
// site as free that its cavity says is held, its field flips to and fro. An odd
// number of plain passes then makes points stationary that solve nothing.
// Accelerated ones settle.
type passes struct {
	sites  *respondents
	fields parameters // g and u only
	at, to cavities
	mixing *mixing
}

func newPasses(s *respondents) *passes {
	n := len(s.sites)
	return &passes{sites: s, fields: newParameters(n), at: newCavities(n), to: newCavities(n), mixing: newMixing(2*n, innerDepth)}
}

// improve moves x by up to innerPasses passes, until one moves it by less than
// enough, to the one that moved least, and returns their number. Where the solve is
// called off meanwhile, x is one of the earlier ones.
func (p *passes) improve(x cavities, enough float64) int {
	p.mixing.forget()
	copy(p.at, x)
	copy(p.to, x)
	least := math.Inf(1)
	for pass := 1; ; pass++ {
		p.pass()
		if p.sites.ended() {
			return pass
		}
		moved := distance(p.to, p.at)
		if moved < least {
			least = moved
			copy(x, p.to)
		}
		if pass == innerPasses || !(moved > enough) {
			return pass
		}
		n := len(p.sites.sites)
		p.mixing.propose(p.at[n:], p.to[n:])
	}
}

// pass writes into to what follows from at.
func (p *passes) pass() {
	_, b := p.sites.engine.Diag()
	p.sites.each(func(i int) {
		cav := p.sites.cavity(p.at, i)
		p.fields.g[i], p.fields.u[i] = matched(cav, p.sites.moments(i, cav), b[i])
	})
	p.sites.readFields(p.to, p.fields)
}
