package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/report"
)

// weighted are two tables of the same examples, some of which count nothing: with a column of counts, and
// with each row repeated, numbered by its example.
func weighted(t *testing.T, labels bool) (counted, copied string) {
	rng := rand.New(rand.NewPCG(3, 4))
	var one, many strings.Builder
	one.WriteString("x,z,w,y\n")
	many.WriteString("x,z,id,y\n")
	for i := range 50 {
		x, z := rng.NormFloat64(), rng.NormFloat64()
		y := fmt.Sprint(x*z + 0.3*rng.NormFloat64())
		if labels {
			y = map[bool]string{true: "yes", false: "no"}[y[0] == '-']
		}
		count := rng.IntN(4)
		fmt.Fprintf(&one, "%v,%v,%d,%s\n", x, z, count, y)
		for range count {
			fmt.Fprintf(&many, "%v,%v,%d,%s\n", x, z, i, y)
		}
	}
	return write(t, "counted.csv", one.String()), write(t, "copied.csv", many.String())
}

// TestCounts: rows that stand for several are the table in which they are repeated.
func TestCounts(t *testing.T) {
	for _, flags := range []string{"--loss square --noise 0.3", "--loss hinge --C 2"} {
		counted, copied := weighted(t, strings.Contains(flags, "hinge"))
		a := decoded[report.Estimate](t, strings.Fields("estimate "+counted+" --counts w "+flags)...)
		b := decoded[report.Estimate](t, strings.Fields("estimate "+copied+" --drop id "+flags)...)
		if a.N != b.N || a.TestError != b.TestError || a.Error != b.Error ||
			a.FullModel.Error != b.FullModel.Error {
			t.Errorf("%s: %v, %v of %d, copied %v, %v of %d", flags, a.TestError, a.Error, a.N, b.TestError, b.Error,
				b.N)
		}
	}
}

// TestWeights: a weight is a repetition where every copy is in a fit or none is: in the model of all
// examples, and where an example and its copies are left out together; refined errors are those of
// retraining.
func TestWeights(t *testing.T) {
	for _, flags := range []string{"--loss square --noise 0.3", "--loss square --noise 0.3 --bias",
		"--loss hinge --C 2",
		"--loss logistic --C 2"} {
		counted, copied := weighted(t, !strings.Contains(flags, "square"))
		with := strings.Fields(counted + " --weights w " + flags)
		a := decoded[report.CrossValidation](t, append(strings.Fields("cv --folds loo"), with...)...)
		b := decoded[report.CrossValidation](t, strings.Fields("cv --folds loo "+copied+" --groups id "+flags)...)
		if off := math.Abs(float64(a.Error/b.Error) - 1); off > 1e-4 || a.Quality.Baseline != 0 &&
			math.Abs(float64(a.Quality.Baseline/b.Quality.Baseline)-1) > 1e-9 {
			t.Errorf("%s: left out one by one %v, copies together %v; baselines %v, %v", flags, a.Error, b.Error,
				a.Quality.Baseline, b.Quality.Baseline)
		}
		if !strings.Contains(flags, "logistic") { // loo has hinge and square
			l := decoded[report.LeaveOneOut](t, append(strings.Fields("loo"), with...)...)
			if off := math.Abs(float64(l.Error/b.Error) - 1); off > 1e-9 {
				t.Errorf("%s: loo %v, copies left out together %v", flags, l.Error, b.Error)
			}
		}
		e := decoded[report.Estimate](t, append(strings.Fields("estimate --refine 400 --metrics all"), with...)...)
		// small classes are strata, which have no jackknife
		if m := e.Metrics; m.Error == nil && m.Jackknife == nil || m.Error != nil &&
			math.Abs(float64(*m.Error-e.TestError)) > 1e-12 {
			t.Errorf("%s: metrics %+v of the error %v", flags, m, e.TestError)
		}
		c := decoded[report.Estimate](t, strings.Fields("estimate "+copied+" --drop id --refine none "+flags)...)
		if off := math.Abs(float64(e.Apparent - c.Apparent)); off > 1e-4*float64(c.Apparent) {
			t.Errorf("%s: apparent error %v, copied %v", flags, e.Apparent, c.Apparent)
		}
		r := decoded[report.Retraining](t, append(strings.Fields("retrain --resamples 1000 --method single"),
			with...)...)
		se := math.Hypot(float64(*e.ErrorSE), float64(r.SE))
		if z := float64(e.Error-r.TestError) / se; math.Abs(z) > 4 {
			t.Errorf("%s: refined %v, retrained %v, %.1f standard errors", flags, e.Error, r.TestError, z)
		}
	}
}

// TestWeightZero: a row of weight 0 is no row, to the last bit.
func TestWeightZero(t *testing.T) {
	counted, _ := weighted(t, false)
	table := string(need.One(os.ReadFile(counted))(t))
	var kept []string
	for _, line := range strings.Split(table, "\n") {
		if !strings.Contains(line, ",0,") {
			kept = append(kept, line)
		}
	}
	less := write(t, "less.csv", strings.Join(kept, "\n"))
	a := decoded[report.Estimate](t, "estimate", counted, "--weights", "w")
	b := decoded[report.Estimate](t, "estimate", less, "--weights", "w")
	if a.Error != b.Error || a.Kernel.Gamma != b.Kernel.Gamma || a.N != b.N {
		t.Errorf("%v, %v of %d; without the rows %v, %v of %d", a.Error, a.Kernel.Gamma, a.N, b.Error,
			b.Kernel.Gamma, b.N)
	}
	for column, want := range map[string]string{"x": "is no weight", "y": "is no weight", "q": "no column"} {
		if o := drive(t, "", "estimate", counted, "--weights", column); o.status != exitUsage ||
			!strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", column, o)
		}
	}
}
