package resample

import "math/rand/v2"

// Permuted is the plan of a permutation test: fits p Fits to (p+1) Fits - 1 are those of Of, for the p-th
// random permutation of the targets.
type Permuted struct {
	Y      []float64
	Within []int // targets are permuted among the examples of one part; nil: among all
	Seed   uint64
	Fits   int                    // of one permutation
	Of     func(y []float64) Plan // the plan for targets
}

// Targets are those of permutation p.
func (t Permuted) Targets(p int) []float64 {
	rng := rand.New(rand.NewPCG(t.Seed, ^uint64(p))) // no stream of resamples
	y := make([]float64, len(t.Y))
	for _, of := range membersOf(t.Within, len(y)) {
		for k, from := range rng.Perm(len(of)) {
			y[of[k]] = t.Y[of[from]]
		}
	}
	return y
}

// Fit is Plan.Fit.
func (t Permuted) Fit(r int, weight []float64) (target []float64) {
	return t.Of(t.Targets(r/t.Fits)).Fit(r%t.Fits, weight)
}

// Period is Fits.
func (t Permuted) Period() int { return t.Fits }
