package answer

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/internal/tune"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// generated is the question of the theory alone, about targets of that kind.
func generated(kind string, n int) Question {
	return Question{Scheme: resample.NewGenerated(kind, n), Theory: Yes, Exact: No,
		Level: 0.9, Solve: solver.Settings{Tolerance: 1e-6}}
}

// TestGeneratedAgainstRefits: the theory's variances are those of 500 refits, one by one by each loss's
// trainer, to targets that the trained model generates: the median of their ratio is within 5% of 1, and the
// bias within 0.15 standard deviations in the median. A variance of 500 fits has a standard error of 6%, the
// median over rows less.
func TestGeneratedAgainstRefits(t *testing.T) {
	spec := func(set string, l loss.Loss, k kernel.Spec) model.Spec {
		s := model.NewSpec(load(t, set), l)
		s.Kernel = k
		return s
	}
	friedman := spec("synthetic:friedman1,n=100", loss.EpsInsensitive{C: 1, Epsilon: 0.5},
		kernel.Spec{Gamma: 0.05})
	copies := grid(t, 45)
	copies.Loss = loss.Huber{C: 2, Epsilon: 0.3}
	for _, c := range []struct {
		kind string
		spec model.Spec
	}{
		{resample.Parametric, spec("sonar", loss.Hinge{C: 1}, kernel.Spec{})},
		{resample.Parametric, spec("synthetic:rings,n=60", loss.Logistic{C: 1}, kernel.Spec{})},
		{resample.Parametric, friedman},
		{resample.Residual, friedman},
		{resample.Wild, friedman},
		{resample.Residual, copies},
		{resample.Wild, grid(t, 90)},
	} {
		twice := c.spec.Set == friedman.Set || c.spec.Set == copies.Set // with others of the kind
		if testing.Short() && twice && c.kind != resample.Wild {
			continue // the run without -short has it
		}
		t.Run(c.kind+"/"+c.spec.Loss.Name(), func(t *testing.T) {
			n := c.spec.Set.N()
			theory := estimated(t, c.spec, generated(c.kind, n))
			how := Retraining{Method: model.Single, Scheme: resample.NewGenerated(c.kind, n),
				RetrainSettings: model.RetrainSettings{Settings: fits.Settings{Resamples: 500}}}
			refits := testutil.Must(ask(t, c.spec).Retrain(t.Context(), how, nil))(t)
			var ratios, off []float64
			for i, v := range refits.Points.Variance {
				ratios = append(ratios, theory.Points.Variance[i]/v)
				off = append(off, math.Abs(theory.Points.Bias[i]-refits.Points.Bias[i])/math.Sqrt(v))
			}
			slices.Sort(ratios)
			slices.Sort(off)
			if r := ratios[n/2]; !(math.Abs(r-1) <= 0.05) {
				t.Errorf("median variance ratio %.3f", r)
			}
			if b := off[n/2]; !(b <= 0.15) {
				t.Errorf("biases differ by %.3f standard deviations", b)
			}
		})
	}
}

