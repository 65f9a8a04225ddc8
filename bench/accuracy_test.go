package bench

import (
	"math"
	"testing"

	"bootbench/fits"
	"bootbench/internal/report"
)

// judged is the accuracy of theory variances against a reference whose resamples
// took 2 seconds in all, where the theory took half a second.
func judged(theory []float64, reference *fits.Averages) report.CompareRow {
	row := report.CompareRow{TheoryS: 0.5}
	relate(&row, theory, reference, []way{{single: true, each: 2 / float64(reference.Resamples)}})
	return row
}

// TestAccuracyExact: where noise and error are not correlated, here because the
// noise takes both signs at every size of the error, the figures are the
// theory's own error and the noise, up to the fourth order: shares of about
// noise^2/own^2 noise^2 = 6e-4 here. Sites differ in scale by 1e7.
func TestAccuracyExact(t *testing.T) {
	const own, noise = 0.004, 0.01
	var theory []float64
	reference := &fits.Averages{Resamples: 200}
	for i := range 8 {
		scale := math.Pow(10, float64(i-4))
		for _, truth := range []float64{1 + own, 1 - own} {
			for _, off := range []float64{noise, -noise} {
				theory = append(theory, scale)
				reference.Variance = append(reference.Variance, scale*(truth+off))
				reference.VarianceSE = append(reference.VarianceSE, scale*noise)
			}
		}
	}
	// Sites that nothing is known of change nothing.
	for _, unknown := range [][3]float64{{0, 1, 1}, {1, math.NaN(), 1}, {1, 1, math.NaN()},
		{math.NaN(), 1, 1}} {
		theory = append(theory, unknown[0])
		reference.Variance = append(reference.Variance, unknown[1])
		reference.VarianceSE = append(reference.VarianceSE, unknown[2])
	}
	r := judged(theory, reference)
	resamples := 200 * noise * noise / (own * own) // 1250
	for name, pair := range map[string][2]float64{
		"error": {r.VarianceError, own}, "noise": {r.VarianceNoise, noise}, "resamples": {r.EqualResamples,
			resamples},
		"speed-up": {r.SpeedupEqualAccuracy, resamples * (2.0 / 200) / 0.5},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-3*pair[1] {
			t.Errorf("%s is %v, want %v", name, pair[0], pair[1])
		}
	}
	if r.EqualIsBound {
		t.Error("the figures are called bounds")
	}
}

// TestAccuracyBounds: an error that does not show above the noise gives the
// resamples that there were as a bound; a reference without standard errors, or
// where nothing varies, gives nothing.
func TestAccuracyBounds(t *testing.T) {
	reference := &fits.Averages{Resamples: 50, Variance: []float64{1.2, 0.8},
		VarianceSE: []float64{0.2, 0.2}}
	r := judged([]float64{1, 1}, reference)
	if !r.EqualIsBound || r.VarianceError != 0 || math.Abs(r.VarianceNoise-0.2) > 0.005 ||
		r.EqualResamples != 50 || r.SpeedupEqualAccuracy != 4 {
		t.Errorf("all noise: %+v", r)
	}
	for name, se := range map[string]float64{"unknown": math.NaN(), "zero": 0} {
		reference.VarianceSE = []float64{se, se}
		if r := judged([]float64{1, 1}, reference); !r.EqualIsBound || r.EqualResamples != 0 ||
			r.VarianceNoise != 0 || r.VarianceError != 0 {
			t.Errorf("standard error %s: %+v", name, r)
		}
	}
}

// TestBaseline: the time of refined estimates has the solve in it, and each number of resamples its fastest
// way: blocks, with a set-up, pay above 100. 50 and 200 naive fits are the single trainer's.
func TestBaseline(t *testing.T) {
	ways := []way{{name: "svm", single: true, each: 0.01, fits: 40},
		{name: "blocks", engine: "lowrank", rank: 7, setup: 0.5, each: 0.005}}
	reference := &fits.Averages{Resamples: 10, Variance: []float64{1}, VarianceSE: []float64{0.1}}
	for _, c := range []struct {
		worth, fits float64
		by          string
		seconds     float64
	}{{50, 50, "svm", 0.5}, {400, 400, "blocks", 2.5}, {0, 10, "svm", 0.1}, {math.NaN(), 10, "svm", 0.1}} {
		row := report.CompareRow{TheoryS: 0.5, FitS: 0.25, ResampleFitS: 0.1, LIBSVMFitS: 2,
			RefinedResamples: 10, RefinedS: 2, RefinedEquivalent: report.Number(c.worth)}
		relate(&row, []float64{1}, reference, ways)
		if row.RefinedS != 2.5 || row.Baseline != c.by || row.BaselineFits != c.fits ||
			math.Abs(row.BaselineS-c.seconds) > 1e-12 || row.Fits50S != 0.5 || row.Fits200S != 2 ||
			row.FitsMeasured != 40 || row.BaselineRank != map[string]int{"blocks": 7}[c.by] {
			t.Errorf("worth %v: %+v", c.worth, row)
		}
		if row.TheoryOverFit != 2 || row.TheoryOverMergedFit != 5 || row.FitsEquivalent != 5 ||
			row.NaiveFitsEquivalent != 0 || row.TheoryOverLIBSVM != 0.25 {
			t.Errorf("theory over fits: %+v", row)
		}
	}
}
