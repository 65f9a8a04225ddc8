package solver

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// Criterion is a number by which models are compared, a smooth function of their
// hyperparameters.
type Criterion int

// The criteria. The left-out error is the mean of Solution.LeftOut. .632+ combines
// it, as ErrorEstimates does, with an apparent error; but that is the mean error of the
// resamples' own predictors on the examples that they were trained on, not that of one fit
// to all data, and their predictions are what the no-information error is of. Both follow
// from the same fixed point. For the zero-one loss they are probabilities, and smooth, where
// the error of a fit is a count.
const (
	LeftOutError Criterion = iota
	Err632Plus
)

// Objective is a criterion and the test loss that it is of.
type Objective struct {
	Criterion Criterion
	Test      loss.Test
}

// averages are means over examples, or a site's share of their sums.
type averages struct {
	leftOut  float64 // test loss, of the resamples that leave the example out
	all      float64 // the same of all resamples
	shuffled float64 // the same on targets shuffled over the inputs
}

// readout is an Objective at a solution.
type readout struct {
	Objective
	y                []float64
	absent           float64 // probability of an example to be left out
	mean, meanSquare float64 // of the targets; of labels that of +1 is (1+mean)/2
}

func (s *Solution) readout(o Objective) (*readout, error) {
	r := &readout{Objective: o, y: s.y, absent: resample.ProbZero(s.law, 1), mean: stat.Mean(s.y, nil)}
	r.meanSquare = floats.Dot(s.y, s.y) / float64(len(s.y))
	if o.Criterion == LeftOutError {
		return r, nil
	}
	switch o.Test.(type) {
	case loss.SquareTest, loss.ZeroOne:
	default:
		return nil, badProblem("a smooth .632 estimate is for the test losses square and zero-one, not for %s",
			o.Test.Name())
	}
	if !(r.absent < 1) {
		return nil, badProblem("no example is ever drawn: there is no apparent error")
	}
	return r, nil
}

// site computes the share of a site in the sums over examples, in a cavity in which it has
// moments m.
func (r *readout) site(s *site, cav loss.Cavity, m loss.Moments) (sum averages) {
	s.eachLeftOut(cav, r.y, r.Test, func(_ int, value float64) { sum.leftOut += value })
	if r.Criterion == LeftOutError {
		return sum
	}
	vote := 0.0
	_, labels := r.Test.(loss.ZeroOne)
	if labels {
		vote = s.Distribution(cav).Vote()
	}
	for _, example := range s.examples {
		y := r.y[example]
		if labels {
			sum.all += (1+y)/2*(1-vote) + (1-y)/2*vote
			sum.shuffled += (1+r.mean)/2*(1-vote) + (1-r.mean)/2*vote
		} else {
			sum.all += (m.Mean-y)*(m.Mean-y) + m.Var
			sum.shuffled += m.Mean*m.Mean + m.Var - 2*m.Mean*r.mean + r.meanSquare
		}
	}
	return sum
}

// combine computes the criterion from the means, and its derivatives by each of them.
func (r *readout) combine(mean averages) (value float64, slope averages) {
	if r.Criterion == LeftOutError {
		return mean.leftOut, averages{leftOut: 1}
	}
	// all = p(0) leftOut + (1-p(0)) apparent
	e := ErrorEstimates{LeftOut: mean.leftOut, NoInformation: mean.shuffled}
	e.Apparent = (mean.all - r.absent*mean.leftOut) / (1 - r.absent)
	e.Err632 = 0.368*e.Apparent + 0.632*e.LeftOut
	value = e.Err632
	byLeftOut, byApparent, byShuffled := 0.632, 0.368, 0.0
	if above := math.Min(e.LeftOut, e.NoInformation) - e.Apparent; above > 0 {
		value = err632plus(e)
		// value = .632 + 0.368 0.632 above^2/q,  q = gap - 0.368 above,  gap = NoInformation - Apparent
		gap := e.NoInformation - e.Apparent
		q := gap - 0.368*above
		byAbove := 0.368 * 0.632 * (2*above/q + 0.368*above*above/(q*q))
		byGap := -0.368 * 0.632 * above * above / (q * q)
		if e.LeftOut < e.NoInformation {
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

// Objective is the value of a criterion.
func (s *Solution) Objective(o Objective) (float64, error) {
	r, err := s.readout(o)
	if err != nil {
		return 0, err
	}
	parts := make([]averages, len(s.sites))
	linalg.Parallel(len(parts), func(i int) {
		parts[i] = r.site(&s.sites[i], s.Cavity[i], s.sites[i].Moments(s.Cavity[i]))
	})
	var sum averages
	for _, part := range parts {
		sum = sum.plus(part)
	}
	value, _ := r.combine(sum.times(1 / float64(len(s.y))))
	if math.IsNaN(value) {
		return value, fmt.Errorf("the criterion is not a number at this solution")
	}
	return value, nil
}
