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
	each                   []float64     // by row
	outer                  [][]float64   // by fold: the losses of its rows
	inner                  [][][]float64 // by fold and other fold of its partition, see pairs; nil: none
	again                  []float64     // by row: what making the choice again adds; nil: nothing
}

// manyChosen reports whether so much was chosen that the choice must be made again.
func (s *Study) manyChosen() bool {
	chosen := s.Model.Spec.Chosen
	return s.Candidates == nil && (len(chosen) > mostAxes ||
		len(s.Model.Spec.Kernel.LengthScale) > 1 && slices.Contains(chosen, "length-scale"))
}

// choosesAgain reports whether a choice is made afresh without each fold.
func (s *Study) choosesAgain() bool {
	return len(s.Model.Spec.Chosen) > 0 &&
		(s.Nested || s.manyChosen() && s.Model.Set.N() <= mostChosen)
}

// risks are the errors of the model of all rows: the study's, and of several targets each in its units.
func (s *Study) risks(ctx context.Context, seed uint64) (found []*risk, v Validation, err error) {
	v = riskValidation(s.Model.Set, seed)
	folds, each, err := partitions(&v, s)
	if err != nil {
		return nil, v, err
	}
	all, err := s.candidates(ctx, &v, folds, each)
	if err == nil {
		found, err = s.risksOf(ctx, &v, all, folds, each)
	}
	return found, v, err
}

// riskValidation are the random folds of the rows of a set.
func riskValidation(set *dataset.Set, seed uint64) Validation {
	v := tenFolds(set)
	v.Seed, v.Repeats, v.ErrorsAlone = seed, partitionsOf(set.N()), true
	// Folds within classes have the errors of classes that cannot be told too low: a vote of the majority of
	// the other folds is then never punished. For 50 coins it is by 7%.
	if v.Design.Stratum = set.Strata; v.Design.Stratum == nil {
		v.Design.Stratum = make([]int, set.N())
	}
	return v
}

// risksOf are the errors by the folds, each of a partition, with the choice among the candidates after the
// first, which is the study's own; alone it is judged.
func (s *Study) risksOf(ctx context.Context, v *Validation, all []*candidate, folds [][]int, each int) (
	found []*risk, err error) {
	set, own, pick := s.Model.Set, all[0], make([]*candidate, len(folds))
	if len(all) > 1 {
		all = all[1:]
	}
	for r := range folds {
		pick[r] = all[best(all, set.Weights, folds[r])]
	}
	var inner [][][][]float64
	if each >= fewestPaired && set.Groups == nil && set.N() <= mostPaired {
		if inner, err = s.pairs(ctx, v, all, folds, each); err != nil {
			return nil, err
		}
	}
	for at, plain := range own.outer {
		x, outer := &risk{}, make([][]float64, len(folds))
		for r := range folds {
			outer[r] = pick[r].outer[at][r]
		}
		if inner != nil {
			x.inner = inner[at]
		}
		x.average(set, folds, each, outer)
		x.plain = (&risk{}).average(set, folds, each, plain).error
		found = append(found, x)
	}
	return found, nil
}

