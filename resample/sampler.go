package resample

import "math/rand/v2"

// Sampler draws occupation numbers.
type Sampler interface {
	// Sample overwrites counts, one entry per example, with one draw.
	Sample(rng *rand.Rand, counts []int)
}

// Periodic is a Sampler that spreads consecutive draws more evenly than chance
// would: by SampleAt, draws b = j Period to (j+1) Period - 1 depend on each other,
// and on no others. Each of them taken alone is distributed as a Sample.
type Periodic interface {
	Sampler
	// Period is the number of draws that depend on each other, >= 1.
	Period() int
	// SampleAt overwrites counts with draw number b >= 0 of the series that seed
	// begins. It has no other state: draws may be taken in any order.
	SampleAt(seed uint64, b int, counts []int)
}

// Draw overwrites counts with draw number b >= 0 of those that seed begins. The
// draw has a random stream of its own, PCG(seed, b), or its place in the Series.
func Draw(s Sampler, seed uint64, b int, counts []int) {
	if series, ok := s.(Periodic); ok {
		series.SampleAt(seed, b, counts)
		return
	}
	s.Sample(rand.New(rand.NewPCG(seed, uint64(b))), counts)
}

// Period is the number of consecutive draws that depend on each other: 1 unless
// s is a Series.
func Period(s Sampler) int {
	if series, ok := s.(Periodic); ok {
		return series.Period()
	}
	return 1
}
