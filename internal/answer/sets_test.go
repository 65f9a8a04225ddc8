package answer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// TestSets: a class is left out of a set where, of all rows, ceil(level (n + 1)) or more have a margin of
// their class, by the model without their fold, above that of the class at the new row, by the same model.
// The predicted class stays. With so few rows that no level is that low, all classes stay.
func TestSets(t *testing.T) {
	const n, fresh = 36, 12
	for _, levels := range [][]string{{"-1", "1"}, {"ash", "elm", "oak"}} {
		rng := rand.New(rand.NewPCG(3, 8))
		table := func(n int) *dataset.Set {
			x, y := linalg.NewMatrix(n, 2), make([]float64, n)
			for i := range n {
				y[i] = float64(i % len(levels))
				a := 2 * math.Pi * y[i] / float64(len(levels))
				x.Row(i)[0] = math.Cos(a) + 0.7*rng.NormFloat64()
				x.Row(i)[1] = math.Sin(a) + 0.7*rng.NormFloat64()
			}
			s := testutil.Must(dataset.New(x, y))(t)
			s.Columns[0].Levels = levels
			return s
		}
		set, in := table(n), table(fresh)
		spec := model.NewSpec(set, loss.Hinge{C: 1})
		spec.Kernel.Gamma = 0.5
		s := testutil.Must(New(t.Context(), spec, nil))(t)
		v := riskValidation(set, 6)
		v.Repeats = 1
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
			var others []int
			for i := range n {
				if !slices.Contains(rows, i) {
					others = append(others, i)
				}
			}
			one := s.Model.Spec
			one.Set = set.Subset(others)
			own := testutil.Must(predictionsOf(t.Context(), s, one, set.Subset(rows)))(t)
			at := testutil.Must(predictionsOf(t.Context(), s, one, in))(t)
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
			a := testutil.Must(s.Predict(t.Context(), in, Question{Level: level, Sets: true, Seed: 6,
				Scheme: resample.Poisson{Ratio: 1}, Theory: Yes, Exact: No}))(t)
			covered := 0.0
			for p, got := range a.Points.Set {
				var want []string
				for k, name := range levels {
					if above[p][k] < int(math.Ceil(level*(n+1))) || name == a.Points.Class[p] {
						want = append(want, name)
						covered += float64(indicator(in.Columns[0].Y[p] == float64(k))) / fresh
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
}

func indicator(b bool) int {
	if b {
		return 1
	}
	return 0
}
