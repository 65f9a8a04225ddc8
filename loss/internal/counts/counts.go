// Package counts lists the occupation numbers of a site's examples: the joint distribution of the counts of
// the site's distinct targets in a resample.
package counts

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/resample"
)

// Limits on the joint counts of a site.
const (
	// negligible is the least probability of a row if the list of all rows is longer than maxRows; maxDropped
	// bounds the total probability of the omitted ones.
	negligible = 1e-13
	maxRows    = 4096
	maxDropped = 1e-9
	// latticePoints, a prime, and latticeGenerator define the lattice that replaces longer lists. The
	// generator is the best of 25 drawn at random.
	latticePoints    = 2039
	latticeGenerator = 977
)

// Joint is the joint distribution of the counts of a site's distinct targets: Row(i) has probability P[i].
type Joint struct {
	Targets []float64 // distinct, in the order of their first appearance
	P       []float64
	counts  []float64 // len(P) rows of len(Targets)
}

// Row is the counts of the targets in row i.
func (x *Joint) Row(i int) []float64 {
	n := len(x.Targets)
	return x.counts[i*n : (i+1)*n]
}

func (x *Joint) add(p float64, counts []float64) {
	x.P = append(x.P, p)
	x.counts = append(x.counts, counts...)
}

// IsEmpty reports whether no example is present.
func IsEmpty(counts []float64) bool {
	return !slices.ContainsFunc(counts, func(k float64) bool { return k != 0 })
}

// Distinct lists the distinct targets of y in the order of their first appearance,
// and how many examples have each.
func Distinct(y []float64) (targets []float64, examples []int) {
	for _, v := range y {
		j := slices.Index(targets, v)
		if j < 0 {
			j = len(targets)
			targets, examples = append(targets, v), append(examples, 0)
		}
		examples[j]++
	}
	return targets, examples
}

// New lists the joint counts of examples with targets y, the likeliest first. Counts of different targets are
// approximated as independent. Rows below the probability least are omitted, but never the one without
// examples; if there are more than maxRows rows, the rows of negligible probability; a list that is still too
// long is replaced by a lattice rule. Regression needs the lattice from about four different targets at one
// input: the error of the predictor's mean is then up to 1% of the standard deviation over resamples, the
// error of its variance up to 4%, of its response up to 0.005 (measured in loss.TestLattice).
func New(y []float64, law resample.CountDistribution, least float64) *Joint {
	targets, examples := Distinct(y)
	axes := make([]marginal, len(targets))
	for j, n := range examples {
		axes[j] = newMarginal(n, law)
	}
	for _, least := range []float64{least, max(least, negligible)} {
		if x := enumerate(targets, axes, least); x != nil {
			return x
		}
	}
	return lattice(targets, axes)
}

// marginal is the distribution of the count of one target.
type marginal struct{ counts, p []float64 }

// newMarginal is the distribution of the total count of n examples. If the window of the law starts above 0,
// the count 0 is added, however small its probability: only it leaves the cavity unchanged.
func newMarginal(n int, law resample.CountDistribution) (a marginal) {
	window := law.Counts(n)
	if zero := resample.ProbZero(law, n); window.First > 0 && zero > 0 {
		a.counts, a.p = append(a.counts, 0), append(a.p, zero)
	}
	for j, q := range window.P {
		if q > 0 {
			a.counts, a.p = append(a.counts, window.At(j)), append(a.p, q)
		}
	}
	return a
}

// quantile is the least count with distribution function above u.
func (a marginal) quantile(u float64) float64 {
	sum := 0.0
	for i, p := range a.p {
		if sum += p; sum > u {
			return a.counts[i]
		}
	}
	return a.counts[len(a.counts)-1]
}

// enumerate lists the rows of probability >= least, rescaled for the omitted ones, and the row without
// examples, not rescaled; nil if there are more than maxRows or the omitted probability is too large.
func enumerate(targets []float64, axes []marginal, least float64) *Joint {
	x := &Joint{Targets: targets}
	row := make([]float64, len(axes))
	empty, total := 0.0, 0.0
	bound := make([]float64, len(axes)+1) // the largest probability of the axes from j on
	bound[len(axes)] = 1
	for j := len(axes) - 1; j >= 0; j-- {
		bound[j] = bound[j+1] * slices.Max(axes[j].p)
	}
	var visit func(j int, p float64)
	visit = func(j int, p float64) {
		if len(x.P) > maxRows {
			return
		}
		if j == len(axes) {
			x.add(p, row)
			if total += p; IsEmpty(row) {
				empty = p
			}
			return
		}
		for i, q := range axes[j].p {
			row[j] = axes[j].counts[i]
			if p*q*bound[j+1] >= least || IsEmpty(row[:j+1]) { // else the branch has no rows
				visit(j+1, p*q)
			}
		}
	}
	visit(0, 1)
	if len(x.P) > maxRows || total < 1-max(maxDropped, maxRows*least) {
		return nil
	}
	for i := range x.P {
		if least > 0 && !IsEmpty(x.Row(i)) {
			x.P[i] *= (1 - empty) / (total - empty)
		}
	}
	x.likeliestFirst()
	return x
}

// lattice lists the points of a Korobov lattice, each axis mapped by its quantile function: single counts and
// pairs have nearly their exact distributions. The row without examples has its exact probability.
func lattice(targets []float64, axes []marginal) *Joint {
	x := &Joint{Targets: targets}
	absent := 1.0
	for _, a := range axes {
		if a.counts[0] == 0 {
			absent *= a.p[0]
		} else {
			absent = 0
		}
	}
	row := make([]float64, len(axes))
	for i := range latticePoints {
		step := 1
		for j, a := range axes {
			u := (float64(i*step%latticePoints) + 0.5) / latticePoints
			row[j] = a.quantile(u)
			step = step * latticeGenerator % latticePoints
		}
		if !IsEmpty(row) {
			x.add(1, row)
		}
	}
	floats.Scale((1-absent)/float64(len(x.P)), x.P)
	clear(row)
	if absent > 0 {
		x.add(absent, row)
	}
	x.likeliestFirst()
	return x
}

// likeliestFirst swaps the likeliest row to the front.
func (x *Joint) likeliestFirst() {
	best := floats.MaxIdx(x.P)
	x.P[0], x.P[best] = x.P[best], x.P[0]
	first, other := x.Row(0), x.Row(best)
	for j := range first {
		first[j], other[j] = other[j], first[j]
	}
}
