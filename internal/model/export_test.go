package model

import "bootbench/resample"

// TheoryBytes estimates the memory of a solve: the kernel matrix with its scratch triangle, or a factor of
// it, or this rank's part; its engine; the sites; and what the solver holds beside them. For the square loss
// that is the most that low-rank updates take; for other losses Newton's method, 16 M^2 bytes, where MaxBytes
// has room for it. What such a solve takes for a factor of a kernel matrix that turns out to be singular
// within rounding is left out: it stays within MaxBytes, or what the system has left, and is gone afterwards.
func (m *Model) TheoryBytes() int64 {
	return heldBytes(m) + solveBytes(m, solveRoom(m))
}

// SealModel is a model file that holds a text, whatever it is.
func SealModel(body []byte) []byte { return seal(body) }

// FitBytes is the memory of FullFit without the kernel matrix.
func (m *Model) FitBytes() int64 { return fitBytes(m) }

// SampleSites sets the number of sites on which ranks are chosen, until the end of a test.
func SampleSites(t interface{ Cleanup(func()) }, sites int) {
	before := sampleSites
	t.Cleanup(func() { sampleSites = before })
	sampleSites = sites
}

// Copies is the law of a site that stands for others.
func Copies(law resample.CountDistribution, times int) resample.CountDistribution {
	return copies{law, times}
}
