package calibration_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/testutil"
)

// draw draws n normal fields, and labels of which +1 has probability p at a field.
func draw(n int, seed uint64, p func(field float64) float64) (field, label []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range n {
		f := rng.NormFloat64()
		field, label = append(field, f), append(label, 2*indicator(rng.Float64() < p(f))-1)
	}
	return field, label
}

func sigmoid(a float64) float64 { return 1 / (1 + math.Exp(-a)) }

// platt is the log loss of a curve on Platt's targets.
func platt(c calibration.Logistic, field, label []float64) (sum float64) {
	n := [2]float64{}
	for _, y := range label {
		n[int(indicator(y > 0))]++
	}
	for i, f := range field {
		t := 1 / (n[0] + 2)
		if label[i] > 0 {
			t = (n[1] + 1) / (n[1] + 2)
		}
		p := c.Probability(f)
		sum -= t*math.Log(p) + (1-t)*math.Log(1-p)
	}
	return sum
}

// TestLogisticIsTheMinimum: no other slope or offset nearby has a smaller log loss on
// Platt's targets; and of 20000 examples the curve is their law's within three
// standard errors (inverse Fisher information: 0.030 for the slope, 0.021 for the offset).
func TestLogisticIsTheMinimum(t *testing.T) {
	field, label := draw(300, 3, func(f float64) float64 { return sigmoid(2*f - 1) })
	for i := range field {
		field[i] = 100*field[i] + 1e4 // units that are far from the units of probabilities
	}
	best := testutil.Must(calibration.FitLogistic(field, label, nil))(t)
	at := platt(best, field, label)
	for _, d := range []float64{-1e-3, 1e-3} {
		// move the slope about the mean of the fields, and the offset
		turned := calibration.Logistic{Slope: best.Slope * (1 + d), Offset: best.Offset - d*best.Slope*1e4}
		lifted := calibration.Logistic{Slope: best.Slope, Offset: best.Offset + d}
		if platt(turned, field, label) <= at || platt(lifted, field, label) <= at {
			t.Errorf("%+v is not the minimum", best)
		}
	}
	field, label = draw(20000, 4, func(f float64) float64 { return sigmoid(2*f - 1) })
	l, err := calibration.FitLogistic(field, label, nil)
	if err != nil || math.Abs(l.Slope-2) > 0.09 || math.Abs(l.Offset+1) > 0.063 {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestExtremes: fields that are alike, or point the wrong way, give the share of the label; of separated
// classes the slope is finite, and no probability passes Platt's targets.
func TestExtremes(t *testing.T) {
	label := []float64{-1, -1, -1, 1, 1, -1}
	for _, field := range [][]float64{{2, 2, 2, 2, 2, 2}, {3, 4, 5, -1, -2, 3}} {
		c, err := calibration.FitLogistic(field, label, nil)
		// 2 of 6, drawn in
		if err != nil || c.Name() != "constant" || math.Abs(c.Probability(9)-0.36) > 0.04 {
			t.Errorf("%v: %v %v", field, c, err)
		}
	}
	c := testutil.Must(calibration.FitLogistic([]float64{-3, -2, -1, 1, 2, -1.5}, label, nil))(t)
	low, high := c.Probability(-1), c.Probability(1)
	if !(0.1 < low && low < 0.5 && 0.5 < high && high < 0.9) {
		t.Errorf("%v and %v beside the gap", low, high)
	}
	if _, err := calibration.FitLogistic([]float64{1, 2}, []float64{1, 1}, nil); !errors.Is(err,
		calibration.ErrOneClass) {
		t.Errorf("one class: %v", err)
	}
	if p := calibration.CrossFit([]float64{1, 2, 3, 4}, []float64{-1, -1, 1, -1}, nil); p != nil {
		t.Errorf("a class of one: %v", p)
	}
}

// TestCrossFit: the label of a row does not move its own probability, which moves those of other rows.
func TestCrossFit(t *testing.T) {
	field, label := draw(100, 6, sigmoid)
	before := calibration.CrossFit(field, label, nil)
	label[7] = -label[7]
	after, moved := calibration.CrossFit(field, label, nil), 0
	for i, p := range after {
		if p != before[i] {
			moved++
		}
	}
	if after[7] != before[7] || moved < 50 || !(slices.Min(after) > 0) {
		t.Errorf("%v is %v with the other label; %d rows moved", before[7], after[7], moved)
	}
}

// TestCrossFitOfFewRows: over many tables of 50 rows the cross-fitted log loss and the share of wrong
// labels are those that the curve of all rows has on new rows, within three standard errors and 0.01 for
// the rows that each curve lacks, also where fields tell nothing.
func TestCrossFitOfFewRows(t *testing.T) {
	const tables, rows = 400, 50
	fresh, _ := draw(1000, 1, sigmoid)
	for _, slope := range []float64{0, 1.5} {
		p := func(f float64) float64 { return sigmoid(slope * f) }
		var logs, wrong []float64 // cross-fitted less true
		for k := range uint64(tables) {
			field, label := draw(rows, 100+k, p)
			curve := testutil.Must(calibration.FitLogistic(field, label, nil))(t)
			left := calibration.CrossFit(field, label, nil)
			logLoss, _ := calibration.Judge(left, label, nil)
			share := 0.0
			for i, q := range left {
				if q >= 0.5 != (label[i] > 0) {
					share += 1. / rows
				}
			}
			for _, f := range fresh {
				positive, q := p(f), curve.Probability(f)
				logLoss += (positive*math.Log(q) + (1-positive)*math.Log(1-q)) / float64(len(fresh))
				if q >= 0.5 {
					positive = 1 - positive
				}
				share -= positive / float64(len(fresh))
			}
			logs, wrong = append(logs, logLoss), append(wrong, share)
		}
		for name, off := range map[string][]float64{"log loss": logs, "wrong": wrong} {
			mean, sd := stat.MeanStdDev(off, nil)
			if se := sd / math.Sqrt(tables); !(math.Abs(mean) <= 3*se+0.01) {
				t.Errorf("slope %g: cross-fitted %s off by %.4f +- %.4f", slope, name, mean, se)
			}
		}
	}
}
