package answer

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/loss"
	"bootbench/resample"
)

// The error of the model that training on all rows gives is estimated by exact cross-validation, repeated
// over random partitions into ten folds, with the choice of the model inside: a fold is judged by the
// candidate that is best on the rows of all other folds. Pairs of folds that are left out together give the
// standard error (calibration.NestedError). See doc/theory.md 15.
const (
	riskFolds = 10
	// fewestPaired is the least number of folds of which pairs are left out.
	fewestPaired = 4
	// To save time pairs are not left out above mostPaired rows, where the standard error is the one over
	// rows, and a choice is not made again above mostChosen rows. What that misses was not measured.
	mostPaired, mostChosen = 3000, 1000
	// mostAxes is the largest number of hyperparameters chosen on a grid. More of them, or length scales of
	// features, are chosen again without each of againFolds folds.
	mostAxes, againFolds = 3, 5
)

// partitionsOf is the number of random partitions: sixteen for few rows, where an answer would else depend on
// them.
func partitionsOf(rows int) int { return max(1, min(16, 1600/rows)) }

// risk is the estimated error of the model of all rows by one judge, with its standard error; plain is the
// error without a correction for the choice, and fall how much less models of all rows err than models
// without a fold.
type risk struct {
	error, se, plain, fall float64
	each                   []float64 // by row
}

// manyChosen reports whether so much was chosen that the choice must be made again.
func (s *Study) manyChosen() bool {
	chosen := s.Model.Spec.Chosen
	return len(chosen) > mostAxes || len(s.Model.Spec.Kernel.LengthScale) > 1 && slices.Contains(chosen,
		"length-scale")
}

// risks are the errors of the model of all rows: the study's, and of several targets each in its units.
func (s *Study) risks(ctx context.Context, seed uint64) (found []*risk, v Validation, err error) {
	set := s.Model.Set
	v = tenFolds(set)
	v.Seed, v.Repeats, v.ErrorsAlone = seed, partitionsOf(set.N()), true
	// Folds within classes have the errors of classes that cannot be told too low: a vote of the majority of
	// the other folds is then never punished. For 50 coins it is by 7%.
	if v.Design.Stratum = set.Strata; v.Design.Stratum == nil {
		v.Design.Stratum = make([]int, set.N())
	}
	folds, each, err := partitions(&v, s)
	if err != nil {
		return nil, v, err
	}
	all, err := s.candidates(ctx, &v, folds, each)
	if err != nil {
		return nil, v, err
	}
	own, pick := all[0], make([]*candidate, len(folds))
	if len(all) > 1 {
		all = all[1:]
	}
	for r := range folds {
		pick[r] = all[best(all, set.Weights, folds[r])]
	}
	var inner [][][][]float64
	if each >= fewestPaired && set.Groups == nil && set.N() <= mostPaired {
		if inner, err = s.pairs(ctx, &v, all, folds, each); err != nil {
			return nil, v, err
		}
	}
	for at := range own.outer {
		x := average(set, folds, v.Repeats, func(r int) []float64 { return pick[r].outer[at][r] })
		plain := average(set, folds, v.Repeats, func(r int) []float64 { return own.outer[at][r] })
		if x.plain = plain.error; inner != nil {
			var nested []calibration.Nested
			for first := 0; first < len(folds); first += each {
				nested = append(nested, nestedOf(set, folds[first:][:each], func(j int) []float64 {
					return pick[first+j].outer[at][first+j]
				}, inner[at][first:][:each]))
			}
			x.se, x.fall = calibration.NestedError(nested, x.se)
		}
		found = append(found, x)
	}
	return found, v, nil
}

// average is the mean of the losses of folds, with the standard error over rows or groups.
func average(set *dataset.Set, folds [][]int, repeats int, losses func(r int) []float64) *risk {
	x := &risk{each: make([]float64, set.N())}
	for r, rows := range folds {
		for k, i := range rows {
			x.each[i] += losses(r)[k] / float64(repeats)
		}
	}
	se, _ := calibration.StandardError(x.each, set.Weights, set.Groups)
	x.error, x.se = stat.Mean(x.each, set.Weights), float64(se)
	return x
}

