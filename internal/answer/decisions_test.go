package answer

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// setOf is a set of n rows in one column, with these levels or numbers.
func setOf(n int, levels []string) *dataset.Set {
	y := make([]float64, n)
	s := &dataset.Set{Name: "table", X: linalg.NewMatrix(n, 1), Columns: []dataset.Column{{Y: y,
		Levels: levels}}}
	for i := range n {
		s.X.Data[i], y[i] = float64(i), float64(i%2)
	}
	return s
}

// infinite is a test loss of which the mean over resamples is beyond the range of numbers.
type infinite struct{ loss.SquareTest }

func (infinite) Name() string                               { return "infinite" }
func (infinite) Gaussian(mean, variance, y float64) float64 { return math.Inf(1) }

// TestNotNumbers: an answer that is not all numbers says so by its status and by a check.
func TestNotNumbers(t *testing.T) {
	set := setOf(30, nil)
	s := testutil.Must(New(t.Context(), model.NewSpec(set, loss.Square{Noise: 1}), infinite{}))(t)
	a := testutil.Must(s.Estimate(t.Context(), Question{Scheme: resample.Poisson{Ratio: 1}, Theory: Yes,
		Level: 0.95}))(t)
	if a.Status != "numerical failure" || !slices.ContainsFunc(a.Checks, func(c report.Check) bool {
		return c.Code == report.NotNumbers.Code && c.Cure != ""
	}) {
		t.Errorf("%s, %v", a.Status, a.Checks)
	}
}

