package calibration_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
)

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
	a, b := testutil.Must(calibration.FitLogistic(field, label, weights))(t),
		testutil.Must(calibration.FitLogistic(fields, labels, nil))(t)
	near("slope", a.Slope, b.Slope)
	near("offset", a.Offset, b.Offset)
	of := func(fields []float64) (p []float64) {
		for _, f := range fields {
			p = append(p, b.Probability(f))
		}
		return p
	}
	p, ps := of(field), of(fields)
	c, d := calibration.NewReliability("", p, label, weights), calibration.NewReliability("", ps, labels, nil)
	near("log loss", float64(*c.LogLoss), float64(*d.LogLoss))
	near("Brier", float64(*c.Brier), float64(*d.Brier))
	for i := range c.Predicted {
		near("predicted", c.Predicted[i], d.Predicted[i])
		near("observed", c.Observed[i], d.Observed[i])
	}
	metrics := func(field, label, weights, p []float64) *report.Metrics {
		return calibration.NewMetrics(label, weights, func(test loss.Test) (each []float64) {
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
		return calibration.Compare(report.Examples{Each: e, Weights: weights},
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
			over, _ := calibration.StandardError(each, nil, group)
			se, m := float64(over), stat.Mean(each, nil)
			mean, square, stated = mean+m/draws, square+m*m/draws, stated+se*se/draws
			usual := stat.StdErr(stat.StdDev(shared, nil), float64(len(sizes)))
			byWeight, _ := calibration.StandardError(shared, weights, nil)
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
