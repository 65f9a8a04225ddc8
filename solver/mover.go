package solver

import (
	"time"

	"bootbench/linalg"
)

// gMover moves G, counts how, and measures how long it takes.
type gMover struct {
	engine   linalg.Engine
	counts   *Refreshes
	noSingle bool // without single precision, or after it broke down
	elapsed  time.Duration
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
	defer g.clock(time.Now())
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
	defer g.clock(time.Now())
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
	defer g.clock(time.Now())
	if err := dense.RankUpdate(sites, delta); err != nil {
		return err
	}
	g.counts.Woodbury++
	return nil
}

// formG makes all of G available.
func (g *gMover) formG() {
	defer g.clock(time.Now())
	g.engine.FormG()
}

func (g *gMover) clock(began time.Time) { g.elapsed += time.Since(began) }

// lap is the time since the last lap that was spent on moving G.
func (g *gMover) lap() time.Duration {
	t := g.elapsed
	g.elapsed = 0
	return t
}
