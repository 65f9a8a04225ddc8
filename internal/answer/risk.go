package answer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
)

// The error of the model that training on all rows gives is estimated by exact cross-validation, repeated
// over random partitions into ten folds. Pairs of folds that are left out together give the standard error
// (calibration.NestedError). See doc/theory.md 15.
const (
	riskFolds = 10
	// fewestPaired is the least number of folds of which pairs are left out.
	fewestPaired = 4
	// To save time pairs are not left out above mostPaired rows, where the standard error is the one over
	// rows, and a choice is not made again above mostChosen rows. What that misses was not measured.
	mostPaired, mostChosen = 3000, 1000
)

// partitionsOf is the number of random partitions: sixteen for few rows, where an answer would else depend on
// them.
func partitionsOf(rows int) int { return max(1, min(16, 1600/rows)) }

// risk is the estimated error of the model of all rows by one judge, with its standard error; plain is the
// error without a correction for the choice, and fall how much less models of all rows err than models
// without a fold.
type risk struct {
	error, se, plain, fall float64

	spread  spread        // of losses; nil: calibration.StandardError
	freedom float64       // degrees of the standard error; 0: many
	each    []float64     // by row
	field   []float64     // of two labels, by row: the mean left-out prediction; nil: unknown
	outer   [][]float64   // by fold: the losses of its rows
	inner   [][][]float64 // by fold and other fold of its partition, see pairs; nil: none
	again   []float64     // by row: what making the choice again adds; nil: nothing
	foldOf  []int         // of each row: the fold without which it was made; nil: unknown
}

// spread is the standard error over the rows or groups of a mean of losses.
type spread func(losses []float64) float64

// choosesAgain reports whether a choice is made again without each fold.
func (s *Study) choosesAgain() bool {
	return len(s.Model.Spec.Chosen) > 0 && (s.Nested || s.Model.Set.N() <= mostChosen)
}

// risks are the errors of the model of all rows: the study's, and of several targets each in its units.
func (s *Study) risks(ctx context.Context, seed uint64) (found []*risk, v Validation, err error) {
	v = riskValidation(s.Model.Set, seed)
	v.Repeats = partitionsOf(s.Model.Set.N())
	folds, each, err := partitions(&v, s)
	if err != nil {
		return nil, v, err
	}
	found, err = s.risksOf(ctx, &v, folds, each)
	return found, v, err
}

// riskValidation are ten random folds of the rows of a set. Folds within classes have the errors of classes
// that cannot be stated too low, because a vote of the majority of the other folds is then never punished:
// for 50 coins by 7%.
func riskValidation(set *dataset.Set, seed uint64) Validation {
	v := tenFolds(set)
	v.Seed, v.ErrorsAlone, v.Design.Stratum = seed, true, set.Strata
	if v.Design.Stratum == nil {
		v.Design.Stratum = make([]int, set.N())
	}
	return v
}

// risksOf are the errors by the folds, each of a partition.
func (s *Study) risksOf(ctx context.Context, v *Validation, folds [][]int, each int) (found []*risk,
	err error) {
	set := s.Model.Set
	trials := trialsOf(folds, set)
	fields, err := s.fields(ctx, v, trials)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	outer := s.judged(trials, fields)
	inner := make([][][][]float64, len(outer))
	if each >= fewestPaired && set.N() <= mostPaired {
		if inner, err = s.pairs(ctx, v, folds, each); err != nil {
			return nil, err
		}
	}
	for at := range outer {
		x := (&risk{inner: inner[at]}).average(set, folds, each, outer[at])
		if x.plain = x.error; len(set.Levels()) == 2 {
			x.field = byRow(set, folds, each, fields)
		}
		found = append(found, x)
	}
	return found, nil
}

