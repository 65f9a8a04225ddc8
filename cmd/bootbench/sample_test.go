package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestSample: an estimate by a sample quotes the error of a model of all rows, within three standard errors
// of cross-validation on all; it names its rows, is the same again, and is repeated by the line that it
// prints.
func TestSample(t *testing.T) {
	for _, line := range []string{
		"synthetic:blobs,n=1200,d=3,noise=0.7 --loss hinge --C 1",
		"synthetic:friedman1,n=1200 --loss square --noise 1",
	} {
		args := append([]string{"estimate"}, strings.Fields(line+" --sample 400 --quiet --json -")...)
		text := must(t, args...)
		e := document[report.Estimate](t, text)
		if e.N != 400 || e.Sample != 400 || e.RowsTotal != 1200 || e.LearningCurve.HeldOut != 800 ||
			!slices.Equal(e.LearningCurve.Sizes, []int{100, 200, 400}) || !(e.Time.AllRows > 0) {
			t.Errorf("%s: sample of %d of %d rows, %+v", line, e.Sample, e.RowsTotal, e.LearningCurve)
		}
		last := 0
		for _, name := range e.Points.Names {
			row, err := strconv.Atoi(name)
			if err != nil || row <= last || row > 1200 {
				t.Fatalf("row %q after %d", name, last)
			}
			last = row
		}
		all := document[report.CrossValidation](t, must(t, append([]string{"cv"},
			strings.Fields(line+" --folds 5 --repeats 1 --quiet --json - --no-points")...)...))
		if se := math.Hypot(float64(*e.ErrorSE), float64(*all.ErrorSE)); !(math.Abs(
			float64(e.Error-all.Error)) <= 3*se && se < 0.4*float64(all.Error)) {
			t.Errorf("%s: %g +- %g, by cross-validation on all rows %g", line, e.Error, *e.ErrorSE, all.Error)
		}
		again := document[report.Estimate](t, must(t, args...))
		if again.Error != e.Error || !slices.Equal(again.Points.Names, e.Points.Names) {
			t.Errorf("%s: another answer", line)
		}
	}
	for _, bad := range []string{"few", "7", "50 --groups x", "50 --kernel precomputed"} {
		if o := drive(t, "", append([]string{"estimate"},
			strings.Fields("synthetic:blobs,n=200 --loss hinge --sample "+bad)...)...); o.status != exitUsage {
			t.Errorf("--sample %s: status %d", bad, o.status)
		}
	}
}