// average is the mean of the losses of folds, with the standard error over rows or groups, or nested. each is
// the number of folds of a partition.
func (x *risk) average(set *dataset.Set, folds [][]int, each int, losses [][]float64) *risk {
	x.each, x.outer = make([]float64, set.N()), losses
	for r, rows := range folds {
		for k, i := range rows {
			x.each[i] += losses[r][k] * float64(each) / float64(len(folds))
		}
	}
	se, _ := calibration.StandardError(x.each, set.Weights, set.Groups)
	x.error, x.se = stat.Mean(x.each, set.Weights), float64(se)
	if x.inner == nil {
		return x
	}
	var nested []calibration.Nested
	for first := 0; first < len(folds); first += each {
		nested = append(nested, nestedOf(set, folds[first:][:each], losses[first:][:each],
			x.inner[first:][:each]))
	}
	x.se, x.fall = calibration.NestedError(nested, x.se)
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
func nestedOf(set *dataset.Set, folds [][]int, outer [][]float64, inner [][][]float64) (
	n calibration.Nested) {
	weights := make([][]float64, len(folds))
	for j, rows := range folds {
		for _, i := range rows {
			weights[j] = append(weights[j], calibration.WeightOf(set.Weights, i))
		}
	}
	for j := range folds {
		se, _ := calibration.StandardError(outer[j], weights[j], nil)
		n.Outer = append(n.Outer, stat.Mean(outer[j], weights[j]))
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
		c, err := s.corrected(ctx, q.Seed)
		s.quote(ctx, a, c, err, q.Level, false)
	}
	return nil
}

// CorrectsChoice is the word for a choice that is made again.
const CorrectsChoice = "choice"

// corrected are risks that are corrected for a choice, and what that was of, in words.
type corrected struct {
	risks []*risk
	by    Validation
	of    []string
}

// corrected are the risks with the correction for a choice.
func (s *Study) corrected(ctx context.Context, seed uint64) (c corrected, err error) {
	c.risks, c.by, err = s.risks(ctx, seed)
	c.of = []string{}
	again := s.choosesAgain()
	switch {
	case err != nil || len(s.Model.Spec.Chosen) == 0 || s.Model.Set.N() > mostChosen && !again:
	case s.manyChosen():
		c.of = append(c.of, "length scales")
	default:
		c.of = append(c.of, CorrectsChoice)
	}
	if again && err == nil {
		err = s.chosenAgain(ctx, c.by, c.risks)
	}
	for _, x := range c.risks {
		if len(c.of) == 0 || again { // of a grid's best cells the choice hides the fall
			x.error -= math.Max(0, math.Min(x.error/2, x.fall))
		}
	}
	return c, cmp.Or(ctx.Err(), err)
}

// trained describes how risk k was found.
func (c *corrected) trained(k int) *report.Trained {
	t := &report.Trained{CorrectedFor: c.of, ErrorFolds: c.by.Folds, Partitions: c.by.Repeats}
	if len(c.of) > 0 {
		t.Uncorrected = report.NumberOf(c.risks[k].plain)
	}
	return t
}

// Headline is the error of the model that training on all rows gives: of a sample at rows outside it. It is
// nil for losses without exact fits.
func (s *Study) Headline(ctx context.Context, seed uint64, level float64) (h *report.Headline, err error) {
	if _, proximal := s.Model.Loss.(loss.Proximal); !proximal {
		return nil, nil
	}
	set, c := s.Model.Set, corrected{of: []string{}}
	if s.Others != nil {
		set = s.Others.Head(heldOut)
		each, err := partLosses(ctx, s, 0, 1, set)
		if err != nil {
			return nil, err
		}
		se, _ := calibration.StandardError(each, set.Weights, set.Groups)
		c.risks = []*risk{{error: stat.Mean(each, set.Weights), se: float64(se)}}
	} else if c, err = s.corrected(ctx, seed); err != nil {
		return nil, err
	}
	return c.headline(s.Test.Name(), set, level), nil
}

// headline has the risks as errors of rows of a set, with intervals of a level.
func (c *corrected) headline(testLoss string, set *dataset.Set, level float64) (h *report.Headline) {
	for k, x := range c.risks {
		quote := x.quoteOf(testLoss, set, level)
		one := &report.Headline{Quote: &quote, Trained: c.trained(k)}
		if one.ErrorLevel = level; k == 0 {
			h = one
			continue
		}
		if h.Targets == nil {
			h.Targets = map[string]*report.Headline{}
		}
		h.Targets[set.Columns[k-1].Name] = one
	}
	return h
}

// CompareTrained compares the errors of the models that training on all rows gives: the first one's less the
// second's, by the same folds of the same rows, and both. They are nil if a loss has no exact fits.
func CompareTrained(ctx context.Context, models [2]*Study, seed uint64, level float64) (
	d *report.Difference, all [2]*report.Headline, err error) {
	var c [2]corrected
	set := models[0].Model.Set
	for k, s := range models {
		if _, proximal := s.Model.Loss.(loss.Proximal); !proximal {
			return nil, all, nil
		}
		if c[k], err = s.corrected(ctx, seed); err != nil {
			return nil, all, err
		}
	}
	folds, each, err := partitions(&c[0].by, models[0])
	if err != nil {
		return nil, all, err
	}
	for k, s := range models {
		all[k] = c[k].headline(s.Test.Name(), set, level)
	}
	return c[0].risks[0].less(c[1].risks[0], set, folds, each).difference(set, level), all, nil
}

// less is the risk of a model less another one's, by the same folds, each of a partition: the standard error
// is that of the paired losses.
func (x *risk) less(y *risk, set *dataset.Set, folds [][]int, each int) *risk {
	d := &risk{}
	minus := func(a, b []float64) []float64 { return floats.SubTo(make([]float64, len(a)), a, b) }
	var outer [][]float64
	for r := range folds {
		outer = append(outer, minus(x.outer[r], y.outer[r]))
		if x.inner == nil || y.inner == nil {
			continue
		}
		d.inner = append(d.inner, make([][]float64, each))
		for l := range each {
			d.inner[r][l] = minus(x.inner[r][l], y.inner[r][l])
		}
	}
	d.average(set, folds, each, outer)
	if d.error = x.error - y.error; x.again == nil && y.again == nil {
		return d
	}
	off := make([]float64, set.N())
	for i, again := range [][]float64{x.again, y.again} {
		if again != nil {
			floats.AddScaled(off, float64(1-2*i), again)
		}
	}
	d.addSpread(off, set)
	return d
}

// addSpread adds the standard error of a mean over the rows to that of a risk.
func (x *risk) addSpread(each []float64, set *dataset.Set) {
	se, _ := calibration.StandardError(each, set.Weights, set.Groups)
	x.se = math.Hypot(x.se, float64(se))
}

// difference is a difference of risks with its interval.
func (x *risk) difference(set *dataset.Set, level float64) *report.Difference {
	freedom := calibration.Effective(set.N(), set.Weights, set.Groups) - 1
	d := calibration.Student(x.error, x.se, math.Max(1, freedom), level)
	if d.By = "examples"; x.inner != nil {
		d.By = "nested folds"
	}
	return d
}

// quote quotes the risks in an answer, or, if centred, its left-out error with the standard error of the
// risk.
func (s *Study) quote(ctx context.Context, a *report.Answer, c corrected, err error, level float64,
	centred bool) {
	switch {
	case ctx.Err() != nil: // the answer so far stays
		a.Status = Cancelled
		return
	case err != nil:
		a.Add(notComputed("the model of all rows is not cross-validated: %v", err))
		return
	}
	for k, x := range c.risks {
		of, name := a, ""
		if k > 0 {
			name = a.Names[k-1]
			of = a.Targets[name]
		}
		if of.Trained = c.trained(k); centred {
			x.error = float64(of.Error)
		}
		x.quote(of, s.Model.Set, level)
		if said := correction(of); k > 0 {
			a.AddOf(name, &report.Findings{Checks: said})
		} else {
			a.Add(said...)
		}
	}
}

// quoteOf is the quote of a risk, with an interval of a level.
func (x *risk) quoteOf(testLoss string, set *dataset.Set, level float64) report.Quote {
	units, freedom := calibration.Effective(set.N(), set.Weights, set.Groups), 0.0
	if set.Groups != nil {
		freedom = math.Max(1, units-1)
	}
	quote := report.NewQuote(testLoss, report.Number(x.error), &report.Quality{
		ExampleSE: report.Number(x.se), Effective: units}, nil)
	lower, upper := calibration.ErrorInterval(x.error, x.se, level, freedom)
	if testLoss == (loss.ZeroOne{}).Name() {
		lower, upper = calibration.ShareInterval(x.error, x.se, float64(set.N()), units, level, freedom)
	}
	quote.Lower, quote.Upper = report.NumberOf(lower), report.NumberOf(upper)
	return quote
}

// quote makes the risk the quoted error of an answer, with an interval of a level.
func (x *risk) quote(a *report.Answer, set *dataset.Set, level float64) {
	left, quote := a.Quote, x.quoteOf(a.TestLoss, set, level)
	a.OfResamples, a.ErrorLevel = &report.OfResamples{LeftOutError: left.Error,
		LeftOutErrorSE: left.ErrorSE}, level
	quote.MonteCarloSE, a.Quote = left.MonteCarloSE, &quote
	if q := a.Quality; q != nil && q.RSquared != nil {
		q.RSquared = report.NumberOf(1 - x.error/float64(q.Baseline))
		q.RMSE = report.NumberOf(math.Sqrt(x.error))
	}
}

// AddInterval adds to the answer of loo, or of cv by v, the interval of the error of the model of all rows.
// If the same rows have chosen the model, that error, corrected for the choice, becomes the quoted one,
// unless the folds of v choose again.
func (s *Study) AddInterval(ctx context.Context, a *report.Answer, v Validation, level float64) {
	_, proximal := s.Model.Loss.(loss.Proximal)
	if a.Quality == nil || a.Status != Complete || !proximal || s.Model.Set.N() > mostPaired {
		return
	}
	var c corrected
	var err error
	centred := len(s.Model.Spec.Chosen) == 0 || v.Corrects == CorrectsChoice
	if v.Corrects == CorrectsChoice {
		s.Nested = true // there are no candidates
		c.risks, c.by, err = s.risks(ctx, v.Seed)
	} else {
		c, err = s.corrected(ctx, v.Seed)
	}
	if v.Choose != nil && err == nil {
		c.of = append(c.of, v.Corrects)
		c.by.Folds, c.by.Repeats = a.Folds, a.Repeats
		plain := v
		plain.Choose, plain.Permutations, plain.Metrics, plain.ErrorsAlone = nil, 0, nil, true
		var without *report.Answer
		if without, err = s.CrossValidate(ctx, plain); err == nil {
			s.scale(c.risks, a, without)
		}
	}
	s.quote(ctx, a, c, err, level, centred)
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
	if err == nil {
		s.scale(found, again, plain)
	}
	return err
}

// scale multiplies risks by the ratio of the errors of two cross-validations by the same folds. Their
// standard errors contain that of the difference, over rows.
func (s *Study) scale(found []*risk, again, plain *report.Answer) {
	for k, x := range found {
		a, b := again, plain
		if k > 0 {
			a, b = again.Targets[again.Names[k-1]], plain.Targets[plain.Names[k-1]]
		}
		off := floats.SubTo(make([]float64, len(x.each)), a.Examples.Each, b.Examples.Each)
		ratio := float64(a.Error / b.Error)
		if !(ratio > 0) || math.IsInf(ratio, 0) {
			ratio = 1
		}
		x.error, x.se = x.error*ratio, x.se*ratio
		x.addSpread(off, s.Model.Set)
		floats.Scale(ratio, x.each)
		x.again = off
	}
}