// TestFewChecks is the table of what few rows, groups of equal size, rows of large weight and examples of a
// class are warned of.
func TestFewChecks(t *testing.T) {
	var numbers, labels []string = nil, []string{"no", "yes"}
	for _, c := range []struct {
		rows                  int
		levels                []string
		groups, heavy, others int // others: rows that are surely of class no
		says                  string
	}{
		{20, numbers, 0, 0, 0, ""}, {20, labels, 0, 0, 0, ""}, {40, numbers, 0, 21, 0, ""},
		{40, numbers, 8, 0, 0, ""},
		{19, numbers, 0, 0, 0, "errors from 19 rows are rough"},
		{19, labels, 0, 0, 0, "probabilities from 19 rows are rough"},
		{40, labels, 0, 0, 38, "class yes has one row"}, {10, numbers, 10, 0, 0, "errors from 10 rows"},
		{40, numbers, 0, 2, 0, "count like 2 of equal weight"},
		{40, numbers, 4, 0, 0, "in 4 groups, which count like 4 of equal size: standard errors are rough, " +
			"and a 95% interval takes 3.2 of them"}, // t of 3 degrees: 3.18
		{40, numbers, 2, 0, 0, "are of one difference, which does not tell how it varies"},
	} {
		s := setOf(c.rows, c.levels)
		for i := range c.rows {
			if c.groups > 0 {
				s.Groups = append(s.Groups, i%c.groups)
			}
			if c.heavy > 0 {
				s.Weights = append(s.Weights, max(1e-9, float64(min(1, c.heavy-i))))
			}
			if i >= c.rows-c.others {
				s.Columns[0].Y[i] = 0
			}
		}
		got := strings.Join(FewChecks(s).Issues(), "; ")
		if !strings.Contains(got, c.says) || (c.says == "") != (got == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestPartitions: the folds of a cross-validation of 12 rows, in words and in number, or the refusal.
func TestPartitions(t *testing.T) {
	set := setOf(12, []string{"no", "yes"})
	pairs, one := []int{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, make([]int, 12)
	groups, strata := resample.Design{Group: pairs}, resample.Design{Stratum: one}
	blocks := resample.Design{Block: 3}
	set.Groups = pairs
	for says, c := range map[string]struct {
		Validation
		folds int // 0: refused
	}{
		"random folds of rows within classes":   {Validation{Folds: 12}, 12},
		"random folds of rows within strata":    {Validation{Folds: 5, Design: strata}, 5},
		"random folds of groups within classes": {tenFolds(set), 6},
		"folds of single rows":                  {Validation{Single: true}, 12},
		"folds of single groups":                {Validation{Single: true, Design: groups}, 6},
		"folds of a column":                     {Validation{Given: pairs, Folds: 3}, 6},
		"blocks of 3 rows, each predicted by the rows before it": {
			Validation{Folds: 3, Design: blocks}, 3},
		"there are 12 rows to leave out: take 2 to 12": {Validation{Folds: 13}, 0},
		"Folds.Folds 1:":                   {Validation{Folds: 1}, 0},
		"there are 6 groups to leave out":  {Validation{Folds: 7, Design: groups}, 0},
		"Folds.Design.Block 3: rows":       {Validation{Folds: 4, Design: blocks}, 0},
		"all rows are in one fold":         {Validation{Given: one}, 0},
		"3 folds, groups or strata for 12": {Validation{Folds: 3, Given: one[:3]}, 0},
	} {
		c.Design.N = 12
		p, err := c.partition(ClassesOf(set.Columns[0].Y))
		if c.folds == 0 && (!errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), says)) ||
			c.folds > 0 && (err != nil || p.Period() != c.folds || p.what != says) {
			t.Errorf("%q, %v, want %d %q", p.what, err, c.folds, says)
		}
	}
}

// TestCorrection: the error of a chosen model is compared with the corrected one in standard errors of that,
// and shown as root mean squares of numbers.
func TestCorrection(t *testing.T) {
	for _, c := range []struct {
		plain, corrected, se report.Number
		numbers              bool
		says                 string
	}{{0.19, 0.25, 0.02, false, "for the length scales the error is 0.19; corrected it is 0.25"},
		{4, 9, 1, true, "is 2; corrected it is 3, which differs by 5 standard errors"},
		{0.22, 0.25, 0.02, false, ""}, {0.3, 0.25, 0.02, false, "differs by 2.5 standard errors"}} {
		of := &report.Trained{CorrectedFor: []string{"length scales"}, Uncorrected: &c.plain}
		quality := &report.Quality{}
		if c.numbers {
			quality.RSquared = report.NumberOf(0.5)
		}
		quote := &report.Quote{Error: c.corrected, ErrorSE: c.se}
		said := strings.Join(correction(quote, of, quality).Issues(), "; ")
		if !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%+v: %q", c, said)
		}
	}
	if said := correction(&report.Quote{Error: 1}, nil, nil); said != nil {
		t.Errorf("of a given model: %v", said)
	}
	within := &report.Quote{Error: 1, ErrorSE: 1e-5, Lower: report.NumberOf(0.2), Upper: report.NumberOf(1)}
	if said := correction(within, &report.Trained{Uncorrected: report.NumberOf(0.25)}, nil); said != nil {
		t.Errorf("of an error within the interval: %v", said)
	}
}

// TestCorrectedShare: the share of wrong labels is at most 1 with the correction for a choice, however few
// rows have the weight.
func TestCorrectedShare(t *testing.T) {
	heavy := &dataset.Set{X: linalg.NewMatrix(4, 1), Weights: []float64{100, 1, 1, 1}}
	s := &Study{Model: &model.Model{Spec: model.Spec{Set: heavy}}, Test: loss.ZeroOne{}}
	x := &risk{of: &folded{set: heavy}, error: 0.5, each: []float64{0.5, 0.5, 0.5, 0.5}}
	s.correct([]*risk{x}, &chosenAgain{folds: 2, foldOf: []int{0, 0, 1, 1},
		model:  leftOut{losses: [][]float64{{0, 0, 0, 0}}},
		chosen: leftOut{losses: [][]float64{{1, 1, 1, 1}}}})
	if x.error != 1 {
		t.Errorf("share %g", x.error)
	}
	// One row counts: that it is right says no more than a fair coin's first fall.
	x = &risk{of: x.of, error: 0.001, se: 1e-4, each: []float64{0, 1, 0, 0}}
	if quote := x.quoteOf(loss.ZeroOne{}.Name(), 0.95); *quote.Upper < 0.5 {
		t.Errorf("one row that counts: at most %g", *quote.Upper)
	}
}

// TestBoundedCorrection: where the losses of the partition on which the choice is made again are far below
// the risk, the correction is by their difference, not by their ratio; the interval then also holds the error
// without it.
func TestBoundedCorrection(t *testing.T) {
	set := &dataset.Set{X: linalg.NewMatrix(4, 1), Columns: []dataset.Column{{Y: make([]float64, 4)}}}
	s := &Study{Model: &model.Model{Spec: model.Spec{Set: set}}, Test: loss.SquareTest{}}
	x := &risk{of: &folded{set: set}, error: 10, plain: 10, se: 1, each: []float64{10, 10, 10, 10}}
	s.correct([]*risk{x}, &chosenAgain{folds: 2, foldOf: []int{0, 0, 1, 1},
		model:  leftOut{losses: [][]float64{{1e-3, 1e-3, 1e-3, 1e-3}}},
		chosen: leftOut{losses: [][]float64{{100, 20, 0, 0}}}})
	if want := 10 * math.Pow(1+(30-1e-3)/10, ofAllRows(2)); math.Abs(x.error-want) > 1e-9 {
		t.Errorf("error %g, want %g", x.error, want)
	}
	whole := x.quoteOf(s.Test.Name(), 0.95)
	x.se = 2 * x.error
	failed := x.quoteOf(s.Test.Name(), 0.95)
	if !(*failed.Lower < *whole.Lower && float64(*failed.Lower) < x.plain/2 && *failed.Upper > *whole.Upper) {
		t.Errorf("from %g to %g, of a choice that failed %g to %g", *whole.Lower, *whole.Upper, *failed.Lower,
			*failed.Upper)
	}
	plain := *x
	if plain.plain = x.error; *plain.quoteOf(s.Test.Name(), 0.95).Lower <= *failed.Lower {
		t.Errorf("from %g without a correction, %g with one", *plain.quoteOf(s.Test.Name(), 0.95).Lower,
			*failed.Lower)
	}
}

// TestROC: with each ratio of the weights of the classes the balanced error is the one of cross-validation,
// by the same folds, of a model whose loss has these class weights; sensitivity rises with the ratio from
// none to all, within intervals; and the area is near the one under the curve of the thresholds of one model.
func TestROC(t *testing.T) {
	set := testutil.Must(dataset.Load("synthetic:blobs,n=60", dataset.Options{}))(t)
	testutil.Check(t, set.Classify(""))
	s := ask(t, model.NewSpec(set, loss.Hinge{C: 2}))
	v := tenFolds(set)
	v.Seed, v.Repeats, v.ErrorsAlone = 7, measuredPartitions, true
	own := testutil.Must(s.CrossValidate(t.Context(), v))(t)
	s.AddROC(t.Context(), own, v.Seed, 0.95)
	r := own.ROC
	if r == nil || len(r.Weights) != 10 {
		t.Fatalf("%+v, %v", r, own.Checks)
	}
	positive := 0.0
	for _, y := range set.Columns[0].Y {
		positive += y
	}
	n := float64(set.N())
	for k, ratio := range r.Weights {
		negative := n / (n - positive + ratio*positive)
		of := ask(t, model.NewSpec(set, loss.Hinge{C: 2,
			ClassWeights: loss.ClassWeights{Negative: negative, Positive: ratio * negative}}))
		a := testutil.Must(of.CrossValidate(t.Context(), v))(t)
		want := float64(*a.Quality.Balanced)
		if got := 1 - (r.Sensitivity.Value[k]+r.Specificity.Value[k])/2; math.Abs(got-want) > 1e-9 {
			t.Errorf("weight %v: balanced error %v, of a loss with class weights %v", ratio, got, want)
		}
		for _, shares := range []int{0, 1} {
			of := []float64{r.Sensitivity.Lower[k], r.Sensitivity.Value[k], r.Sensitivity.Upper[k]}
			if shares == 1 {
				of = []float64{r.Specificity.Lower[k], r.Specificity.Value[k], r.Specificity.Upper[k]}
			}
			if !(0 <= of[0] && of[0] <= of[1] && of[1] <= of[2] && of[2] <= 1 && of[0] < of[2]) {
				t.Errorf("weight %v: %v", ratio, of)
			}
		}
		if k > 0 && r.Sensitivity.Value[k] < r.Sensitivity.Value[k-1]-0.05 {
			t.Errorf("weight %v: sensitivity falls to %v", ratio, r.Sensitivity.Value[k])
		}
	}
	if !(r.Sensitivity.Value[0] < 0.2 && r.Sensitivity.Value[9] > 0.9) ||
		math.Abs(float64(r.Area-*own.Quality.AUC)) > 0.05 {
		t.Errorf("sensitivities %v, area %v, by thresholds %v", r.Sensitivity.Value, r.Area, *own.Quality.AUC)
	}
	for _, of := range []loss.Loss{loss.HardMargin{}, loss.Probit{}} {
		if spec := model.NewSpec(set, of); CheckROC(&spec) == nil {
			t.Errorf("%s has a ROC", of.Name())
		}
	}
}

// TestLeaks: a feature that alone explains the target is found, also as a recoded label and among few rows.
// Strong features, chance and rare classes are taken for leaks in at most 1 of 100 tables; a feature that
// errs in 5% of 80 rows, where three rows more are nearly too many, in not more than 3 (0.95^80 is 0.017).
// Nor is a feature a leak because rows have copies, or because it and the label are those of a whole group.
func TestLeaks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var two, three = []string{"a", "b"}, []string{"a", "b", "c"}
	numbers := func(noise float64) func(x []float64) float64 {
		return func(x []float64) float64 { return x[0] + noise*rng.NormFloat64() }
	}
	coin := func(p float64, shift func(x []float64, y float64)) func(x []float64) float64 {
		return func(x []float64) (y float64) {
			if rng.Float64() < p {
				y = 1
			}
			shift(x, y)
			return y
		}
	}
	nothing := func([]float64, float64) {}
	for _, c := range []struct {
		what        string
		n           int
		levels      []string
		y           func(x []float64) float64
		least, most float64 // share of tables with a leak
		copies      int     // that follow each row
		grouped     bool    // they are a group's, and differ in the last feature
	}{
		{"90% explained", 20, nil, numbers(1. / 3), 0, 0.01, 0, false},
		{"90% explained", 200, nil, numbers(1. / 3), 0, 0.01, 0, false},
		{"a copy", 20, nil, numbers(1e-3), 1, 1, 0, false},
		{"a total", 200, nil, numbers(0.05), 1, 1, 0, false},
		{"a coin", 60, two, coin(0.5, nothing), 0, 0.01, 0, false},
		{"a rare class", 100, two, coin(0.05, nothing), 0, 0.01, 0, false},
		{"binary features", 60, two, coin(0.5, func(x []float64, _ float64) {
			for j := range x {
				x[j] = float64(rng.IntN(2))
			}
		}), 0, 0.01, 0, false},
		{"a die", 60, three, func([]float64) float64 { return float64(rng.IntN(3)) }, 0, 0.01, 0, false},
		{"5% wrong", 80, two, coin(0.5, func(x []float64, y float64) { x[0] += 3.29 * y }), 0, 0.03, 0,
			false},
		{"recoded", 80, two, coin(0.5, func(x []float64, y float64) { x[3] = y }), 1, 1, 0, false},
		{"recoded rare", 200, two, coin(0.1, func(x []float64, y float64) { x[3] = 5 - y }), 1, 1, 0, false},
		{"copied coins", 120, two, coin(0.5, nothing), 0, 0.01, 2, false},
		{"coins of groups", 120, two, coin(0.5, nothing), 0, 0.01, 2, true},
		{"recoded copies", 240, two, coin(0.5, func(x []float64, y float64) { x[3] = y }), 1, 1, 2, false},
	} {
		const tables = 300
		found := 0.0
		for range tables {
			s := &dataset.Set{X: linalg.NewMatrix(c.n, 5),
				Columns: []dataset.Column{{Name: "y", Levels: c.levels}}}
			for j := range s.D() {
				s.Features = append(s.Features, fmt.Sprint("x", j))
			}
			for i := range c.n {
				x := s.X.Row(i)
				if c.grouped {
					s.Groups = append(s.Groups, i/(c.copies+1))
				}
				if i%(c.copies+1) > 0 {
					copy(x, s.X.Row(i-1))
					if s.Columns[0].Y = append(s.Columns[0].Y, s.Columns[0].Y[i-1]); c.grouped {
						x[4] = rng.NormFloat64()
					}
					continue
				}
				for j := range x {
					x[j] = rng.NormFloat64()
				}
				s.Columns[0].Y = append(s.Columns[0].Y, c.y(x))
			}
			if leaks(s) != nil {
				found += 1. / tables
			}
		}
		if found < c.least-1e-9 || found > c.most+1e-9 {
			t.Errorf("%s, %d rows: a leak in %.3f of the tables", c.what, c.n, found)
		}
	}
}

