package solver

import (
	"fmt"
	"math"
	"math/rand/v2"

	"bootbench/linalg"
)

// Sizes of the eigenvalue problem behind the start value. A quarter of the sites suffices (M03 appendix A.2),
// and so do 256.
const (
	fewSites     = 64
	enoughSites  = 256
	subsetFactor = 4

	typicalSites = 16 // sites whose mean response approximates the mean of all
)

// spectrum approximates the spectrum of K by the eigenvalues w of K on a random subset of the sites: each
// represents share sites and, rescaled, an eigenvalue share*w of K.
type spectrum struct {
	w     []float64
	share float64
}

// newSpectrum takes a subset of the sites, or all if they are few or the start value is the answer.
func newSpectrum(k linalg.Kernel, rescaled bool, method Method) (spectrum, error) {
	n := k.N()
	size := min(n, enoughSites, max(fewSites, n/subsetFactor))
	if method == StartOnly {
		size = n
	}
	w, err := linalg.Eigenvalues(k, rand.New(rand.NewPCG(0, 0)).Perm(n)[:size])
	for i := range w {
		w[i] = math.Max(w[i], 0)
	}
	s := spectrum{w: w, share: 1}
	if rescaled {
		s.share = float64(n) / float64(size)
	}
	return s, err
}

// meanG is the mean of G_ii for one common d (M03-61): with p = share,
// 1/N sum over the spectrum p w of p w/(1 + p w d) = mean_k w/(1 + p w d).
func (s spectrum) meanG(d float64) float64 {
	sum := 0.0
	for _, w := range s.w {
		sum += w / (1 + s.share*w*d)
	}
	return sum / float64(len(s.w))
}

// homogeneousCavity finds the root c of the one-site form of the fixed point
// (M03-62): with d(c) the mean response of typical sites at a cavity's precision c,
//
//	1/G(d) - d = c.
//
// The left side minus c decreases from positive at small c to negative at large c if the theory has a
// solution; Ridders' method in log c finds it.
func (r *run) homogeneousCavity(rescaled bool, tol float64,
	respond func(i int, c float64) float64) (float64, error) {
	s, err := newSpectrum(r.Problem.Gram, rescaled, r.Method)
	if err != nil {
		return 0, fmt.Errorf("start value: %w", err)
	}
	n := len(r.sites)
	excess := func(logC float64) float64 {
		c, sum, typical := math.Exp(logC), 0.0, 0.0
		for i := 0; i < n; i += max(1, n/typicalSites) {
			sum += respond(i, c)
			typical++
		}
		d := sum / typical
		if math.IsNaN(d) {
			d = c
		}
		return 1/s.meanG(d) - d - c
	}
	top := s.meanG(0)
	if !(top > 0) {
		return 1, nil // K = 0: nothing is learnt, any cavity serves
	}
	low := -math.Log(top) // c of the empty training set, the smallest
	high := low + 1
	for excess(high) > 0 && high < low+700 {
		high += math.Max(1, high-low)
	}
	return math.Exp(ridders(excess, low, high, tol)), nil
}

// rootError is the tolerance of the root in log c where it is the answer.
const rootError = 1e-13

// ridders finds to tol where f, above zero at low and not above it at high, crosses zero, by Ridders' method
// (1979): false position after f is multiplied by the exponential that makes its values at both ends and in
// the middle lie on a line. Every step at least halves the bracket.
func ridders(f func(x float64) float64, low, high, tol float64) float64 {
	atLow, atHigh := f(low), f(high)
	guess := math.Inf(1)
	for range 60 {
		mid := (low + high) / 2
		atMid := f(mid)
		last := guess
		guess = mid
		if root := math.Sqrt(atMid*atMid - atLow*atHigh); root > 0 && !math.IsInf(root, 1) {
			guess = mid + (mid-low)*atMid/root
		}
		if math.Abs(guess-last) <= tol || high-low <= tol {
			break
		}
		at := f(guess)
		if atMid > 0 {
			low, atLow = mid, atMid
		} else {
			high, atHigh = mid, atMid
		}
		if low < guess && guess < high {
			if at > 0 {
				low, atLow = guess, at
			} else {
				high, atHigh = guess, at
			}
		}
	}
	return guess
}
