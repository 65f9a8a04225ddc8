package main

import (
	"bytes"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/calibration"
)

// TestWorlds: targets have the expectations and variances that the risk is computed from, and classes their
// probabilities. Sums over 4000 rows are within four standard errors.
func TestWorlds(t *testing.T) {
	near := func(name string, off []float64) {
		if mean, sd := stat.MeanStdDev(off, nil); math.Abs(mean) > 4*sd/math.Sqrt(float64(len(off))) {
			t.Errorf("%s is %.3g ± %.2g off", name, mean, sd/math.Sqrt(float64(len(off))))
		}
	}
	for _, w := range worlds {
		s := w.table(5, 50, 4000)
		for k, c := range s.fresh.Columns {
			var off, square []float64
			for i, y := range c.Y {
				if w.classes == 0 {
					e := y - s.truth[i][k]
					off, square = append(off, e), append(square, e*e-w.noise-w.effect)
				} else if off = append(off, -s.truth[i][1]); int(y) == 1 {
					off[i]++
				}
			}
			if near(w.name, off); square != nil {
				near(w.name+"'s variance", square)
			}
		}
	}
	grouped := worldsOf([]string{"groups"})[0].table(5, 50, 10)
	if g := grouped.data.Groups; g[4] != 0 || g[5] != 1 || g[49] != 9 || grouped.fresh.Groups[9] != 9 {
		t.Errorf("groups %v, of new rows %v", g, grouped.fresh.Groups)
	}
}

// TestRisk: the risk of a model is its mean loss at fresh targets, within four standard errors of 4000 rows.
func TestRisk(t *testing.T) {
	for _, w := range worlds {
		s := w.table(7, 60, 4000)
		model := steps.Must(bootbench.Train(t.Context(), s.specified(t.Context(), given)))
		p := steps.Must(model.Predict(s.fresh, 0.95))
		of, loss := []*bootbench.Prediction{p}, make([]float64, s.fresh.N())
		if p.Targets != nil {
			of = []*bootbench.Prediction{p.Targets["y"], p.Targets["y2"]}
		}
		for k, c := range s.fresh.Columns {
			variance := 1.0
			if len(of) > 1 {
				variance = 2 * stat.Variance(c.Y, nil)
			}
			for i, y := range c.Y {
				if w.classes == 0 {
					loss[i] += (of[k].Mean[i] - y) * (of[k].Mean[i] - y) / variance
				} else if of[k].Class[i] != c.Levels[int(y)] {
					loss[i] = 1
				}
			}
		}
		mean, risk := stat.Mean(loss, s.fresh.Weights), s.risk(model)
		se, _ := calibration.StandardError(loss, s.fresh.Weights, nil)
		if math.Abs(mean-risk) > 4*float64(se) {
			t.Errorf("%s: risk %.4g, loss %.4g ± %.2g", w.name, risk, mean, float64(se))
		}
	}
}

// TestCoverage: stated intervals hold the risk of the model that is trained. If they hold it in 0.94 of all
// tables, fewer than 40 of 50 do in one of several thousand trials. The error is off by at most 4% and four
// standard errors. An error without a correction, plus and minus 1.96 standard errors over the rows, holds it
// in 0.54 of the tables of the first cell, and in 0.78 of the second.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	const tables, least = 50, 0.8
	for _, of := range [][2]string{{flagless, "linear"}, {flagless, "coin"}, {given, "blobs"}} {
		c := coverage{tables: tables, fresh: 1000, seed: 11, resamples: 10, sizes: []int{50},
			models: of[:1]}
		var text bytes.Buffer
		r := over(t.Context(), &c, &output{&text, t.TempDir()}, worldsOf(of[1:]), "coverage", riskHead,
			(*coverage).judge, riskOf)[0]
		if r.Tables < tables || r.Coverage < least || r.Width > 2 || math.Abs(r.Bias) > 0.04+4*r.BiasSE {
			t.Error("\n" + text.String())
		}
	}
}
