package resample

import "math/rand/v2"

// Sampler draws occupation numbers.
type Sampler interface {
	// Sample overwrites counts, one entry per example, with one draw.
	Sample(rng *rand.Rand, counts []int)
}

// Periodic is a Sampler whose consecutive draws can be spread more evenly than
// independent ones: the draws of SampleAt with b = j Period to (j+1) Period - 1
// depend on each other, and on no others. Each by itself is distributed as Sample.
type Periodic interface {
	Sampler
	// Period is the number of draws that depend on each other, >= 1.
	Period() int
	// SampleAt overwrites counts with draw number b >= 0 of the sequence that
	// belongs to seed. It keeps no state: draws may be taken in any order.
	SampleAt(seed uint64, b int, counts []int)
}

// Draw overwrites counts with draw number b >= 0 of the sequence that belongs to seed: SampleAt where s is
// Periodic, else a Sample from the random stream PCG(seed, b).
func Draw(s Sampler, seed uint64, b int, counts []int) {
	if periodic, ok := s.(Periodic); ok {
		periodic.SampleAt(seed, b, counts)
		return
	}
	s.Sample(rand.New(rand.NewPCG(seed, uint64(b))), counts)
}

// Period is the number of consecutive draws that depend on each other: 1 unless s is Periodic.
func Period(s Sampler) int {
	if periodic, ok := s.(Periodic); ok {
		return periodic.Period()
	}
	return 1
}
