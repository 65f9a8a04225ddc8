package solver

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bootbench/linalg"
)

// settleRounding decides whether a solve that did not converge could: if rounding of K changes the image of
// the accepted iterate by more than the tolerance, no iteration would find the solution. (See
// TestUndeterminedExactly.)
func (x *fixedPoint) settleRounding() {
	change := x.roundingChange()
	if !(change > x.run.settings.Tolerance) {
		return
	}
	x.run.Status = Undetermined
	within := ""
	if x.accepted.Residual <= 2*change && change < worthwhile {
		within = fmt.Sprintf(" (the residual of %.0e is no larger, and a tolerance of %.0e can be met)",
			x.accepted.Residual, 10*change)
	}
	x.run.warn("the last bits of the kernel matrix move the answer by %.0e, the tolerance is %.0e%s: inputs "+
		"are too similar for this loss to distinguish them; a jitter of 1e-4 of its diagonal, a soft "+
		"margin, or merging inputs that nearly repeat make the problem regular", change,
		x.run.settings.Tolerance, within)
}

// worthwhile is the largest tolerance that the warning proposes.
const worthwhile = 1e-3

// roundingChange is the change of the accepted iterate's image if every off-diagonal element of K moves to a
// neighbour in double precision, the rounding of K. It is infinite if G then does not factorise, and 0 for a
// kernel that is not dense or without memory for another.
func (x *fixedPoint) roundingChange() float64 {
	k, whole := x.run.Problem.Gram.(*linalg.Sym)
	n, room := len(x.run.sites), x.run.factorRoom()
	if !whole || room < 0 || linalg.CheckMemory(8*int64(n)*int64(n), room, "a check of rounding") != nil {
		return 0
	}
	other := linalg.ZeroSym(n)
	for i := range n {
		copy(other.Row(i), k.Row(i))
	}
	was, is := make(cavities, 3*n), make(cavities, 3*n)
	if !x.imageBy(other, was) {
		return math.Inf(1)
	}
	rng := rand.New(rand.NewPCG(0, 0))
	for i := range n {
		for j, v := range other.Row(i)[1:] {
			other.Row(i)[1+j] = math.Nextafter(v, math.Inf(1-2*rng.IntN(2)))
		}
	}
	if !x.imageBy(other, is) {
		return math.Inf(1)
	}
	if change := x.model.maxChange(is, was); !math.IsNaN(change) {
		return change
	}
	return math.Inf(1)
}

// imageBy computes the image of the accepted iterate for kernel matrix k. It returns false if G does not
// factorise.
func (x *fixedPoint) imageBy(k *linalg.Sym, image cavities) bool {
	engine := x.run.settings.Engine(k)
	if x.phase != fromStart || x.newton == nil {
		x.run.useFactor(engine, x.accepted.D)
	}
	if engine.Factorize(x.accepted.D) != nil {
		return false
	}
	engine.FormG()
	newSiteModel(x.run.sites, engine, x.run.Problem.Y).cavities(image, x.accepted.siteParams)
	return true
}
