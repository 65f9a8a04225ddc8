package answer

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

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
	s := testutil.Must(New(t.Context(), spec, nil))(t)
	v := riskValidation(set, 6)
	if file {
		v = tenFolds(set)
	}
	folds, _, err := partitions(&v, s)
	if err != nil {
		t.Fatal(err)
	}
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
			testutil.Check(t, testutil.Must(s.Train(t.Context()))(t).Write(&text))
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