// TestSets: a class is left out of a set where, of all rows, ceil(level (n + 1)) or more have a margin of
// their class, by the model without their fold, above the one of the class at the new row, by the same model,
// or for a model file by the model of all rows. The predicted class stays. With so few rows that no level is
// that low, all classes stay.
func TestSets(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, file := range []bool{false, true} {
			setsOf(t, classes, file)
		}
	}
}

// setsOf checks the sets of a number of classes, by a model file or by the data.
func setsOf(t *testing.T, classes int, file bool) {
	const n, fresh = 36, 12
	set, in := tableOf(t, n, classes, 1, 3), tableOf(t, fresh, classes, 1, 4)
	levels := set.Levels()
	spec := model.NewSpec(set, loss.Hinge{C: 1})
	spec.Kernel.Gamma, spec.Standardize = 0.5, false // which cross-validation does once
	s := ask(t, spec)
	v := riskValidation(set, 6)
	if file {
		v = tenFolds(set)
	}
	folds := testutil.Must(s.folded(v))(t).rows
	above := make([][]int, fresh)
	for p := range above {
		above[p] = make([]int, len(levels))
	}
	margin := func(f [][]float64, row, class int) float64 {
		if len(levels) == 2 {
			return f[0][row] * float64(2*class-1)
		}
		other := math.Inf(-1)
		for k := range f {
			if k != class {
				other = max(other, f[k][row])
			}
		}
		return f[class][row] - other
	}
	for _, rows := range folds {
		one := s.Model.Spec
		one.Set = without(set, rows)
		own := testutil.Must(predictionsOf(t.Context(), s, one, set.Subset(rows)))(t)[0]
		if file {
			one.Set = set
		}
		at := testutil.Must(predictionsOf(t.Context(), s, one, in))(t)[0]
		for p := range above {
			for k := range levels {
				for r, i := range rows {
					if margin(own, r, int(set.Columns[0].Y[i])) > margin(at, p, k) {
						above[p][k]++
					}
				}
			}
		}
	}
	sizes := 0
	for _, level := range []float64{0.7, 0.9, 0.98} {
		q := Question{Level: level, Sets: true, Seed: 6, Scheme: resample.Poisson{Ratio: 1}, Theory: Yes,
			Exact: No}
		var a *report.Answer
		if file {
			var text bytes.Buffer
			testutil.Check(t, testutil.Must(s.Train(t.Context(), Training{}))(t).Write(&text))
			a = testutil.Must(PredictBy(testutil.Must(model.ReadPredictor(&text))(t), in, s.Test, &q))(t)
		} else {
			a = testutil.Must(s.Predict(t.Context(), in, q))(t)
		}
		covered := 0.0
		for p, got := range a.Points.Set {
			var want []string
			for k, name := range levels {
				if above[p][k] < int(math.Ceil(level*(n+1))) || name == a.Points.Class[p] {
					want = append(want, name)
					if in.Columns[0].Y[p] == float64(k) {
						covered += 1. / fresh
					}
				}
			}
			if sizes += len(got); !slices.Equal(got, want) {
				t.Errorf("level %v, row %d: %v, counted %v", level, p, got, want)
			}
			if level == 0.98 && len(got) < len(levels) {
				t.Errorf("row %d: %v of 36 rows at 0.98", p, got)
			}
		}
		if math.Abs(covered-*a.Sets.Coverage) > 1e-12 {
			t.Errorf("coverage %v, counted %v", *a.Sets.Coverage, covered)
		}
	}
	if sizes <= 3*fresh || sizes >= 3*fresh*len(levels) {
		t.Errorf("%d classes in all sets", sizes)
	}
}

