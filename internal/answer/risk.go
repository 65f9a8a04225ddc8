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
	"bootbench/internal/report"
	"bootbench/loss"
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

// partitionsOf is the number of random partitions: sixteen for few rows, whose errors depend on them.
func partitionsOf(rows int) int { return max(1, min(16, 1600/rows)) }

// risk is the estimated error of the model of all rows by one judge, with its standard error; plain is the
// error without a correction for the choice, and fall how much less models of all rows err than models
// without a fold.
type risk struct {
	error, se, plain, fall float64

	of      *folded        // the rows, and the folds that left them out, if any
	as      report.Trained // how it was found; trained adds plain
	spread  spread         // of losses; nil: calibration.StandardError
	freedom float64        // degrees of the standard error; 0: many
	each    []float64      // by row
	field   []float64      // of two labels, by row: the mean left-out prediction; nil: unknown
	outer   [][]float64    // by partition and row
	inner   [][]float64    // by fold and row: of models without the fold and the row's own; nil: unknown
	again   []float64      // by row: what making the choice again adds; nil: nothing
	foldOf  []int          // of each row: the fold without which it was made; nil: unknown
}

// spread is the standard error over the rows or groups of a mean of losses.
type spread func(losses []float64) float64

// choosesAgain reports whether a choice is made again without each fold.
func (s *Study) choosesAgain() bool {
	return len(s.Model.Spec.Chosen) > 0 && (s.Nested || s.Model.Set.N() <= mostChosen)
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

// risks are the errors of the model of all rows: the study's, and of several targets each in its units.
func (s *Study) risks(ctx context.Context, seed uint64) ([]*risk, error) {
	v := riskValidation(s.Model.Set, seed)
	v.Repeats = partitionsOf(s.Model.Set.N())
	f, err := s.folded(v)
	if err != nil {
		return nil, err
	}
	found, err := s.risksOf(ctx, f)
	if err != nil {
		return nil, err
	}
	s.widening.seed, s.widening.factor = seed, 1
	if rows := f.standardError(found[0].each, f.set.Groups); rows > 0 {
		s.widening.factor = math.Max(1, found[0].se/rows)
	}
	return found, nil
}

// riskOf is the error of a model of none of the rows.
func riskOf(rows *dataset.Set, each []float64) *risk {
	x := &risk{of: &folded{set: rows}, each: each, error: stat.Mean(each, rows.Weights)}
	x.as.CorrectedFor = []string{}
	x.se = x.of.standardError(each, rows.Groups)
	return x
}

// risksOf are the errors by the folds.
func (s *Study) risksOf(ctx context.Context, f *folded) (found []*risk, err error) {
	all, err := s.leaveOut(ctx, &f.v, f.partitions()...)
	if err != nil {
		return nil, err
	}
	inner := make([][][]float64, len(all[0].losses))
	if f.each >= fewestPaired && f.set.N() <= mostPaired {
		if inner, err = s.pairs(ctx, f); err != nil {
			return nil, err
		}
	}
	for at := range inner {
		x := &risk{of: f, inner: inner[at]}
		x.average(listsOf(all, func(l leftOut) []float64 { return l.losses[at] }))
		if x.plain = x.error; len(f.set.Levels()) == 2 {
			x.field = f.mean(listsOf(all, func(l leftOut) []float64 { return l.fields[0] }))
		}
		found = append(found, x)
	}
	return found, nil
}

// pairs are, by judge, fold and row, the losses of fits without the fold and the row's own fold.
func (s *Study) pairs(ctx context.Context, f *folded) (inner [][][]float64, err error) {
	var pairs [][2]int
	var without [][]int
	for j := range f.rows {
		for l := j - j%f.each; l < j; l++ {
			pairs, without = append(pairs, [2]int{j, l}), append(without, slices.Concat(f.rows[j], f.rows[l]))
		}
	}
	trials := trialsOf(without, s.Model.Set)
	fields, err := s.fields(ctx, &f.v, trials)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	for _, losses := range s.judged(trials, fields) {
		by := zeros(len(f.rows), s.Model.Set.N())
		for r, pair := range pairs {
			for k, i := range without[r] {
				other := pair[1]
				if k >= len(f.rows[pair[0]]) {
					other = pair[0]
				}
				by[other][i] = losses[r][k]
			}
		}
		inner = append(inner, by)
	}
	return inner, nil
}

func listsOf[T any](all []T, of func(T) []float64) (lists [][]float64) {
	for _, one := range all {
		lists = append(lists, of(one))
	}
	return lists
}

// mean is the mean over the partitions of values of the rows.
func (f *folded) mean(of [][]float64) []float64 {
	means := make([]float64, f.set.N())
	for _, values := range of {
		for i, v := range values {
			means[i] += v * float64(f.each) / float64(len(f.rows))
		}
	}
	return means
}

// average sets the losses by partition and row, and their mean, with its standard error.
func (x *risk) average(outer [][]float64) {
	f := x.of
	x.as = report.Trained{CorrectedFor: []string{}, ErrorFolds: f.v.Folds, Partitions: f.v.Repeats}
	x.each, x.outer = f.mean(outer), outer
	if x.spread == nil {
		x.spread = func(losses []float64) float64 { return f.standardError(losses, f.set.Groups) }
	}
	if x.error, x.se = stat.Mean(x.each, f.set.Weights), x.spread(x.each); x.inner == nil {
		return
	}
	var nested []calibration.Nested
	count := float64(len(outer))
	for k, folds := range f.partitions() {
		n := nestedOf(f.set, folds, outer[k], x.inner[k*f.each:], x.se)
		if count > 1 {
			others := slices.Clone(x.each) // mean losses by the other partitions
			for i, own := range outer[k] {
				others[i] = (count*x.each[i] - own) / (count - 1)
			}
			n.Naive = x.spread(others)
			n.Others = nestedOf(f.set, folds, others, slices.Repeat([][]float64{others}, f.each), n.Naive)
		}
		nested = append(nested, *n)
	}
	if x.se, x.fall = calibration.NestedError(nested, x.se); f.set.Groups != nil {
		x.fall = 0 // few groups know it badly, and cut at 0 it is too much
	}
}

// standardError is the standard error of the mean of losses over units of rows, nil for the rows.
func (f *folded) standardError(losses []float64, units []int) float64 {
	se, _ := calibration.StandardError(losses, f.set.Weights, units)
	return float64(se)
}

// nestedOf are the means of the folds of one partition, given the losses of the rows, and by fold those
// without it, too. A fold has too few groups for a variance over them: all folds have the one of se, the
// standard error of all rows.
func nestedOf(set *dataset.Set, folds [][]int, outer []float64, inner [][]float64, se float64) (
	n *calibration.Nested) {
	n = &calibration.Nested{}
	var weights [][]float64
	for _, rows := range folds {
		var own []float64
		for _, i := range rows {
			own = append(own, calibration.WeightOf(set.Weights, i))
		}
		weights = append(weights, own)
	}
	for j, rows := range folds {
		losses, share := at(outer, rows), floats.Sum(weights[j])/totalWeight(set)
		own := se / math.Sqrt(share)
		if set.Groups == nil {
			of, _ := calibration.StandardError(losses, weights[j], nil)
			own = float64(of)
		}
		n.Outer = append(n.Outer, stat.Mean(losses, weights[j]))
		n.Variance, n.Share = append(n.Variance, own*own), append(n.Share, share)
		n.Inner = append(n.Inner, make([]float64, len(folds)))
		for l := range folds {
			n.Inner[j][l] = stat.Mean(at(inner[j], folds[l]), weights[l])
		}
	}
	return n
}

func at(values []float64, rows []int) (some []float64) {
	for _, i := range rows {
		some = append(some, values[i])
	}
	return some
}

func totalWeight(set *dataset.Set) float64 {
	if set.Weights == nil {
		return float64(set.N())
	}
	return floats.Sum(set.Weights)
}

// less is the risk of a model less another one's, with the standard error of the paired losses.
func (x *risk) less(y *risk) *risk {
	d := &risk{of: x.of, spread: x.spread}
	minus := func(a, b [][]float64) (all [][]float64) {
		for k := range a {
			all = append(all, floats.SubTo(make([]float64, len(a[k])), a[k], b[k]))
		}
		return all
	}
	if x.inner != nil && y.inner != nil {
		d.inner = minus(x.inner, y.inner)
	}
	d.average(minus(x.outer, y.outer))
	if d.error = x.error - y.error; x.again == nil && y.again == nil {
		return d
	}
	off := make([]float64, len(x.each))
	for i, again := range [][]float64{x.again, y.again} {
		if again != nil {
			floats.AddScaled(off, float64(1-2*i), again)
		}
	}
	if d.foldOf = x.foldOf; d.foldOf == nil {
		d.foldOf = y.foldOf
	}
	d.addSpread(off)
	return d
}

// mean is the mean of risks by the same folds, with a standard error that contains their spread.
func mean(all []*risk) *risk {
	m, count := &risk{of: all[0].of, spread: all[0].spread}, float64(len(all))
	of := func(lists func(x *risk) [][]float64) (means [][]float64) {
		for k, first := range lists(all[0]) {
			means = append(means, make([]float64, len(first)))
			for _, x := range all {
				floats.AddScaled(means[k], 1/count, lists(x)[k])
			}
		}
		return means
	}
	m.inner = of(func(x *risk) [][]float64 { return x.inner })
	m.average(of(func(x *risk) [][]float64 { return x.outer }))
	var errors []float64
	for _, x := range all {
		errors = append(errors, x.error)
	}
	if len(all) > 1 {
		m.se = math.Hypot(m.se, stat.StdDev(errors, nil)/math.Sqrt(count))
	}
	return m
}

// add adds a part of what a choice without each of some folds adds to the losses of the rows.
func (x *risk) add(more []float64, part float64, foldOf []int) {
	x.error = math.Max(0, x.error+part*stat.Mean(more, x.of.set.Weights))
	floats.AddScaled(x.each, part, more)
	x.foldOf = foldOf
	x.addSpread(more)
}

// addSpread adds the standard error of a mean over the rows to a risk's: over folds, if that is more
// and they are enough to tell, because a choice has one effect on all rows of its fold. Few folds leave few
// degrees of freedom (Welch and Satterthwaite).
func (x *risk) addSpread(each []float64) {
	const enough = 5
	se := x.of.standardError(each, x.of.set.Groups)
	over, folds := calibration.StandardError(each, x.of.set.Weights, x.foldOf)
	spread := max(se, float64(over))
	if x.foldOf == nil || folds < enough {
		spread = se
	}
	total := math.Hypot(x.se, spread)
	if spread > se {
		x.freedom = (folds - 1) * math.Pow(total/spread, 4)
	}
	x.se = total
}

// degrees are the degrees of freedom of the standard error, 0 for many: the fewest of the degrees of a spread
// over folds (addSpread), of the groups, and of losses without a bound of their law.
func (x *risk) degrees(unbounded bool) float64 {
	freedom, set := cmp.Or(x.freedom, math.Inf(1)), x.of.set
	if x.inner != nil {
		freedom = min(freedom, calibration.NestedFreedom)
	}
	if set.Groups != nil {
		freedom = math.Min(freedom, math.Max(1, x.units()-1))
	}
	if unbounded {
		freedom = math.Min(freedom, calibration.Freedom(x.each, set.Weights, set.Groups))
	}
	if math.IsInf(freedom, 1) {
		return 0
	}
	return freedom
}

// units is the effective number of rows or groups.
func (x *risk) units() float64 {
	return calibration.Effective(x.of.set.N(), x.of.set.Weights, x.of.set.Groups)
}

// difference is a difference of risks with its interval.
func (x *risk) difference(level float64) *report.Difference {
	freedom := x.units() - 1
	freedom = math.Min(freedom, cmp.Or(x.degrees(true), freedom))
	d := calibration.Student(x.error, x.se, math.Max(1, freedom), level)
	if d.By = "examples"; x.inner != nil {
		d.By = "nested folds"
	}
	return d
}

// hasInterval is false of two groups: each error is of a model of the other group, so that both are of one
// difference, which does not tell how it varies.
func (x *risk) hasInterval() bool { return x.of.set.Groups == nil || x.of.each != 2 }

// quoteOf is the quote of a risk, with an interval of a level if it has one.
func (x *risk) quoteOf(testLoss string, level float64) report.Quote {
	quote := report.NewQuote(testLoss, report.Number(x.error), &report.Quality{
		ExampleSE: report.Number(x.se), Effective: x.units()}, nil)
	if !x.hasInterval() {
		return quote
	}
	share := testLoss == (loss.ZeroOne{}).Name()
	freedom := x.degrees(!share)
	lower, upper := calibration.ErrorInterval(x.error, x.se, level, freedom)
	if x.se > x.error && x.plain > 0 { // a choice failed: the model itself need not have
		lower *= math.Min(1, x.plain/x.error)
	}
	if share {
		rows := calibration.Effective(x.of.set.N(), x.of.set.Weights, nil)
		lower, upper = calibration.ShareInterval(x.error, x.se, rows, x.units(), level, freedom)
	}
	quote.Lower, quote.Upper = report.NumberOf(lower), report.NumberOf(upper)
	return quote
}
