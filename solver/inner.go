package solver

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
)

// innerIteration improves m_c and V_c while G stays, in O(M^2) a pass. A pass computes
// the g and u that match the sites' means and variances to chi of G, and
// reads the cavities that follow. At its fixed point m and V are
// those that belong to the chi and c of G.
//
// A pass often overshoots by nearly as much as it corrects: where G takes a
// site as free that its cavity says is held, its field flips to and fro. An odd
// number of plain passes then makes points stationary that solve nothing.
// With Anderson acceleration they converge.
type innerIteration struct {
	sites    *siteModel
	fields   SiteParams // G and U only
	at, to   Cavities
	anderson *anderson
	squares  squares
}

// squares are products with G o G around one that was computed whole: what u has moved
// since is multiplied by that of a coarser kernel, where there is one, at a small part of
// the cost.
type squares struct {
	enabled   bool
	coarse    linalg.Engine // nil: there is none
	at, there []float64     // u, and G o G times it without the diagonal of G
	move      []float64
	moved     float64 // by the pass that computed them
}

// coarseRebase is the share to which the moves of passes may fall before G o G is taken again: products of
// coarser kernels that count (see linalg) are off by 1 to 5%.
const coarseRebase = 0.03

// begin starts at an engine's G.
func (q *squares) begin(e linalg.Engine) {
	q.coarse, q.moved = nil, math.Inf(1)
	if q.enabled {
		q.coarse = coarseOf(e)
	}
}

// coarseOf is the engine on a coarser kernel within e's, nil where there is none.
func coarseOf(e linalg.Engine) linalg.Engine {
	if levels, ok := e.(linalg.Multilevel); ok {
		return levels.Coarse()
	}
	return nil
}

// after decides, by how far a pass moved, whether the next one takes G o G itself.
func (q *squares) after(moved float64) (whole bool) {
	if whole = q.coarse == nil || moved < coarseRebase*q.moved; whole {
		q.moved = moved
	}
	return whole
}

// around is dst = (G o G) u by way of at.
func (q *squares) around(dst, u []float64) {
	floats.SubTo(q.move, u, q.at)
	q.coarse.MulVecSquaredOffDiag(dst, q.move)
	floats.Add(dst, q.there)
}

// Limits of the inner iteration. Counts are refreshes per converged cell of
// BenchmarkGrid without Newton's method, where they came to 13.4.
const (
	innerPasses      = 12  // passes at fixed G at most; 3: 17.1, none: 24.4
	innerDepth       = 8   // of their Anderson acceleration
	innerTol         = 0.1 // they stop at this share of the square of the distance to the next cavities
	innerMaxDistance = 3   // distance up to which there are any; from farther off they more often mislead
)

func newInnerIteration(w *workspace, n int) *innerIteration {
	return &innerIteration{fields: SiteParams{G: w.vector(n), U: w.vector(n)}, at: w.vector(3 * n),
		to:       w.vector(3 * n),
		anderson: newAnderson(w, 2*n, innerDepth), squares: squares{at: w.vector(n), there: w.vector(n),
			move: w.vector(n)}}
}

// run moves x by up to innerPasses passes, until one moves it by less than
// tol, to the one that moved least, and returns their number. Where the solve is
// called off meanwhile, x is one of the earlier ones.
func (p *innerIteration) run(x Cavities, tol float64) int {
	p.anderson.reset()
	p.squares.begin(p.sites.engine)
	whole := true
	copy(p.at, x)
	copy(p.to, x)
	least := math.Inf(1)
	for pass := 1; ; pass++ {
		p.pass(whole)
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
		whole = p.squares.after(moved)
		n := len(p.sites.sites)
		p.anderson.step(p.at[n:], p.to[n:])
	}
}

// pass writes into to what follows from at, by a product with G o G itself or around one.
func (p *innerIteration) pass(whole bool) {
	_, b := p.sites.engine.Diag()
	p.sites.eachMoments(p.at, func(i int, cav loss.Cavity, m loss.Moments) {
		p.fields.G[i], p.fields.U[i] = matchMoments(cav, m, b[i])
	})
	if !whole {
		p.sites.cavityFieldsBy(p.to, p.fields, p.squares.around)
		return
	}
	p.sites.cavityFieldsBy(p.to, p.fields, func(dst, u []float64) {
		p.sites.engine.MulVecSquaredOffDiag(dst, u)
		copy(p.squares.at, u)
		copy(p.squares.there, dst)
	})
}