// TestMissingCodes: a code is found by a column of 40 numbers from low to high, in which some rows have it.
func TestMissingCodes(t *testing.T) {
	for _, c := range []struct {
		low, high, code float64
		rows            int
		found           bool
	}{{416, 16000, -999, 8, true}, {416, 16000, -999, 1, true}, {0, 10, -9, 8, true}, {18, 80, -1, 8, true},
		{18, 80, 888, 8, true}, {0, 1, 1e30, 1, true}, {0, 10, -9999, 1, true}, {0, 1, -32768, 2, true},
		{-5, 5, 99, 2, true}, {0, 1, 77, 2, true},
		{0, 10, -1, 2, false}, {-5, 5, -9, 1, false}, {0, 200, 99, 3, false}, {0, 100, 888, 1, false},
		{-20, 30, -9, 5, false}, {0, 10, -5, 8, false}, {0, 1e21, 1e20, 3, false}, {0, 0, -1, 20, false}} {
		s := &dataset.Set{X: linalg.NewMatrix(40, 1), Features: []string{"x"}}
		for i := range 40 {
			if s.X.Row(i)[0] = c.low + (c.high-c.low)*float64(i)/39; i >= 40-c.rows {
				s.X.Row(i)[0] = c.code
			}
		}
		if found := missingCodes(s) != nil; found != c.found {
			t.Errorf("%+v: %v", c, found)
		}
	}
}

