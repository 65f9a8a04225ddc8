package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestRanges: on small and unbalanced tables, with strata that the program chooses, errors of every command
// are in the range of their loss, standard errors are numbers, and variances are not negative.
func TestRanges(t *testing.T) {
	type judged struct {
		report.Quote
		TestError *report.Number `json:"test_error"`
		Points    report.Points
		Refined   *struct {
			TestError   *report.Number `json:"test_error"`
			BaggedError *report.Number `json:"bagged_error"`
			SE          *report.Number `json:"standard_error"`
			Points      report.Points
		}
	}
	rng := rand.New(rand.NewPCG(44, 3))
	tables := 60
	if testing.Short() {
		tables = 15
	}
	for number := range tables {
		n, labels := 5+rng.IntN(36), number%3 < 2
		rare, head, table := 1+rng.IntN(3), "a,b,y\n", make([]string, n)
		for i := range table {
			y := fmt.Sprintf("%.3g", rng.NormFloat64())
			if labels {
				y = map[bool]string{true: "yes", false: "no"}[i < rare]
			}
			table[i] = fmt.Sprintf("%.3g,%.3g,%s\n", rng.NormFloat64(), rng.NormFloat64(), y)
		}
		file := write(t, "table.csv", head+strings.Join(table, ""))
		model := " --loss square --noise 0.2 --gamma 0.3"
		if labels {
			model = fmt.Sprintf(" --loss %s --C %g --gamma %g", []string{"hinge", "logistic"}[number%2],
				[]float64{0.1, 1, 30}[number%7%3], []float64{0.01, 0.5}[number%5%2])
		}
		largest := math.Inf(1)
		if labels {
			largest = 1
		}
		for _, command := range []string{"estimate FILE --refine 20", "retrain FILE --resamples 20",
			"cv FILE --folds 3", "predict FILE --refine 20 --test FILE"} {
			line := strings.ReplaceAll(command, "FILE", file) + model + fmt.Sprintf(" --seed %d", number)
			d := decoded[judged](t, line)
			points, errors := []report.Points{d.Points}, []*report.Number{&d.Error, d.TestError}
			ses := []*report.Number{&d.ErrorSE, d.RMSESE, d.MonteCarloSE}
			if r := d.Refined; r != nil {
				points, errors, ses = append(points, r.Points), append(errors, r.TestError), append(ses, r.SE)
				if !strings.HasPrefix(command, "predict") {
					errors = append(errors, r.BaggedError)
				}
			}
			for _, p := range points {
				for _, e := range p.Error {
					errors = append(errors, (*report.Number)(&e))
				}
				if slices.ContainsFunc(p.Variance, func(v float64) bool { return !(v >= 0) }) {
					t.Errorf("%s: variances %v", line, p.Variance)
				}
			}
			for _, e := range errors { // NaN: a row that was never left out
				if e != nil && (float64(*e) < 0 || float64(*e) > largest) {
					t.Errorf("%s: error %v", line, *e)
				}
			}
			for _, se := range ses {
				if se != nil && !(*se >= 0) {
					t.Errorf("%s: standard error %v", line, *se)
				}
			}
			if !(d.Error >= 0) || d.TestError != nil && !(*d.TestError >= 0) {
				t.Errorf("%s: error %v, %v", line, d.Error, *d.TestError)
			}
		}
	}
}