// average is the mean of the losses of folds, with the standard error over rows or groups, or nested. each is
// the number of folds of a partition.
func (x *risk) average(set *dataset.Set, folds [][]int, each int, losses [][]float64) *risk {
	x.each, x.outer = byRow(set, folds, each, losses), losses
	if x.spread == nil {
		x.spread = func(losses []float64) float64 {
			se, _ := calibration.StandardError(losses, set.Weights, set.Groups)
			return float64(se)
		}
	}
	x.error, x.se = stat.Mean(x.each, set.Weights), x.spread(x.each)
	if x.inner == nil {
		return x
	}
	var nested []calibration.Nested
	for first := 0; first < len(folds); first += each {
		of := folds[first:][:each]
		n := nestedOf(set, of, losses[first:][:each], x.inner[first:][:each], x.se)
		if len(folds) > each {
			others := x.others(of, losses[first:][:each], len(folds)/each)
			n.Naive = x.spread(others)
			n.Others = steadyOf(set, of, others, n.Naive)
		}
		nested = append(nested, *n)
	}
	if x.se, x.fall = calibration.NestedError(nested, x.se); set.Groups != nil {
		x.fall = 0 // few groups know it badly, and cut at 0 it is too much
	}
	return x
}

// byRow are the means over the partitions of what each fold has of its rows.
func byRow(set *dataset.Set, folds [][]int, each int, of [][]float64) []float64 {
	means := make([]float64, set.N())
	for r, rows := range folds {
		for k, i := range rows {
			means[i] += of[r][k] * float64(each) / float64(len(folds))
		}
	}
	return means
}

// weightOf is the weight of all rows.
func weightOf(set *dataset.Set) float64 {
	if set.Weights == nil {
		return float64(set.N())
	}
	return floats.Sum(set.Weights)
}

// others are the mean losses of the rows by the partitions other than one, with its folds and losses.
func (x *risk) others(folds [][]int, losses [][]float64, partitions int) []float64 {
	others, count := slices.Clone(x.each), float64(partitions)
	for j, rows := range folds {
		for k, i := range rows {
			others[i] = (count*x.each[i] - losses[j][k]) / (count - 1)
		}
	}
	return others
}

// steadyOf are the means of the folds of a partition of losses that do not depend on the folds.
func steadyOf(set *dataset.Set, folds [][]int, each []float64, se float64) *calibration.Nested {
	losses := make([][]float64, len(folds))
	for j, rows := range folds {
		for _, i := range rows {
			losses[j] = append(losses[j], each[i])
		}
	}
	return nestedOf(set, folds, losses, slices.Repeat([][][]float64{losses}, len(folds)), se)
}

// nestedOf are the means of the folds of one partition, given the losses of each fold, and inner by fold and
// other fold. A fold has too few groups for a variance over them: all folds have the one of se, the standard
// error of all rows.
func nestedOf(set *dataset.Set, folds [][]int, outer [][]float64, inner [][][]float64, se float64) (
	n *calibration.Nested) {
	n = &calibration.Nested{}
	weights := make([][]float64, len(folds))
	for j, rows := range folds {
		for _, i := range rows {
			weights[j] = append(weights[j], calibration.WeightOf(set.Weights, i))
		}
	}
	for j := range folds {
		share := floats.Sum(weights[j]) / weightOf(set)
		own := se / math.Sqrt(share)
		if set.Groups == nil {
			of, _ := calibration.StandardError(outer[j], weights[j], nil)
			own = float64(of)
		}
		n.Outer = append(n.Outer, stat.Mean(outer[j], weights[j]))
		n.Variance, n.Share = append(n.Variance, own*own), append(n.Share, share)
		n.Inner = append(n.Inner, make([]float64, len(folds)))
		for l := range folds {
			if l != j {
				n.Inner[j][l] = stat.Mean(inner[j][l], weights[l])
			}
		}
	}
	return n
}

// pairs are, by judge, fold and other fold of its partition, the losses on the other fold of the fits without
// both.
func (s *Study) pairs(ctx context.Context, v *Validation, folds [][]int, each int) (inner [][][][]float64,
	err error) {
	var pairs [][2]int
	var without [][]int
	for j := range folds {
		for l := j - j%each; l < j; l++ {
			pairs, without = append(pairs, [2]int{j, l}), append(without, slices.Concat(folds[j], folds[l]))
		}
	}
	losses, err := s.lossesWithout(ctx, v, without)
	for at := range losses {
		by := make([][][]float64, len(folds))
		for j := range by {
			by[j] = make([][]float64, each)
		}
		for r, p := range pairs {
			j, l, cut := p[0], p[1], len(folds[p[0]])
			by[l][j%each], by[j][l%each] = losses[at][r][:cut], losses[at][r][cut:]
		}
		inner = append(inner, by)
	}
	return inner, err
}
