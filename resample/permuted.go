package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Permuted are random permutations of targets.
//
// With groups these are the units that change places. Groups of equal size exchange the targets of their
// examples. Where sizes differ, the means of all groups are permuted, and each example keeps its deviation
// from the mean of its group; labels that differ within groups forbid that.
type Permuted struct {
	Y      []float64
	Within []int // targets are permuted among the examples of one part; nil: among all
	Group  []int // of each example; nil: no groups, else Within is ignored
	Labels bool  // the targets are labels
	Seed   uint64
}

// units lists the examples of each unit, and the parts among whose units targets, or only their means, are
// permuted; what says what the units are.
func (t *Permuted) units() (units [][]int, part []int, means bool, what string) {
	if t.Group == nil {
		for i := range t.Y {
			units = append(units, []int{i})
		}
		if what = "rows"; t.Within != nil {
			what = "rows within strata"
		}
		return units, t.Within, false, what
	}
	units = membersOf(t.Group, len(t.Y))
	differ, mixed := false, false
	for _, of := range units {
		part, differ = append(part, len(of)), differ || len(of) != len(units[0])
		for _, i := range of {
			mixed = mixed || t.Y[i] != t.Y[of[0]]
		}
	}
	switch {
	case !differ:
		return units, part, false, "whole groups"
	case t.Labels && mixed:
		return units, part, false, "whole groups of one size"
	}
	return units, nil, true, "the means of groups"
}

// What says what is permuted.
func (t *Permuted) What() string {
	_, _, _, what := t.units()
	return what
}

// Arrangements is the number of different assignments of targets to units that permutations make.
func (t *Permuted) Arrangements() float64 {
	units, part, means, _ := t.units()
	logarithm := func(n int) float64 {
		v, _ := math.Lgamma(float64(n + 1))
		return v
	}
	sum := 0.0
	for _, of := range membersOf(part, len(units)) {
		equal := map[string]int{}
		for _, u := range of {
			own := []float64{t.mean(units[u])}
			for _, i := range units[u] {
				if !means {
					own = append(own, t.Y[i])
				}
			}
			equal[fmt.Sprint(own)]++
		}
		sum += logarithm(len(of))
		for _, n := range equal {
			sum -= logarithm(n)
		}
	}
	return math.Round(math.Exp(sum))
}

func (t *Permuted) mean(of []int) (mean float64) {
	for _, i := range of {
		mean += t.Y[i]
	}
	return mean / float64(len(of)) // which of equal labels is exactly theirs
}

// Targets are the targets of permutation p.
func (t *Permuted) Targets(p int) []float64 {
	rng := rand.New(rand.NewPCG(t.Seed, ^uint64(p))) // no stream of resamples
	units, part, means, _ := t.units()
	y := make([]float64, len(t.Y))
	for _, of := range membersOf(part, len(units)) {
		for k, other := range rng.Perm(len(of)) {
			to, from := units[of[k]], units[of[other]]
			shift := t.mean(from) - t.mean(to)
			for q, i := range to {
				if means {
					y[i] = t.Y[i] + shift
				} else {
					y[i] = t.Y[from[q]]
				}
			}
		}
	}
	return y
}