// weightOf is the weight of all rows.
func weightOf(set *dataset.Set) float64 {
	if set.Weights == nil {
		return float64(set.N())
	}
	return floats.Sum(set.Weights)
}

// nestedOf are the means of the folds of one partition, given the losses of each fold, and inner by fold and
// other fold.
func nestedOf(set *dataset.Set, folds [][]int, outer func(j int) []float64, inner [][][]float64) (
	n calibration.Nested) {
	weights := make([][]float64, len(folds))
	for j, rows := range folds {
		for _, i := range rows {
			weights[j] = append(weights[j], calibration.WeightOf(set.Weights, i))
		}
	}
	for j := range folds {
		se, _ := calibration.StandardError(outer(j), weights[j], nil)
		n.Outer = append(n.Outer, stat.Mean(outer(j), weights[j]))
		n.Variance = append(n.Variance, float64(se*se))
		n.Share = append(n.Share, floats.Sum(weights[j])/weightOf(set))
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
// both, each of the candidate that is best on all other rows.
func (s *Study) pairs(ctx context.Context, v *Validation, all []*candidate, folds [][]int, each int) (
	inner [][][][]float64, err error) {
	of := make([][][2]int, len(all))
	for j := range folds {
		for l := j - j%each; l < j; l++ {
			c := best(all, s.Model.Set.Weights, folds[j], folds[l])
			of[c] = append(of[c], [2]int{j, l})
		}
	}
	for range all[0].outer {
		by := make([][][]float64, len(folds))
		for j := range by {
			by[j] = make([][]float64, each)
		}
		inner = append(inner, by)
	}
	for c, pairs := range of {
		if len(pairs) == 0 {
			continue
		}
		var without [][]int
		for _, p := range pairs {
			without = append(without, slices.Concat(folds[p[0]], folds[p[1]]))
		}
		losses, err := all[c].lossesWithout(ctx, v, without)
		if err != nil {
			return nil, err
		}
		for at := range losses {
			for r, p := range pairs {
				j, l, cut := p[0], p[1], len(folds[p[0]])
				inner[at][l][j%each], inner[at][j][l%each] = losses[at][r][:cut], losses[at][r][cut:]
			}
		}
	}
	return inner, nil
}

// addRisk quotes the error of the model of all rows: of a sample at rows outside it, else by risks. It leaves
// the quote of the left-out error where only the theory was asked, and for blocks of time.
func addRisk(ctx context.Context, s *Study, a *report.Answer, q *Question) error {
	_, proximal := s.Model.Loss.(loss.Proximal)
	designed, _ := q.Scheme.(resample.Designed)
	switch {
	case s.Others != nil:
		return addLearningCurve(ctx, s, a, q)
	case a.Refined != nil && proximal && designed.Design.Block == 0:
		s.quoteRisks(ctx, a, q.Seed, q.Level, false)
	}
	return nil
}

// quoteRisks quotes the risks, or, if centred, the left-out error with the standard error of the risk, for a
// model that was given.
func (s *Study) quoteRisks(ctx context.Context, a *report.Answer, seed uint64, level float64, centred bool) {
	found, v, err := s.risks(ctx, seed)
	corrected := []string{}
	switch chosen := s.Model.Spec.Chosen; {
	case err != nil || len(chosen) == 0 || s.Model.Set.N() > mostChosen:
	case s.manyChosen():
		err = s.chosenAgain(ctx, v, found)
		corrected = append(corrected, "length scales")
	default:
		corrected = append(corrected, "choice")
	}
	switch {
	case ctx.Err() != nil: // the answer so far stays
		a.Status = Cancelled
		return
	case err != nil:
		a.Add(notComputed("the model of all rows is not cross-validated: %v", err))
		return
	}
	for k, x := range found {
		of := a
		if k > 0 {
			of = a.Targets[a.Names[k-1]]
		}
		of.Trained = &report.Trained{CorrectedFor: corrected, ErrorFolds: v.Folds, Partitions: v.Repeats}
		switch {
		case centred:
			x.error = float64(of.Error)
		case len(corrected) == 0 || s.manyChosen(): // of a grid's best cells the choice hides the fall
			x.error -= math.Max(0, math.Min(x.error/2, x.fall))
		}
		if len(corrected) > 0 {
			of.Uncorrected = report.NumberOf(x.plain)
		}
		x.quote(of, s.Model.Set, level)
	}
}

// quote makes the risk the quoted error of an answer, with an interval of a level.
func (x *risk) quote(a *report.Answer, set *dataset.Set, level float64) {
	left := a.Quote
	a.LeftOutError, a.LeftOutErrorSE, a.ErrorLevel = left.Error, left.ErrorSE, level
	units, freedom := calibration.Effective(set.N(), set.Weights, set.Groups), 0.0
	if set.Groups != nil {
		freedom = math.Max(1, units-1)
	}
	quote := report.NewQuote(a.TestLoss, report.Number(x.error), &report.Quality{
		ExampleSE: report.Number(x.se), Effective: units}, nil)
	lower, upper := calibration.ErrorInterval(x.error, x.se, level, freedom)
	if a.TestLoss == (loss.ZeroOne{}).Name() {
		lower, upper = calibration.ShareInterval(x.error, x.se, float64(set.N()), units, level, freedom)
	}
	quote.Lower, quote.Upper = report.NumberOf(lower), report.NumberOf(upper)
	quote.MonteCarloSE, a.Quote = left.MonteCarloSE, &quote
	if q := a.Quality; q != nil && q.RSquared != nil {
		q.RSquared = report.NumberOf(1 - x.error/float64(q.Baseline))
		q.RMSE = report.NumberOf(math.Sqrt(x.error))
	}
}

// AddInterval adds to the answer of cv or loo the interval of the error of the model of all rows. If the same
// rows have chosen the model, that error, corrected for the choice, becomes the quoted one.
func (s *Study) AddInterval(ctx context.Context, a *report.Answer, seed uint64, level float64) {
	_, proximal := s.Model.Loss.(loss.Proximal)
	if chosen := len(s.Model.Spec.Chosen) > 0; a.Quality != nil && a.Status == Complete && proximal &&
		s.Model.Set.N() <= mostPaired {
		s.quoteRisks(ctx, a, seed, level, !chosen)
	}
}

// chosenFor chooses a specification for other rows.
func chosenFor(ctx context.Context, p tune.Problem, set *dataset.Set) (model.Spec, error) {
	p.Spec.Set = set
	r, err := tune.Run(ctx, p, tune.Settings{})
	if err != nil {
		return model.Spec{}, err
	}
	return r.Spec, nil
}

// chosenAgain corrects errors for the choice of many hyperparameters, which is made afresh without each fold:
// times the ratio of the errors with and without, whose standard error is over rows.
func (s *Study) chosenAgain(ctx context.Context, v Validation, found []*risk) error {
	if v.Repeats = 1; s.Model.Set.N() > choiceRows {
		v.Folds = min(againFolds, v.Folds)
	}
	plain, err := s.CrossValidate(ctx, v)
	if err != nil {
		return err
	}
	v.Anew, v.Choose = "a model chosen", s.chooseAfresh
	again, err := s.CrossValidate(ctx, v)
	if err != nil {
		return err
	}
	for k, x := range found {
		a, b := again, plain
		if k > 0 {
			a, b = again.Targets[again.Names[k-1]], plain.Targets[plain.Names[k-1]]
		}
		off := floats.SubTo(make([]float64, len(x.each)), a.Examples.Each, b.Examples.Each)
		se, _ := calibration.StandardError(off, s.Model.Set.Weights, s.Model.Set.Groups)
		ratio := float64(a.Error / b.Error)
		if !(ratio > 0) || math.IsInf(ratio, 0) {
			ratio = 1
		}
		x.error, x.se = x.error*ratio, math.Hypot(x.se*ratio, float64(se))
		floats.Scale(ratio, x.each)
	}
	return nil
}