// TestGeneratedSquare: for the square loss the variance is sum_j (H_ij)^2 var(y_j), H = K (K + s2 I)^-1, by a
// dense inverse, the mean that of the predictor of the mean targets, and no key of an error is in the
// document.
func TestGeneratedSquare(t *testing.T) {
	const n, noise = 40, 0.3
	spec := model.Spec{Set: load(t, "synthetic:friedman1,n=40"), Loss: loss.Square{Noise: noise},
		Kernel: kernel.Spec{Gamma: 0.4, Amplitude: 8}}
	s := ask(t, spec)
	k, ridge, inverse, h := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), new(mat.Dense), new(mat.Dense)
	for i := range n {
		for j := range n {
			k.Set(i, j, s.Model.Gram().At(i, j))
		}
	}
	ridge.Copy(k)
	for i := range n {
		ridge.Set(i, i, k.At(i, i)+noise)
	}
	testutil.Check(t, inverse.Inverse(ridge))
	h.Mul(k, inverse)
	y := s.Model.Set.Columns[0].Y
	f, again := make([]float64, n), make([]float64, n)
	for i := range n {
		f[i] = mat.Dot(h.RowView(i), mat.NewVecDense(n, y))
	}
	var centred []float64
	for i := range n {
		again[i] = mat.Dot(h.RowView(i), mat.NewVecDense(n, f))
		centred = append(centred, (y[i]-f[i])/(1-h.At(i, i))) // of the fit without the row
	}
	for kind, variance := range map[string]func(j int) float64{
		resample.Parametric: func(int) float64 { return noise },
		resample.Residual:   func(int) float64 { return stat.PopVariance(centred, nil) },
		resample.Wild:       func(j int) float64 { return (y[j] - f[j]) * (y[j] - f[j]) },
	} {
		a := testutil.Must(s.Estimate(t.Context(), generated(kind, n)))(t)
		for i := range n {
			want := 0.0
			for j := range n {
				want += h.At(i, j) * h.At(i, j) * variance(j)
			}
			if p := a.Points; !(math.Abs(p.Variance[i]-want) < 1e-5*want &&
				math.Abs(p.Bias[i]-(again[i]-f[i])) < 1e-5) {
				t.Fatalf("%s: variance %v for %v, bias %v for %v", kind, p.Variance[i], want, p.Bias[i],
					again[i]-f[i])
			}
		}
		text := string(testutil.Must(json.Marshal(a))(t))
		for _, key := range []string{"error", "error_se", "test_error", "err632", "bagged_error"} {
			if strings.Contains(text, `"`+key+`"`) {
				t.Errorf("%s has the key %s", kind, key)
			}
		}
	}
}

// TestGeneratedAtNewInputs: predictions for the rows themselves, as new inputs, have the mean, the variance
// and the bias that they have as rows; several targets are those of each alone; labels have no residuals, and
// several classes no generated targets.
func TestGeneratedAtNewInputs(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=60")
	spec := model.Spec{Set: set, Loss: loss.Square{Noise: 1}, Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 9}}
	q := generated(resample.Residual, set.N())
	rows := estimated(t, spec, q)
	fresh := testutil.Must(ask(t, spec).Predict(t.Context(), set, q))(t)
	for i := range set.N() {
		a, b := rows.Points, fresh.Points
		if math.Abs(a.Mean[i]-b.Mean[i])+math.Abs(a.Variance[i]-b.Variance[i])+math.Abs(a.Bias[i]-b.Bias[i]) >
			1e-6 {
			t.Fatalf("row %d: %v, %v, %v as a new one, %v, %v, %v", i, b.Mean[i], b.Variance[i], b.Bias[i],
				a.Mean[i], a.Variance[i], a.Bias[i])
		}
	}
	own := *set
	second := own.Columns[0]
	second.Name, second.Y = "second", slices.Clone(second.Y)
	slices.Reverse(second.Y)
	own.Columns = append(slices.Clone(own.Columns), second)
	spec.Set = &own
	both := estimated(t, spec, q)
	one := both.Targets[set.Columns[0].Name]
	for i, v := range rows.Points.Variance {
		if math.Abs(one.Points.Variance[i]-v) > 1e-6 {
			t.Fatalf("row %d: variance %v beside another target, %v alone", i, one.Points.Variance[i], v)
		}
	}
	if both.Quote != nil || both.Targets["second"].Spread.SD <= 0 {
		t.Error("the second target has no spread, or there is an error")
	}
	spec = model.NewSpec(load(t, "sonar"), loss.Hinge{C: 1})
	refused(ask(t, spec).Estimate(t.Context(), generated(resample.Wild, 208)))(t, "residuals of labels")
}

// patients are rows of so many patients, each of so many rows: inputs are near the patient's, targets are a
// function of the input plus an effect of the patient and noise.
func patients(t *testing.T, count, rows int, effect float64, seed uint64) (model.Spec, []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 77))
	n := count * rows
	x, y, group := mat.NewDense(n, 2, nil), make([]float64, n), make([]int, n)
	for p := range count {
		at, own := [2]float64{rng.NormFloat64(), rng.NormFloat64()}, effect*rng.NormFloat64()
		for k := range rows {
			i := p*rows + k
			a, b := at[0]+0.05*rng.NormFloat64(), at[1]+0.05*rng.NormFloat64()
			x.SetRow(i, []float64{a, b})
			y[i], group[i] = math.Sin(2*a)+b+own+0.3*rng.NormFloat64(), p
		}
	}
	spec := specOf(testutil.Must(dataset.New(x, y))(t), loss.Square{Noise: 0.1})
	spec.Kernel.Gamma, spec.Kernel.Amplitude = 0.3, 1
	return spec, group
}

