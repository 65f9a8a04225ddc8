package solver

import "bootbench/linalg"

// gMover moves G, and counts how.
type gMover struct {
	engine   linalg.Engine
	counts   *Refreshes
	noSingle bool // without single precision, or after it broke down
}

// newMover leaves out single precision where there are too few sites for it to gain.
func (r *run) newMover() gMover {
	return gMover{engine: r.engine, counts: &r.Stats.Refreshes,
		noSingle: r.settings.Plain || len(r.sites) < minSizeSingle}
}

// minSizeSingle is the number of sites from which single precision gains.
const minSizeSingle = 128

// factorize moves G to d in double precision.
func (g *gMover) factorize(d []float64) error {
	if err := g.engine.Factorize(d); err != nil {
		return err
	}
	g.counts.Exact++
	return nil
}

// factorizeSingle moves G to d in single precision, at half the cost, if its rounding is
// expected to change G by at most maxError. It reports false where not, or where it breaks
// down, after which it is not tried again.
func (g *gMover) factorizeSingle(d []float64, maxError float64) bool {
	dense, ok := g.engine.(linalg.Dense)
	if !ok || g.noSingle || dense.SingleError(d) > maxError {
		return false
	}
	if dense.FactorizeSingle(d) != nil {
		g.noSingle = true
		return false
	}
	g.counts.Single++
	return true
}

// rankUpdate moves d by delta at the listed sites (M03-65), if the engine can.
func (g *gMover) rankUpdate(sites []int, delta []float64) error {
	dense, ok := g.engine.(linalg.Dense)
	if !ok {
		return linalg.ErrUpdate
	}
	if err := dense.RankUpdate(sites, delta); err != nil {
		return err
	}
	g.counts.Woodbury++
	return nil
}
