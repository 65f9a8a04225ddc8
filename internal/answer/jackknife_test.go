package answer_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
)

// tableOf is a set of rows with features and a number.
func tableOf(x [][]float64, y []float64) *dataset.Set {
	m := mat.NewDense(len(x), len(x[0]), nil)
	for i, row := range x {
		m.SetRow(i, row)
	}
	set, err := dataset.New(m, y)
	if err != nil {
		panic(err)
	}
	return set
}

// byTrained are the predictions of the model that is trained on a set with the square loss.
func byTrained(t *testing.T, spec model.Spec, in *dataset.Inputs, level float64) *report.Answer {
	t.Helper()
	s := testutil.Must(answer.New(t.Context(), spec, nil))(t)
	p := testutil.Must(s.Train(t.Context()))(t)
	return testutil.Must(answer.PredictBy(p, in, s.Test, &answer.Question{Level: level}))(t)
}

// curve is a function of one feature.
func curve(x float64) float64 { return 3*math.Sin(x) + 0.3*x }

// TestJackknifeCoverage: the jackknife+ scaled by the posterior contains new targets inside the data with its
// level, 0.88 to 0.93 at 0.9, and is five times wider outside; and so it does under weights of rows that are
// drawn too often, and for new groups, of which 4 have Student's intervals and 12 quantiles.
func TestJackknifeCoverage(t *testing.T) {
	const level, fresh = 0.9, 200
	for name, c := range map[string]struct {
		n, groups int
		effect    float64 // standard deviation over groups
		weighted  bool
		low, high float64
	}{
		"rows":             {n: 60, low: 0.88, high: 0.93},
		"weights":          {n: 120, weighted: true, low: 0.88, high: 0.94},
		"4 groups":         {n: 60, groups: 4, effect: 1, low: 0.87, high: 0.97},
		"4 groups, alike":  {n: 60, groups: 4, low: 0.87, high: 0.97},
		"12 groups":        {n: 96, groups: 12, effect: 1, low: 0.87, high: 0.97},
		"4 groups, larger": {n: 60, groups: 4, effect: 3, low: 0.87, high: 0.97},
	} {
		const sets = 60
		method := answer.JackknifePlus
		if c.groups == 4 {
			method = answer.StudentsGroups
		}
		rng := rand.New(rand.NewPCG(5, uint64(c.n+c.groups)))
		held, inside, outside := 0.0, 0.0, 0.0
		for range sets {
			draw := func(effect float64) (x, y float64) {
				x = 10 * rng.Float64()
				if c.weighted {
					x = 10 * math.Pow(x/10, 1.5) // the density is proportional to x^(-1/3)
				}
				return x, curve(x) + effect + 0.5*(1+x/10*indicator(c.weighted))*rng.NormFloat64()
			}
			x, y, group, weights := make([][]float64, c.n), make([]float64, c.n), make([]int, c.n),
				make([]float64, c.n)
			effects := make([]float64, max(1, c.groups))
			for g := range effects {
				effects[g] = c.effect * rng.NormFloat64()
			}
			for i := range x {
				group[i] = i * len(effects) / c.n
				var at float64
				at, y[i] = draw(effects[group[i]])
				x[i], weights[i] = []float64{at}, math.Cbrt(at)
			}
			set := tableOf(x, y)
			if c.groups > 0 {
				set.Groups = group
			}
			if c.weighted {
				set.Weights = weights
			}
			at, of := [][]float64{{30}}, []float64{0}
			for len(at) <= fresh {
				v := 10 * rng.Float64()
				at = append(at, []float64{v})
				effect := c.effect * rng.NormFloat64()
				of = append(of, curve(v)+effect+0.5*(1+v/10*indicator(c.weighted))*rng.NormFloat64())
			}
			a := byTrained(t, model.Spec{Set: set, Loss: loss.Square{Noise: 0.25 + c.effect*c.effect},
				Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 9 + 40*c.effect*c.effect}, NormalizeTarget: true},
				tableOf(at, of), level)
			if a.Interval.Method != method || *a.Outside != 1 || a.Points.Support[0] > 1e-6 {
				t.Fatalf("%s: %s, %d outside", name, a.Interval.Method, *a.Outside)
			}
			outside += (a.Points.Upper[0] - a.Points.Lower[0]) / float64(sets)
			for i := 1; i <= fresh; i++ {
				low, high := a.Points.Lower[i], a.Points.Upper[i]
				held += indicator(low <= of[i] && of[i] <= high) / float64(sets*fresh)
				inside += (high - low) / float64(sets*fresh)
			}
		}
		t.Logf("%s: %.3f of new targets, width %.2f, outside %.2f", name, held, inside, outside)
		if held < c.low || held > c.high || outside < 5*inside {
			t.Errorf("%s: %.3f of new targets, width %.2f, outside %.2f", name, held, inside, outside)
		}
	}
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// TestChosenIntervals: intervals of a model whose length scales were chosen on the same rows are wider than
// the intervals of the same model as a given one, by the factor of its file, and cover more.
func TestChosenIntervals(t *testing.T) {
	set, fresh := load(t, "synthetic:friedman1,n=50"), load(t, "synthetic:friedman1,n=400,seed=8")
	r := testutil.Must(tune.Run(t.Context(), tune.Problem{Spec: model.NewSpec(set, nil), Scales: tune.Each},
		tune.Settings{}))(t)
	given := r.Spec
	given.Chosen = nil
	wide, narrow := byTrained(t, r.Spec, fresh, 0.9), byTrained(t, given, fresh, 0.9)
	p := testutil.Must(testutil.Must(answer.New(t.Context(), r.Spec, nil))(t).Train(t.Context()))(t)
	ratio := *wide.Width / *narrow.Width
	if off := math.Abs(ratio/p.LeftOut.Rows.Choice - 1); !(ratio > 1.05 && off < 0.05) ||
		*wide.Coverage <= *narrow.Coverage {
		t.Errorf("width %v and coverage %v, of a given model %v and %v; factor %v", *wide.Width,
			*wide.Coverage, *narrow.Width, *narrow.Coverage, p.LeftOut.Rows.Choice)
	}
}