func schemeOf(t *testing.T, d resample.Design, name string, n int) resample.Scheme {
	t.Helper()
	d.N = n
	return testutil.Must(d.Of(name, resample.Options{Ratio: 1}))(t)
}

// TestRefinedDesigns: over 40 seeds the refined left-out error of whole groups, of strata and of blocks is
// the one of 20000 resamples trained one by one, in units of its standard error: the mean of the 40 deviates
// is 0 to 3.3/40^1/2 and their standard deviation 1 to 3 times its own error, 0.11; and so is a prediction's
// variance.
func TestRefinedDesigns(t *testing.T) {
	seeds, retrained := 40, 20000
	if testing.Short() {
		seeds, retrained = 10, 4000
	}
	spec, group := patients(t, 16, 3, 0.5, 1)
	stratum := make([]int, len(group))
	for i := range stratum {
		stratum[i] = min(i%5, 1)
	}
	for name, scheme := range map[string]resample.Scheme{
		"groups":                 schemeOf(t, resample.Design{Group: group}, "poisson", 48),
		"groups of fixed number": schemeOf(t, resample.Design{Group: group}, "multinomial", 48),
		"strata":                 schemeOf(t, resample.Design{Stratum: stratum}, "multinomial", 48),
		"blocks":                 schemeOf(t, resample.Design{Block: 5}, "multinomial", 48),
	} {
		t.Run(name, func(t *testing.T) {
			j := ask(t, spec)
			settings := fits.Settings{Resamples: retrained, Tests: []loss.Test{loss.SquareTest{}}}
			truth := testutil.Must(model.Retrain(t.Context(), j.Model, model.Single, scheme,
				model.RetrainSettings{Seed: 999, Settings: settings}))(t)
			var z, zVar []float64
			for seed := range seeds {
				e := testutil.Must(j.Estimate(t.Context(), Question{Theory: Yes,
					Exact: Yes, Scheme: scheme, Level: 0.9, Resamples: 100, Seed: uint64(seed)}))(t)
				se := math.Hypot(float64(*e.MonteCarloSE), truth.Tests[0].SE)
				z = append(z, (float64(e.Error)-truth.Tests[0].Error)/se)
				at := e.Refined.Points
				zVar = append(zVar, (at.Variance[7]-truth.Variance[7])/math.Hypot(at.VarianceSE[7],
					truth.VarianceSE[7]))
			}
			for what, z := range map[string][]float64{"error": z, "variance": zVar} {
				mean, sd := stat.MeanStdDev(z, nil)
				own := 1 / math.Sqrt(float64(2*seeds))
				if math.Abs(mean) > 3.3/math.Sqrt(float64(seeds)) || math.Abs(sd-1) > 3*own {
					t.Errorf("%s: deviates have mean %.2f and standard deviation %.2f", what, mean, sd)
				}
			}
		})
	}
}

