// Package adjoint differentiates the averages of a solver.Solution with respect to hyperparameters (Gradient)
// and the weights of the examples (Influence, Interactions).
package adjoint

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
	"bootbench/solver/site"
)

// Criterion is a criterion of model selection, a smooth function of the hyperparameters.
type Criterion int

// The criteria. The left-out error is the mean of Solution.LeftOut. .632 and .632+ combine it with an
// apparent error as solver.Combine632 does, but the apparent error is the mean over resamples of the
// predictor's training error, instead of the error of one fit to all data; the no-information error is of the
// same predictors. Both follow from the same fixed point. For the zero-one loss they are probabilities, and
// so smooth; the error of a fit is a count.
const (
	LeftOutError Criterion = iota
	Err632Plus
	Err632
)

// Objective is a criterion and its test loss.
type Objective struct {
	Criterion Criterion
	Test      loss.Test
}

// averages are means over examples, or a site's terms of their sums.
type averages struct {
	leftOut  float64 // test loss over the resamples that leave the example out
	all      float64 // over all resamples
	shuffled float64 // with targets shuffled over the inputs
}

// readout is an Objective at a solution.
type readout struct {
	Objective
	y                []float64
	absent           float64 // probability of an example to be left out
	total            float64 // weight of the examples
	mean, meanSquare float64 // of the targets; the share of labels +1 is (1+mean)/2
}

func newReadout(s *solver.Solution, o Objective) (*readout, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if o.Test == nil {
		return nil, badProblem("there is no test loss")
	}
	y, weights := s.Problem.Y, s.Problem.Weights
	mean, variance := stat.PopMeanVariance(y, weights)
	r := &readout{Objective: o, y: y, absent: s.Problem.Law.Absent(), mean: mean,
		meanSquare: variance + mean*mean, total: float64(len(y))}
	if weights != nil {
		r.total = floats.Sum(weights)
	}
	if o.Criterion == LeftOutError {
		return r, nil
	}
	if t := loss.TraitsOf(o.Test); !t.Quadratic && !t.Steps {
		return nil, badProblem("a smooth .632 estimate is for the test losses square and zero-one, "+
			"not for %s", o.Test.Name())
	}
	if !(r.absent < 1) {
		return nil, badProblem("no example is ever drawn: there is no apparent error")
	}
	return r, nil
}

func badProblem(format string, args ...any) error {
	return fmt.Errorf("%w: %w", solver.ErrProblem, fmt.Errorf(format, args...))
}

// site computes a site's terms of the sums over examples, in a cavity with moments m.
func (r *readout) site(s *site.Site, cav loss.Cavity, m loss.Moments) (sum averages) {
	s.EachLeftOut(cav, r.y, r.Test, func(_ int, value float64) { sum.leftOut += value })
	if r.Criterion == LeftOutError {
		return sum.times(s.Weight)
	}
	vote := 0.0
	labels := loss.TraitsOf(r.Test).Steps
	if labels {
		vote = s.Distribution(cav).Vote()
	}
	for _, example := range s.Examples {
		y := r.y[example]
		if labels {
			sum.all += (1+y)/2*(1-vote) + (1-y)/2*vote
			sum.shuffled += (1+r.mean)/2*(1-vote) + (1-r.mean)/2*vote
		} else {
			sum.all += (m.Mean-y)*(m.Mean-y) + m.Var
			sum.shuffled += m.Mean*m.Mean + m.Var - 2*m.Mean*r.mean + r.meanSquare
		}
	}
	return sum.times(s.Weight)
}

// combine computes the criterion and its derivatives with respect to the means.
func (r *readout) combine(mean averages) (value float64, slope averages) {
	if r.Criterion == LeftOutError {
		return mean.leftOut, averages{leftOut: 1}
	}
	// all = p(0) leftOut + (1-p(0)) apparent
	apparent := (mean.all - r.absent*mean.leftOut) / (1 - r.absent)
	value = 0.368*apparent + 0.632*mean.leftOut
	byLeftOut, byApparent, byShuffled := 0.632, 0.368, 0.0
	if above := math.Min(mean.leftOut, mean.shuffled) - apparent; above > 0 && r.Criterion == Err632Plus {
		// .632+ = .632 + 0.368 0.632 above^2/q,  q = gap - 0.368 above,  gap = shuffled - apparent
		gap := mean.shuffled - apparent
		q := gap - 0.368*above
		value += above * 0.368 * 0.632 * (above / gap) / (1 - 0.368*(above/gap))
		byAbove := 0.368 * 0.632 * (2*above/q + 0.368*above*above/(q*q))
		byGap := -0.368 * 0.632 * above * above / (q * q)
		if mean.leftOut < mean.shuffled {
			byLeftOut += byAbove
		} else {
			byShuffled += byAbove
		}
		byShuffled += byGap
		byApparent -= byAbove + byGap
	}
	slope.all = byApparent / (1 - r.absent)
	slope.leftOut = byLeftOut - r.absent*slope.all
	slope.shuffled = byShuffled
	return value, slope
}

func (a averages) dot(b averages) float64 {
	return a.leftOut*b.leftOut + a.all*b.all + a.shuffled*b.shuffled
}

// times is f a, and plus a + b.
func (a averages) times(f float64) averages {
	return averages{f * a.leftOut, f * a.all, f * a.shuffled}
}

func (a averages) plus(b averages) averages {
	return averages{a.leftOut + b.leftOut, a.all + b.all, a.shuffled + b.shuffled}
}

// Value is the criterion's at a solution.
func (o Objective) Value(s *solver.Solution) (float64, error) {
	r, err := newReadout(s, o)
	if err != nil {
		return 0, err
	}
	sites := s.Bound()
	parts := make([]averages, len(sites))
	linalg.Parallel(len(parts), func(i int) {
		parts[i] = r.site(&sites[i], s.Cavity[i], sites[i].Moments(s.Cavity[i]))
	})
	value, _ := r.combine(meanOf(parts, r.total))
	if math.IsNaN(value) {
		return value, errors.New("the criterion is not a number at this solution")
	}
	return value, nil
}

// meanOf divides the sites' sums over examples by the total weight.
func meanOf(parts []averages, total float64) (mean averages) {
	for _, part := range parts {
		mean = mean.plus(part)
	}
	return mean.times(1 / total)
}
