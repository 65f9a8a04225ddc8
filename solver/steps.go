package solver

import "bootbench/linalg"

// Steps are the steps by which G follows d (M03 appendix A). All lead to the same fixed point.
type Steps int

// CubicSteps and PaperSteps are for quadratic training losses, whose d follows from the diagonal of G alone.
const (
	// MixedSteps are the fastest. Square loss: estimates of the diagonal to all orders (linalg.Response),
	// single precision, rank updates. Other losses: Anderson acceleration, Newton's method, single
	// precision.
	MixedSteps Steps = iota
	// ExactSteps are refreshes, G = d^-1 (d^-1 + K)^-1 K (M03-63), and nothing else.
	ExactSteps
	// CubicSteps are refreshes with up to 3 steps on the cubic estimate of the diagonal (M03-67) after each.
	CubicSteps
	// WoodburySteps are rank updates (M03-65) where few sites move by more than 1e-4, else refreshes.
	WoodburySteps
	// PaperSteps are the algorithm of M03: CubicSteps and WoodburySteps.
	PaperSteps
)

var stepsNames = [...]string{"mixed", "exact", "cubic", "woodbury", "paper"}

func (s Steps) String() string { return stepsNames[s] }

// estimate improves d on a model of diag(G) around the present G.
type estimate interface {
	// improve moves next toward the fixed point of the model.
	improve(c *precisionIteration)
}

// gUpdate moves G.
type gUpdate interface {
	// moveG updates G to next, or to next at the sites that move.
	moveG(c *precisionIteration, sweep int) error
}

// strategies are the estimate, or nil, and the update of the square loss for n sites.
func (s Steps) strategies(n int) (estimate, gUpdate) {
	switch s {
	case ExactSteps:
		return nil, refreshes{}
	case CubicSteps:
		return newCubic(n), refreshes{}
	case WoodburySteps:
		return nil, activeSites{}
	case PaperSteps:
		return newCubic(n), activeSites{}
	}
	mixed := newMixed(n)
	return mixed, mixed
}

// refreshes is a factorisation at every sweep (M03-63).
type refreshes struct{}

func (refreshes) moveG(c *precisionIteration, _ int) error { return c.factorize() }

// cubic is M03-67, G_ii - sum_j G_ij^2 (e_j - e_j^2 G_jj + e_j^3 G_jj^2), with e the change of d since the
// present G.
type cubic struct{ move, chi, b []float64 }

// cubicRepeats is the number of steps between two refreshes at most (M03 appendix A.4).
const cubicRepeats = 3

func newCubic(n int) cubic { return cubic{make([]float64, n), make([]float64, n), make([]float64, n)} }

// improve takes steps while every |e_j| is below a tenth of 1/mean(G_jj).
func (q cubic) improve(c *precisionIteration) {
	for range cubicRepeats {
		for i, d := range c.run.engine.Precisions() {
			q.move[i] = c.next[i] - d
		}
		c.run.engine.FormG()
		if !linalg.CubicDiag(c.run.engine, q.move, q.chi, q.b) {
			return
		}
		c.respond(c.next, q.chi, q.b)
		c.run.Stats.Sweeps++
		c.run.Stats.Refreshes.Diagonal++
	}
}

// activeSites is M03-65, G - U (I + W)^-1 U', for the sites that move, if these are few; the others keep
// their d, and count in the residual. If they are many or none, G is refreshed.
type activeSites struct{}

// Limits of rank updates. M03 takes them for A << N sites that move by 1e-4, for an accuracy of 1e-3.
const (
	activeChange   = 1e-4 // a site moves if its d changes by more,
	activeFraction = 0.5  // or by this fraction of the tolerance
	activeShare    = 4    // a rank update changes at most M/activeShare sites
)

func (activeSites) moveG(c *precisionIteration, _ int) error {
	if c.run.updateMoving(c.next, activeShare, activeFraction, activeChange) {
		return nil
	}
	return c.factorize()
}