// TestPatients: every patient is there ten times. Over 12 sets the error that resamples of whole patients
// give is the error of the same models for 300 new patients, to three standard errors of the difference;
// resamples of rows give at most 0.6 of it. Of the 90% intervals for new targets 0.84 to 0.96 hold, those by
// rows less than 0.7.
func TestPatients(t *testing.T) {
	var ratio, rows []float64
	var held [2]float64
	for seed := range uint64(12) {
		spec, group := patients(t, 20, 10, 0.7, seed)
		fresh, _ := patients(t, 300, 1, 0.7, 1000+seed)
		j := ask(t, spec)
		truth, whole := 0.0, schemeOf(t, resample.Design{Group: group}, "poisson", 200)
		testutil.Must(model.Retrain(t.Context(), j.Model, model.Single, whole, model.RetrainSettings{
			Cross: testutil.Must(j.Model.CrossAll(fresh.Set))(t), Settings: fits.Settings{Resamples: 100,
				OnFit: func(_ int, _, f []float64) {
					for i, y := range fresh.Set.Targets(0) {
						truth += (loss.SquareTest{}).Value(f[200+i], y) / 30000
					}
				}}}))(t)
		var errors [2]float64
		for k, scheme := range []resample.Scheme{whole, bootstrap} {
			q := Question{Theory: Yes, Exact: Yes, Scheme: scheme, Level: 0.9,
				Resamples: 100, Intervals: Intervals{Of: Observation}}
			errors[k] = float64(testutil.Must(j.Estimate(t.Context(), q))(t).Error) / truth
			held[k] += *testutil.Must(j.Predict(t.Context(), fresh.Set, q))(t).Coverage / 12
		}
		ratio, rows = append(ratio, math.Log(errors[0])), append(rows, errors[1])
	}
	mean, sd := stat.MeanStdDev(ratio, nil)
	if math.Abs(held[0]-0.9) > 0.06 || held[1] > 0.7 {
		t.Errorf("90%% intervals hold %.3f of new patients by whole patients, %.3f by rows", held[0], held[1])
	}
	t.Logf("%v groups: log ratio %.3f +- %.3f; rows: ratio %.2f", held, mean, sd/math.Sqrt(12),
		stat.Mean(rows, nil))
	if math.Abs(mean) > 3*sd/math.Sqrt(12) || sd > 0.5 {
		t.Errorf("log of the error of whole patients over that of new ones: %.3f +- %.3f", mean,
			sd/math.Sqrt(12))
	}
	if got := stat.Mean(rows, nil); got > 0.6 {
		t.Errorf("the error of rows is %.2f of that of new patients", got)
	}
}

// byTrained are the predictions of the model that is trained on a set with the square loss.
func byTrained(t *testing.T, spec model.Spec, in *dataset.Inputs, level float64) *report.Answer {
	t.Helper()
	s := ask(t, spec)
	p := testutil.Must(s.Train(t.Context(), Training{}))(t)
	return testutil.Must(PredictBy(p, in, s.Test, &Question{Level: level}))(t)
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
		method := JackknifePlus
		if c.groups == 4 {
			method = StudentsGroups
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
			x, y, group, weights := make([]float64, c.n), make([]float64, c.n), make([]int, c.n),
				make([]float64, c.n)
			effects := make([]float64, max(1, c.groups))
			for g := range effects {
				effects[g] = c.effect * rng.NormFloat64()
			}
			for i := range x {
				group[i] = i * len(effects) / c.n
				x[i], y[i] = draw(effects[group[i]])
				weights[i] = math.Cbrt(x[i])
			}
			set := testutil.Must(dataset.New(mat.NewDense(c.n, 1, x), y))(t)
			if c.groups > 0 {
				set.Groups = group
			}
			if c.weighted {
				set.Weights = weights
			}
			at, of := []float64{30}, []float64{0}
			for len(at) <= fresh {
				v := 10 * rng.Float64()
				at = append(at, v)
				effect := c.effect * rng.NormFloat64()
				of = append(of, curve(v)+effect+0.5*(1+v/10*indicator(c.weighted))*rng.NormFloat64())
			}
			a := byTrained(t, model.Spec{Set: set, Loss: loss.Square{Noise: 0.25 + c.effect*c.effect},
				Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 9 + 40*c.effect*c.effect}, NormalizeTarget: true},
				testutil.Must(dataset.New(mat.NewDense(len(at), 1, at), of))(t), level)
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
	p := testutil.Must(ask(t, r.Spec).Train(t.Context(), Training{}))(t)
	ratio := *wide.Width / *narrow.Width
	if off := math.Abs(ratio/p.LeftOut.Rows.Choice - 1); !(ratio > 1.05 && off < 0.05) ||
		*wide.Coverage <= *narrow.Coverage {
		t.Errorf("width %v and coverage %v, of a given model %v and %v; factor %v", *wide.Width,
			*wide.Coverage, *narrow.Width, *narrow.Coverage, p.LeftOut.Rows.Choice)
	}
}
