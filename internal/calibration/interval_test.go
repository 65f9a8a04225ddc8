package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

// TestJackknifePlusCounts: the ends are what Barber et al. define them by, counts: at least level (n+1) of
// the values m_i + R_i are at most the upper end, and fewer are below it; the same for -m_i + R_i and the
// lower end. A level that the examples cannot support is refused with one that they can.
func TestJackknifePlusCounts(t *testing.T) {
	for _, level := range []float64{0, 1, -1, 2, math.NaN(), math.Inf(1)} {
		if NewScores(1000, nil, nil).Check(level) == nil {
			t.Errorf("level %v is taken", level)
		}
	}
	err := NewScores(18, nil, nil).Check(0.95)
	if !strings.Contains(err.Error(), "at most 0.947") {
		t.Errorf("18 examples: %v", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 60; n++ {
		for _, level := range []float64{0.5, 0.8, 0.9, 0.95} {
			without, residual := make([]float64, n), make([]float64, n)
			for i := range without {
				// with ties
				without[i], residual[i] = math.Round(3*rng.NormFloat64()), math.Round(3*rng.ExpFloat64())
			}
			scores := NewScores(n, nil, nil)
			low, high := scores.JackknifePlus(slices.Clone(without), slices.Clone(residual), level)
			wanted := level*float64(n+1) - 1e-9
			if supported := scores.Check(level) == nil; supported == math.IsInf(high, 1) ||
				supported == math.IsInf(low, -1) || supported != (wanted <= float64(n)) {
				t.Fatalf("n = %d, level %v: supported %v, interval %v to %v", n, level, supported, low, high)
			} else if !supported {
				continue
			}
			var within, below, above, beyond float64
			for i, m := range without {
				within += indicator(m+residual[i] <= high)
				below += indicator(m+residual[i] < high)
				above += indicator(m-residual[i] >= low)
				beyond += indicator(m-residual[i] > low)
			}
			if within < wanted || below >= wanted || above < wanted || beyond >= wanted {
				t.Errorf("n = %d, level %v: %v to %v holds %v and %v, without its ends %v and %v", n, level,
					low, high, within, above, below, beyond)
			}
		}
	}
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestBoundsGrowWithLevel: an interval of a higher level contains the one of a lower level, down to two
// examples, with weights and in groups; where the examples are too few it is infinite.
func TestBoundsGrowWithLevel(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for n := 2; n <= 40; n++ {
		without, residual := make([]float64, n), make([]float64, n)
		weights, group := make([]float64, n), make([]int, n)
		for i := range n {
			without[i], residual[i], weights[i] = rng.NormFloat64(), rng.ExpFloat64(), rng.ExpFloat64()
			group[i] = i * i / (2 * n)
		}
		for _, scores := range []Scores{NewScores(n, nil, nil),
			NewScores(n, weights, nil), NewScores(n, weights, group)} {
			low, high := math.Inf(1), math.Inf(-1)
			for level := 0.5; level < 0.9995; level += 0.001 {
				l, h := scores.JackknifePlus(slices.Clone(without), slices.Clone(residual), level)
				if l > low || h < high || math.IsInf(h, 1) != (scores.Check(level) != nil) {
					t.Fatalf("n = %d, level %.3f: %v to %v within %v to %v", n, level, l, h, low, high)
				}
				low, high = l, h
			}
		}
	}
}

// TestBoundsHoldWeightedPopulation: where rare rows of nine times the noise stand for half of the population,
// weighted intervals hold what they say of it, and intervals without weights do not; groups that share their
// deviation are units, of any sizes. The probabilities are averages over 2000 sets.
func TestBoundsHoldWeightedPopulation(t *testing.T) {
	const n, sets, level = 60, 2000, 0.9
	rng := rand.New(rand.NewPCG(5, 6))
	var plain, weighted, groups float64
	scores, weights, group := make([]float64, n), make([]float64, n), make([]int, n)
	for range sets {
		rare := func() (float64, float64) { return 9 * math.Abs(rng.NormFloat64()), 9 }
		common := func() (float64, float64) { return math.Abs(rng.NormFloat64()), 1 }
		for i := range n {
			if scores[i], weights[i] = common(); rng.Float64() < 0.1 {
				scores[i], weights[i] = rare()
			}
		}
		y, _ := common()
		if rng.Float64() < 0.5 {
			y, _ = rare()
		}
		plain += indicator(y <= NewScores(n, nil, nil).Bound(slices.Clone(scores), level))
		weighted += indicator(y <= NewScores(n, weights, nil).Bound(slices.Clone(scores), level))
		shared := 0.0
		for i := range n { // groups of 1 to 5 examples
			group[i] = i/15*5 + int(math.Sqrt(2*float64(i%15)+0.25)-0.5)
			if i == 0 || group[i] != group[i-1] {
				shared = rng.NormFloat64()
			}
			scores[i] = math.Abs(shared + 0.3*rng.NormFloat64())
		}
		groups += indicator(math.Abs(math.Hypot(1, 0.3)*rng.NormFloat64()) <=
			NewScores(n, nil, group).Bound(slices.Clone(scores), level))
	}
	t.Logf("plain %v, weighted %v, groups %v", plain/sets, weighted/sets, groups/sets)
	if plain/sets > 0.8 || weighted/sets < level-0.02 || groups/sets < level-0.02 {
		t.Errorf("plain %v, weighted %v, groups %v", plain/sets, weighted/sets, groups/sets)
	}
}

// TestGroupErrors: intervals from the errors of 2 to 6 groups contain the error of a row of a new group with
// their level at least, whatever share of the variance is between groups. Over 4000 sets the share has a
// standard error of 0.005. The sum of two quantiles is too wide where both parts count.
func TestGroupErrors(t *testing.T) {
	const sets, level = 4000, 0.9
	rng := rand.New(rand.NewPCG(2, 7))
	for _, groups := range []int{2, 3, 4, 6} {
		if testing.Short() && groups%3 > 0 {
			continue // the run without -short has it
		}
		for _, between := range []float64{0, 0.3, 1, 3} {
			held := 0.0
			for range sets {
				var errors []float64
				var group []int
				for g := range groups {
					effect := between * rng.NormFloat64()
					for range 5 + 15*(g%2) {
						errors, group = append(errors, 1+effect+rng.NormFloat64()), append(group, g)
					}
				}
				low, high := NewGroupErrors(errors, nil, group).Interval(level)
				e := 1 + between*rng.NormFloat64() + rng.NormFloat64()
				held += indicator(low <= e && e <= high) / sets
			}
			t.Logf("%d groups, between %v: %.3f", groups, between, held)
			if !(held > 0.885 && held < 0.96) {
				t.Errorf("%d groups, between %v: %.3f of new errors", groups, between, held)
			}
		}
	}
	if NewGroupErrors([]float64{1, 2}, nil, []int{0, 0}) != nil {
		t.Error("intervals from one group")
	}
	g := NewGroupErrors([]float64{1, 3}, nil, []int{0, 1})
	if low, high := g.Interval(0.5); math.Abs(high-low-2*math.Sqrt(3)) > 1e-9 {
		t.Errorf("%+v, %v to %v", g, low, high) // sd sqrt 2, times (3/2)^1/2, times the quartile 1 of Cauchy
	}
}

// TestWeightIsRepetition: curves, scores, reliability, areas, metrics and differences of weighted examples
// are the same as of the list in which each is repeated, except the standard error of a difference, which is
// over examples and takes the weights' scale as nothing.
func TestWeightIsRepetition(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	field, label := draw(60, 7, func(f float64) float64 { return sigmoid(2*f - 1) })
	weights := make([]float64, len(field))
	var fields, labels []float64
	for i := range field {
		weights[i] = float64(1 + rng.IntN(4))
		fields = append(fields, slices.Repeat(field[i:i+1], int(weights[i]))...)
		labels = append(labels, slices.Repeat(label[i:i+1], int(weights[i]))...)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
			t.Errorf("%s: %v, repeated %v", what, got, want)
		}
	}
	a, b := testutil.Must(FitLogistic(field, label, weights))(t),
		testutil.Must(FitLogistic(fields, labels, nil))(t)
	near("slope", a.Slope, b.Slope)
	near("offset", a.Offset, b.Offset)
	of := func(fields []float64) (p []float64) {
		for _, f := range fields {
			p = append(p, b.Probability(f))
		}
		return p
	}
	p, ps := of(field), of(fields)
	c, d := NewReliability("", p, label, weights), NewReliability("", ps, labels, nil)
	near("log loss", float64(*c.LogLoss), float64(*d.LogLoss))
	near("Brier", float64(*c.Brier), float64(*d.Brier))
	for i := range c.Predicted {
		near("predicted", c.Predicted[i], d.Predicted[i])
		near("observed", c.Observed[i], d.Observed[i])
	}
	metrics := func(field, label, weights, p []float64) *report.Metrics {
		return NewMetrics(label, weights, func(test loss.Test) (each []float64) {
			for i, y := range label {
				each = append(each, test.Value(field[i], y))
			}
			return each
		}, field, p)
	}
	m, n := metrics(field, label, weights, p), metrics(fields, labels, nil, ps)
	for k, v := range m.All() {
		if w := *n.All()[k].Value; (w == nil) != (*v.Value == nil) {
			t.Errorf("%s: %v, %v", v.Name, w, *v.Value)
		} else if w != nil {
			near(v.Name, float64(**v.Value), float64(*w))
		}
	}
	compare := func(e, weights []float64) *report.Difference {
		return Compare(report.Examples{Each: e, Weights: weights},
			report.Examples{Each: make([]float64, len(e))}, 0.9)
	}
	near("difference", float64(compare(field, weights).Value), float64(compare(fields, nil).Value))
	near("standard error", float64(compare(field, slices.Repeat([]float64{2}, len(field))).StandardError),
		float64(compare(field, nil).StandardError))
}

// TestStandardErrorOfGroups: where groups share their deviation, the mean square of the standard error is the
// variance of the mean, however unequal the groups, or the weights of single examples; for equal ones it is
// the usual standard error. Averages over 20000 draws.
func TestStandardErrorOfGroups(t *testing.T) {
	const draws = 20000
	rng := rand.New(rand.NewPCG(10, 11))
	for _, sizes := range [][]int{{70, 5, 3, 2}, {10, 10}, {5, 5, 5, 5}, {40, 40, 1, 1, 1, 1}} {
		var mean, square, stated float64
		for range draws {
			var each []float64
			var group []int
			shared, weights := make([]float64, len(sizes)), make([]float64, len(sizes))
			for g, size := range sizes {
				shared[g], weights[g] = rng.NormFloat64(), float64(size)
				each = append(each, slices.Repeat(shared[g:g+1], size)...)
				group = append(group, slices.Repeat([]int{g}, size)...)
			}
			over, _ := StandardError(each, nil, group)
			se, m := float64(over), stat.Mean(each, nil)
			mean, square, stated = mean+m/draws, square+m*m/draws, stated+se*se/draws
			usual := stat.StdErr(stat.StdDev(shared, nil), float64(len(sizes)))
			byWeight, _ := StandardError(shared, weights, nil)
			if math.Abs(float64(byWeight)-se) > 1e-9 ||
				slices.Min(sizes) == slices.Max(sizes) && math.Abs(usual-se) > 1e-9 {
				t.Fatalf("%v: standard error %v, by weights %v, usual %v", sizes, se, byWeight, usual)
			}
		}
		if ratio := stated / (square - mean*mean); !(math.Abs(ratio-1) < 0.05) {
			t.Errorf("%v: the stated variance is %.3f of the true one", sizes, ratio)
		}
	}
}

// TestShareInterval: intervals of error rates hold the probability in about their level of draws of n rows,
// on average over probabilities (Brown, Cai and DasGupta 2001); without an error, or with errors alone,
// they are one-sided with at least it; a standard error that says less counts as fewer rows.
func TestShareInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{30, 200} {
		held := 0
		const draws = 4000
		for range draws {
			p, wrong := 0.02+0.96*r.Float64(), 0.0
			for range n {
				if r.Float64() < p {
					wrong++
				}
			}
			e := wrong / float64(n)
			lower, upper := ShareInterval(e, math.Sqrt(e*(1-e)/float64(n)), float64(n), float64(n), 0.95, 0)
			if lower <= p && p <= upper {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.94 || share > 0.965 {
			t.Errorf("%d rows: %.3f hold", n, share)
		}
	}
	if lower, upper := ShareInterval(0, 0, 40, 10, 0.95, 0); lower != 0 ||
		math.Abs(math.Pow(1-upper, 10)-0.05) > 1e-12 {
		t.Errorf("no error in 10 groups: %v to %v", lower, upper)
	}
	if lower, upper := ShareInterval(1, 0, 40, 40, 0.9, 0); upper != 1 ||
		math.Abs(math.Pow(lower, 40)-0.1) > 1e-12 {
		t.Errorf("errors alone: %v to %v", lower, upper)
	}
	_, narrow := ShareInterval(0.2, 0.04, 100, 100, 0.95, 0)
	if _, wide := ShareInterval(0.2, 0.08, 100, 100, 0.95, 0); wide < narrow+0.05 {
		t.Errorf("twice the standard error: up to %v, not %v", wide, narrow)
	}
}

// TestErrorInterval: the interval is symmetric on the logarithmic scale, wider by Student's t, and symmetric
// around 0 where there is no logarithm.
func TestErrorInterval(t *testing.T) {
	lower, upper := ErrorInterval(2, 0.5, 0.95, 0)
	if math.Abs(lower*upper-4) > 1e-12 || math.Abs(math.Log(upper/2)-1.959964*0.25) > 1e-6 {
		t.Errorf("%v to %v", lower, upper)
	}
	if _, wide := ErrorInterval(2, 0.5, 0.95, 3); math.Abs(math.Log(wide/2)-3.182446*0.25) > 1e-6 {
		t.Errorf("by Student's t up to %v", wide)
	}
	_, one := ErrorInterval(2, 2, 0.95, 0)
	if _, more := ErrorInterval(2, 9, 0.95, 0); more != one {
		t.Errorf("a standard error above the error: up to %v, not %v", more, one)
	}
	if lower, upper := ErrorInterval(0, 1, 0.95, 0); lower != -upper {
		t.Errorf("around 0: %v to %v", lower, upper)
	}
}

// TestNestedFall: for errors a + b/n of models of n rows the fall leads from the errors of all but a fold to
// the errors of all; without further variance of the folds the standard error is the naive one.
func TestNestedFall(t *testing.T) {
	const folds, a, b = 10, 2.0, 3.0
	at := func(left float64) float64 { return a + b*folds/(folds-left) }
	n := Nested{}
	for range folds {
		n.Outer, n.Variance = append(n.Outer, at(1)), append(n.Variance, 0.5)
		n.Share, n.Inner = append(n.Share, 1.0/folds), append(n.Inner, nil)
	}
	for j := range folds {
		for range folds {
			n.Inner[j] = append(n.Inner[j], at(2))
		}
	}
	se, fall := NestedError([]Nested{n, n}, 0.1)
	if off := at(1) - fall - at(0); math.Abs(off) > 1e-12 || se != 0.1 {
		t.Errorf("all rows are off by %v, standard error %v", off, se)
	}
}

// TestNestedControl: losses that do not depend on the folds have the mean square K/(K-1) naive^2 over random
// partitions; where the rows have the same losses in all partitions, the standard error is the one over them.
func TestNestedControl(t *testing.T) {
	const folds, rows, draws = 10, 60, 4000
	rng := rand.New(rand.NewPCG(3, 4))
	losses := make([]float64, rows)
	for i := range losses {
		losses[i] = math.Pow(rng.NormFloat64(), 2)
	}
	se, _ := StandardError(losses, nil, nil)
	naive, mean, n := float64(se), 0.0, Nested{}
	for range draws {
		n = Nested{Naive: naive}
		n.Share = slices.Repeat([]float64{1.0 / folds}, folds)
		rng.Shuffle(rows, func(i, j int) { losses[i], losses[j] = losses[j], losses[i] })
		for j := range folds {
			of := losses[j*rows/folds : (j+1)*rows/folds]
			over, _ := StandardError(of, nil, nil)
			n.Outer, n.Variance = append(n.Outer, stat.Mean(of, nil)), append(n.Variance, float64(over*over))
		}
		n.Inner = slices.Repeat([][]float64{n.Outer}, folds)
		mean += n.square() / draws
	}
	if want := naive * naive * folds / (folds - 1); math.Abs(mean-want) > 0.05*want {
		t.Errorf("mean square %v of partitions, want %v", mean, want)
	}
	others := n
	n.Others = &others
	if se, _ := NestedError([]Nested{n}, naive/2); math.Abs(se-naive) > 1e-12 {
		t.Errorf("standard error %v, over the rows %v", se, naive)
	}
}

// TestFreedom: squares of n normal numbers, whose fourth central moment is 15 times the square of their
// variance, have n/7 degrees of freedom; losses of ten groups at most nine; where one row makes up most,
// three.
func TestFreedom(t *testing.T) {
	const n = 70000
	rng := rand.New(rand.NewPCG(1, 2))
	each, group := make([]float64, n), make([]int, n)
	for i := range each {
		each[i], group[i] = math.Pow(rng.NormFloat64(), 2), i%10
	}
	if f := Freedom(each, nil, nil); math.Abs(f-n/7) > n/70 {
		t.Errorf("%g degrees of freedom of %d squares", f, n)
	}
	if f := Freedom(each, nil, group); f < 8.9 || f > 9 {
		t.Errorf("%g degrees of freedom of ten groups", f)
	}
	each[0] = 1e9
	if f := Freedom(each, nil, nil); f != 3 {
		t.Errorf("%g degrees of freedom of one row", f)
	}
}

// sizesOf are errors of n examples around a curve of the ratio; their noise is common to all ratios.
func sizesOf(n int, noise float64, curve func(ratio float64) float64) (sizes []SizeError) {
	for _, ratio := range []float64{0.2, 0.29, 0.42, 0.62, 0.9} {
		s, rng := SizeError{Ratio: ratio}, rand.New(rand.NewPCG(1, 2))
		for range n {
			s.Each = append(s.Each, curve(ratio)*(1+noise*rng.NormFloat64()))
		}
		s.Error = stat.Mean(s.Each, nil)
		s.SE = 0.003 * s.Error
		sizes = append(sizes, s)
	}
	return sizes
}

// TestGrowth reads known curves at twice the examples: within two standard errors, and a fall that is neither
// below 0 nor above the fall of the last doubling.
func TestGrowth(t *testing.T) {
	for name, curve := range map[string]func(float64) float64{
		"falling": func(r float64) float64 { return 1 + 2*math.Pow(r, -0.7) },
		"fast":    func(r float64) float64 { return 0.1 + math.Pow(r, -1.5) },
		"slow":    func(r float64) float64 { return 3 + 0.1*math.Pow(r, -0.3) },
		"settled": func(r float64) float64 { return 3 },
		"rising":  func(r float64) float64 { return 3 + r },
	} {
		g := NewGrowth(sizesOf(400, 0.5, curve), 400)
		fall, now := float64(g.Fall), curve(1)
		want := math.Max(0, now-curve(2))
		if se := float64(g.FallSE); math.Abs(fall-want) > 2*se || se > 0.4*want+0.005*now || g.Rows != 800 ||
			!(fall >= 0 && fall <= curve(0.5)-now+0.01*now || name == "rising" && fall == 0) {
			t.Errorf("%s: a fall of %.3f +- %.3f with twice the rows, want %.3f; the last was %.3f", name,
				fall, se, want, curve(0.5)-now)
		}
	}
}

// TestGrowthExamples: examples that disagree on the fall are uncertainty; units are none, nor is a common
// factor of every example.
func TestGrowthExamples(t *testing.T) {
	curve := func(r float64) float64 { return 1 / r }
	sizes := sizesOf(100, 0, curve)
	quiet := NewGrowth(sizes, 100)
	for i, s := range sizes {
		sizes[i].Error, sizes[i].SE = 1e6*s.Error, 1e6*s.SE
		for k := range s.Each {
			s.Each[k] *= 1e6
		}
	}
	if g := NewGrowth(sizes, 100); math.Abs(float64(g.FallSE/quiet.FallSE)/1e6-1) > 1e-6 {
		t.Errorf("in other units %v, not 1e6 times %v", g, quiet)
	}
	for k := range 50 { // half of the examples do not gain
		for i, s := range sizes {
			s.Each[2*k] = sizes[0].Each[0]
			sizes[i].Error = stat.Mean(s.Each, nil)
		}
	}
	relative := func(g *report.Growth) float64 { return float64(g.FallSE / g.Fall) }
	if g := NewGrowth(sizes, 100); math.Pow(relative(g), 2) < math.Pow(relative(quiet), 2)+0.25/100/0.25 {
		t.Errorf("a fall that half of the examples do not see is as certain: %v, %v", g, quiet)
	}
	if g := NewGrowth(sizesOf(19, 0, curve), 19); g != nil {
		t.Errorf("19 examples give %v", g)
	}
}
