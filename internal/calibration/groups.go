package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// GroupErrors is the distribution of the left-out error of a row of a new group, from groups that are too few
// for quantiles. With e_g the mean errors of g groups of n_g rows, s_b their standard deviation, s_w the one
// of the errors within groups, and h the mean of 1/n_g, its interval is
//
//	mean e -+ (t_b^2 s_b^2 (1 + 1/g) + t_w^2 s_w^2 (1 - h))^1/2,
//
// t_b and t_w the quantiles of Student's t with g - 1 and n - g degrees of freedom. The second part is what
// the errors of single rows vary more than the means of groups do. The groups count equally, however many
// rows they have; rows count by weight within their group.
type GroupErrors struct {
	Mean    float64 `json:"mean"`
	Between float64 `json:"between"` // s_b (1 + 1/g)^1/2
	Within  float64 `json:"within"`  // s_w (1 - h)^1/2
	Groups  int     `json:"groups"`
	Rows    int     `json:"rows"` // n
}

// NewGroupErrors are the errors of groups of rows, numbered from 0, with the weights of rows (nil: 1); nil
// for fewer than two groups.
func NewGroupErrors(errors, weights []float64, group []int) *GroupErrors {
	var each, by [][]float64
	for i, g := range group {
		for len(each) <= g {
			each, by = append(each, nil), append(by, nil)
		}
		each[g], by[g] = append(each[g], errors[i]), append(by[g], WeightOf(weights, i))
	}
	var means []float64
	within, inverse, rows := 0.0, 0.0, 0
	for g, of := range each {
		if len(of) == 0 {
			continue
		}
		mean, effective := stat.Mean(of, by[g]), Effective(len(of), by[g], nil)
		means = append(means, mean)
		for i, e := range of {
			within += by[g][i] / stat.Mean(by[g], nil) * (e - mean) * (e - mean)
		}
		rows, inverse = rows+len(of)-1, inverse+1/effective
	}
	count := float64(len(means))
	if count < 2 {
		return nil
	}
	mean, between := stat.MeanVariance(means, nil)
	r := &GroupErrors{Mean: mean, Between: math.Sqrt(between * (1 + 1/count)), Groups: len(means),
		Rows: rows + len(means)}
	if rows > 0 {
		r.Within = math.Sqrt(within * (1 - inverse/count) / float64(rows))
	}
	return r
}

// Interval contains the error of a row of a new group with probability level.
func (g *GroupErrors) Interval(level float64) (low, high float64) {
	half := g.Between * quantile(level, float64(g.Groups-1))
	if g.Within > 0 {
		half = math.Hypot(half, g.Within*quantile(level, float64(g.Rows-g.Groups)))
	}
	return g.Mean - half, g.Mean + half
}
