package answer

import (
	"errors"
	"math"
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
		a := &report.Answer{
			Trained: &report.Trained{CorrectedFor: []string{"length scales"}, Uncorrected: &c.plain},
			Quote:   &report.Quote{Error: c.corrected, ErrorSE: c.se}, Quality: &report.Quality{}}
		if c.numbers {
			a.Quality.RSquared = report.NumberOf(0.5)
		}
		said := strings.Join(correction(a).Issues(), "; ")
		if !strings.Contains(said, c.says) || (said == "") != (c.says == "") {
			t.Errorf("%+v: %q", c, said)
		}
	}
	if said := correction(&report.Answer{Quote: &report.Quote{Error: 1}}); said != nil {
		t.Errorf("of a given model: %v", said)
	}
	within := &report.Answer{Trained: &report.Trained{Uncorrected: report.NumberOf(0.25)},
		Quote: &report.Quote{Error: 1, ErrorSE: 1e-5, Lower: report.NumberOf(0.2), Upper: report.NumberOf(1)}}
	if said := correction(within); said != nil {
		t.Errorf("of an error within the interval: %v", said)
	}
}

// TestCorrectedShare: the share of wrong labels is at most 1 with the correction for a choice, however few
// rows have the weight.
func TestCorrectedShare(t *testing.T) {
	heavy := &dataset.Set{X: linalg.NewMatrix(4, 1), Weights: []float64{100, 1, 1, 1}}
	s := &Study{Model: &model.Model{Spec: model.Spec{Set: heavy}}, Test: loss.ZeroOne{}}
	x := &risk{error: 0.5, each: []float64{0.5, 0.5, 0.5, 0.5}}
	s.correct([]*risk{x}, &chosenAgain{folds: 2, foldOf: []int{0, 0, 1, 1},
		model:  leftOut{losses: [][]float64{{0, 0, 0, 0}}},
		chosen: leftOut{losses: [][]float64{{1, 1, 1, 1}}}})
	if x.error != 1 {
		t.Errorf("share %g", x.error)
	}
	// One row counts: that it is right says no more than a fair coin's first fall.
	x = &risk{error: 0.001, se: 1e-4, each: []float64{0, 1, 0, 0}}
	if quote := x.quoteOf(loss.ZeroOne{}.Name(), heavy, 0.95); *quote.Upper < 0.5 {
		t.Errorf("one row that counts: at most %g", *quote.Upper)
	}
}
