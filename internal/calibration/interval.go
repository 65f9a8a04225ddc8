// Package calibration computes intervals with a stated probability of a new observation, probabilities of
// classes, and measures of errors, from predictions for examples that a model was trained without.
package calibration

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Scores weigh left-out examples for intervals about new targets.
type Scores struct {
	Weights   []float64 // of the examples; nil for 1
	Effective float64   // their effective number, or the groups' (Effective)
	Units     string    // that this counts: examples or groups
}

// NewScores are the scores of n examples with weights, or of groups that are left out together.
func NewScores(n int, weights []float64, group []int) Scores {
	s := Scores{weights, Effective(n, weights, group), "examples"}
	switch {
	case group != nil:
		s.Units = "effective groups"
	case weights != nil:
		s.Units = "effective examples"
	}
	return s
}

// Effective is the effective number (sum_g w_g)^2/sum_g w_g^2 (Kish 1965) of n examples with weights w, nil
// for 1, or of groups, whose weights are the sums over their examples.
func Effective(n int, weights []float64, group []int) float64 {
	sum, unit := 0.0, make([]float64, n)
	for i := range n {
		at, w := i, WeightOf(weights, i)
		if group != nil {
			at = group[i]
		}
		sum += w
		unit[at] += w
	}
	return sum * sum / floats.Dot(unit, unit)
}

// rounding is the relative error of a rank.
const rounding = 1e-12

// Reaches reports whether a weight, of a total, is the share level of it with a new example's (Bound).
func (s Scores) Reaches(weight, total, level float64) bool {
	return weight >= level*(total+total/s.Effective)*(1-rounding)
}

// Bound is the upper bound, with probability level, of the score of a new example: the smallest of the scores
// at or below which the left-out examples have the share level (1 + 1/Effective) of the weight, infinite if
// that is above 1. (Tibshirani, Barber, Candes and Ramdas 2019; the new example, or group, has the weight
// that one has on average where they are drawn by weight, sum w^2/sum w.) Among n examples of equal weight it
// is the score of rank ceil(level (n+1)). It sorts the scores.
func (s Scores) Bound(scores []float64, level float64) float64 {
	of := append([]float64(nil), s.Weights...)
	stat.SortWeighted(scores, of)
	total := float64(len(scores))
	if of != nil {
		total = floats.Sum(of)
	}
	sum := 0.0
	for i, score := range scores {
		if sum += WeightOf(of, i); s.Reaches(sum, total, level) {
			return score
		}
	}
	return math.Inf(1)
}

// JackknifePlus computes the jackknife+ interval for the target at a new input (Barber, Candes, Ramdas and
// Tibshirani, Annals of Statistics 49, 2021). without[i] is the prediction at the new input by models without
// example i, and residual[i] >= 0 their absolute error on example i. With n examples of equal weight and k =
// ceil(level (n+1)) the ends are
//
//	the k-th largest of without[i] - residual[i],   the k-th smallest of without[i] + residual[i],
//
// else the ends are by Bound; they are infinite for a level that Check refuses. For exchangeable examples it
// contains the target with probability at least 2 level - 1 for any noise, and about level if the models
// hardly depend on single examples. With averages over resamples instead of single models it is the
// jackknife+-after- bootstrap (Kim, Xu and Barber 2020), with folds CV+. It overwrites the two slices.
func (s Scores) JackknifePlus(without, residual []float64, level float64) (low, high float64) {
	for i, f := range without {
		without[i], residual[i] = residual[i]-f, f+residual[i]
	}
	return -s.Bound(without, level), s.Bound(residual, level)
}

// CheckLevel refuses a level outside (0, 1).
func CheckLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("the level of an interval is %v, must lie between 0 and 1", level)
	}
	return nil
}

// Check refuses a level with infinite bounds: level/(1-level) effective examples or groups are needed.
func (s Scores) Check(level float64) error {
	n := s.Effective
	if err := CheckLevel(level); err != nil || level*(n+1)*(1-rounding) <= n {
		return err
	}
	return fmt.Errorf("%.5g left-out %s cannot support an interval that holds %v of the observations: "+
		"that takes %.0f of them, or a level of at most %.3f",
		n, s.Units, level, math.Ceil(level/(1-level)-1e-9), math.Floor(1000*n/(n+1))/1000)
}

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

// NewGroupErrors are the errors of groups, numbered from 0, with weights of rows (nil: 1); nil of one group.
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