// TestNearCopies: rows that are copied with a small error of all columns are found, also as classes; noise,
// a curve without noise, and measures that are repeated with other results are none.
func TestNearCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for what, c := range map[string]struct {
		jitter, again, noise float64 // of the copies' features and targets, and of targets
		d, copies            int
		levels               []string
		found                bool
	}{"copies": {0.001, 0.001, 0.5, 2, 2, nil, true}, "once": {0.001, 0.001, 0.5, 3, 1, nil, true},
		"classes": {0.001, 0, 0.5, 2, 2, []string{"a", "b"}, true}, "rows": {0, 0, 0.5, 2, 0, nil, false},
		"one feature": {0.001, 0, 0.5, 1, 2, nil, false}, "a curve": {0, 0, 0, 1, 0, nil, false},
		"repeated": {0.001, 0.5, 0.5, 2, 2, nil, false}} {
		n := 60 * (c.copies + 1)
		s := &dataset.Set{X: linalg.NewMatrix(n, c.d),
			Columns: []dataset.Column{{Name: "y", Levels: c.levels}}}
		for i := range n {
			y := 0.0
			if i < 60 {
				for j := range c.d {
					s.X.Row(i)[j] = rng.NormFloat64()
				}
				if y = s.X.At(i, 0) + c.noise*rng.NormFloat64(); c.levels != nil {
					y = float64(rng.IntN(2))
				}
			} else {
				for j := range c.d {
					s.X.Row(i)[j] = s.X.At(i%60, j) + c.jitter*rng.NormFloat64()
				}
				y = s.Columns[0].Y[i%60] + c.again*rng.NormFloat64()
			}
			s.Columns[0].Y = append(s.Columns[0].Y, y)
		}
		if found := nearCopies(s) != nil; found != c.found {
			t.Errorf("%s: %v", what, found)
		}
	}
}
