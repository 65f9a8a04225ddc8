package answer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// bootstrap is the law of the tests of predictions.
var bootstrap = resample.Poisson{Ratio: 1}

// load reads an embedded or synthetic set.
func load(t *testing.T, path string) *dataset.Set {
	t.Helper()
	return testutil.Must(dataset.Load(path, dataset.Options{}))(t)
}

func build(t *testing.T, spec model.Spec) *model.Model {
	t.Helper()
	return testutil.Must(model.Build(t.Context(), spec))(t)
}

// ask is the study of a model.
func ask(t *testing.T, spec model.Spec) *Study {
	t.Helper()
	return testutil.Must(New(t.Context(), spec, nil))(t)
}

// estimated and validated are the answers of its studies.
func estimated(t *testing.T, spec model.Spec, q Question) *report.Answer {
	t.Helper()
	return testutil.Must(ask(t, spec).Estimate(t.Context(), q))(t)
}

func validated(t *testing.T, spec model.Spec, v Validation) *report.Answer {
	t.Helper()
	return testutil.Must(ask(t, spec).CrossValidate(t.Context(), v))(t)
}

// grid is regression on inputs most of which repeat.
func grid(t *testing.T, n int) model.Spec {
	t.Helper()
	return model.Spec{Set: load(t, fmt.Sprintf("synthetic:grid,n=%d,d=2", n)), Loss: loss.Square{Noise: 0.2},
		Kernel: kernel.Spec{Gamma: 0.3, Amplitude: 2, Constant: 0.5}}
}

// refused insists on an error.
func refused[V any](_ V, err error) func(t *testing.T, what string) {
	return func(t *testing.T, what string) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestPredict: at the training inputs Predict gives what the solution has at their sites (to rounding in
// products with G, of a condition of some 1e3). Inputs of another width, none, and a solution whose G is no
// longer there are refused.
func TestPredict(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=30")
	m := build(t, model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.5}, Loss: loss.Square{Noise: 1},
		Standardize: true, NormalizeTarget: true})
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	in := &dataset.Inputs{X: set.X}
	p := testutil.Must(At(m, s, in, nil))(t)
	for i, site := range m.Site {
		if want := s.Mean[site]; math.Abs(p.Mean[i]-want) > 1e-9*(math.Abs(want)+1) ||
			math.Abs(p.Variance[i]-s.Var[site]) > 1e-9*s.Var[site] {
			t.Errorf("example %d: mean %v, variance %v; at its site %v, %v", i+1, p.Mean[i], p.Variance[i],
				want, s.Var[site])
		}
	}
	narrow := testutil.Must(dataset.NewInputs(mat.NewDense(2, 3, nil)))(t)
	refused(At(m, s, narrow, nil))(t, "3 features for 10")
	testutil.Must(m.FullFit(t.Context(), nil))(t)
	refused(At(m, s, in, nil))(t, "of a solution that is overwritten")
	refused(m.Solve(t.Context(), resample.Poisson{}, solver.Settings{}))(t, "a ratio of 0 is solved")
	refused(model.Retrain(t.Context(), m, model.Single, resample.Poisson{}, model.RetrainSettings{}))(t,
		"a ratio of 0 is retrained")
}

// TestCovariances: at new inputs that are the sites themselves the covariances by their
// responses (M03-48) are those between sites by G (M03-41), merged inputs included; their
// diagonal is the variance. Both are sums over sites to rounding, of a solve to 1e-6.
func TestCovariances(t *testing.T) {
	study := ask(t, grid(t, 80))
	m := study.Model
	a := testutil.Must(study.Predict(t.Context(), &dataset.Inputs{X: m.Set.X.Gather(m.First)},
		Question{Scheme: bootstrap, Theory: Yes, Level: 0.9, Covariances: true,
			Solve: solver.Settings{Tolerance: 1e-10}}))(t)
	fresh, s := a.Covariance.Matrix, study.Solution
	for i := range m.Sites() {
		between := make([]float64, m.Sites())
		testutil.Check(t, s.Covariance(between, i))
		for j, a := range between {
			b := fresh.Data[i*fresh.Stride+j]
			if scale := math.Sqrt(s.Var[i] * s.Var[j]); math.Abs(a-b) > 1e-9*scale || i == j &&
				math.Abs(a-s.Var[i]) > 1e-6*scale {
				t.Errorf("sites %d and %d: %v between sites, %v as new inputs, variance %v", i, j, a, b,
					s.Var[i])
			}
		}
	}
}

// TestNegativeShare: the share of the resamples that predict -1 (M04-20) at new inputs is that of 400 refits
// one by one, whose standard error is at most 0.025: within 0.03 in the median over the inputs.
func TestNegativeShare(t *testing.T) {
	all := load(t, "sonar")
	others := every(4, all.N())
	study := ask(t, model.NewSpec(without(all, others), loss.Hinge{C: 1}))
	fresh, m := all.Subset(others), study.Model
	q := Question{Scheme: bootstrap, Theory: Yes, Level: 0.9,
		Solve: solver.Settings{Tolerance: 1e-6}}
	a := testutil.Must(study.Predict(t.Context(), fresh, q))(t)
	settings := model.RetrainSettings{Cross: testutil.Must(m.CrossAll(fresh))(t)}
	share := make([]float64, len(others))
	settings.Resamples, settings.OnFit = 400, func(_ int, _, f []float64) {
		for k, v := range f[m.Sites():] {
			if v < 0 {
				share[k] += 1.0 / 400
			}
		}
	}
	testutil.Must(model.Retrain(t.Context(), m, model.Single, bootstrap, settings))(t)
	for k, v := range a.Points.Negative {
		share[k] = math.Abs(share[k] - v)
	}
	if slices.Sort(share); share[len(share)/2] > 0.03 {
		t.Errorf("shares are off by %v in the median", share[len(share)/2])
	}
}

// TestObservationCoverage: intervals hold new targets with their level, whatever the noise.
// Between training sets of 250 the coverage has a standard deviation of at most
// (0.8 x 0.2/250)^1/2 = 2.5 points at level 0.8, and 250 new targets add as much, so that over
// three splits it lies within 6 points (3 standard errors), on average over sets within 3.5. Scaled residuals
// hold more than plain ones in the third of the inputs where predictions vary most.
func TestObservationCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	uneven := load(t, "synthetic:waves,n=1000,d=2,seed=7,noise=0")
	rng := rand.New(rand.NewPCG(3, 1))
	for i := range uneven.N() { // Student-t of 3 degrees of freedom, growing with |x1|
		chi := math.Pow(rng.NormFloat64(), 2) + math.Pow(rng.NormFloat64(), 2) + math.Pow(rng.NormFloat64(),
			2)
		uneven.Columns[0].Y[i] += 0.3 * math.Abs(uneven.X.At(i, 0)) * rng.NormFloat64() / math.Sqrt(chi/3)
	}
	const splits = 3
	levels, total := []float64{0.8, 0.9, 0.95}, [3]float64{}
	for name, set := range map[string]*dataset.Set{"boston": load(t, "boston"),
		"waves": load(t, "synthetic:waves,n=1000,seed=7"), "uneven noise": uneven} {
		var held, wide [3][2]float64 // shares, with plain and scaled residuals
		for split := range splits {
			order := rand.New(rand.NewPCG(uint64(split), 5)).Perm(set.N())
			train, test := set.Subset(order[:250]), set.Subset(order[250:]).Head(250)
			spec := model.NewSpec(train, loss.Square{Noise: 0.1 * stat.Variance(train.Targets(0), nil)})
			spec.Kernel.Gamma = 0.3 / float64(train.D())
			m, in := build(t, spec), &dataset.Inputs{X: test.X}
			s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
			order = make([]int, test.N())
			floats.Argsort(slices.Clone(testutil.Must(At(m, s, in, nil))(t).Variance), order)
			for l, level := range levels {
				for k, unit := range []Residuals{PlainResiduals, ScaledResiduals} {
					intervals := testutil.Must(ObservationIntervals(m, s, in, level, unit))(t)
					for rank, p := range order {
						if y := test.Targets(0)[p] - m.Mean; intervals[p].Low <= y && y <= intervals[p].High {
							held[l][k]++
							if 3*rank >= 2*test.N() {
								wide[l][k]++
							}
						}
					}
				}
			}
		}
		for l, level := range levels {
			off := held[l][0]/(250*splits) - level
			if total[l] += off / 3; math.Abs(off) > 0.06 {
				t.Errorf("%s: off by %.3f at level %v", name, off, level)
			}
		}
		if wide[1][1] < wide[1][0] {
			t.Errorf("%s: scaled residuals hold less where predictions vary most", name)
		}
	}
	for l, off := range total {
		if math.Abs(off) > 0.035 {
			t.Errorf("level %v: off by %.3f on average", levels[l], off)
		}
	}
}

// TestIntervalsRetrained: where inputs are merged, the theory's intervals are the ones of 4000 retrainings.
// The ends are quantiles of what is known within the theory's own accuracy, a few percent of the spread of
// residuals, which is a third of the width. With a fold for every example the interval is the jackknife+ of
// exact leave-one-out fits, which are made here one by one. The theory takes other examples as absent with
// probability 1/n too, which moves an end by far less than a residual's typical distance to the next.
func TestIntervalsRetrained(t *testing.T) {
	for name, c := range map[string]struct {
		spec             model.Spec
		fresh            string
		scheme           resample.Scheme
		resamples, units int
		level, allowed   float64
	}{
		"merged": {grid(t, 120), "synthetic:grid,n=30,d=2,seed=9", bootstrap, 4000, 2, 0.9, 0.04},
		"jackknife+": {model.Spec{Set: load(t, "synthetic:waves,n=60,d=2,noise=0.3"),
			Kernel: kernel.Spec{Gamma: 0.3}, Loss: loss.Square{Noise: 0.1}},
			"synthetic:waves,n=90,d=2,noise=0.3", resample.KFold{Folds: 60, N: 60}, 60, 1, 0.8, 0.05},
	} {
		m, in := build(t, c.spec), &dataset.Inputs{X: load(t, c.fresh).X}
		s := testutil.Must(m.Solve(t.Context(), c.scheme, solver.Settings{}))(t)
		var kept Replicates
		testutil.Must(model.Retrain(t.Context(), m, model.Single, c.scheme,
			model.RetrainSettings{Cross: testutil.Must(m.CrossAll(in))(t),
				Settings: fits.Settings{Resamples: c.resamples, OnFit: kept.Add}}))(t)
		for _, unit := range []Residuals{PlainResiduals, ScaledResiduals}[:c.units] {
			theory := testutil.Must(ObservationIntervals(m, s, in, c.level, unit))(t)
			retrained := testutil.Must(ReplicateIntervals(m, &kept, c.level, unit))(t)
			for p, i := range theory {
				r := retrained[p]
				if math.Max(math.Abs(i.Low-r.Low), math.Abs(i.High-r.High)) > c.allowed*(r.High-r.Low) {
					t.Errorf("%s, unit %s, input %d: %v by the theory, %v retrained", name, unit, p, i, r)
				}
			}
		}
	}
}

// TestObservationRefusals: a level outside (0, 1) is bad input; where the examples are too few for one, the
// intervals are infinite.
func TestObservationRefusals(t *testing.T) {
	set := load(t, "synthetic:waves,n=12,d=2")
	m := build(t, model.Spec{Set: set, Kernel: kernel.Spec{Gamma: 0.3}, Loss: loss.Square{Noise: 0.1}})
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	in := &dataset.Inputs{X: set.X}
	for _, level := range []float64{0, 1, -0.5, math.NaN()} {
		_, err := ObservationIntervals(m, s, in, level, PlainResiduals)
		if !errors.Is(err, model.ErrInput) {
			t.Errorf("level %v: %v", level, err)
		}
	}
	if _, err := ReplicateIntervals(m, &Replicates{}, 0.5, PlainResiduals); !errors.Is(
		err, model.ErrInput) {
		t.Errorf("no resamples: %v", err)
	}
	for level, infinite := range map[float64]bool{0.9: false, 0.95: true} {
		i := testutil.Must(ObservationIntervals(m, s, in, level, ScaledResiduals))(t)[0]
		if math.IsInf(i.High, 1) != infinite || math.IsInf(i.Low, -1) != infinite {
			t.Errorf("level %v: %v", level, i)
		}
	}
}

// TestProbabilities: log loss and Brier score for new examples, on average over sets, are no worse than those
// of one logistic curve of the fields without each of five folds for the model trained on all data (svm-train
// -b 1).
func TestProbabilities(t *testing.T) {
	var logLoss, brier [2]float64
	for _, name := range []string{"pima", "crabs", "wisconsin", "synthetic:rings,n=600,d=3"} {
		set := load(t, name)
		order, most := rand.New(rand.NewPCG(0, 5)).Perm(set.N()), min(set.N()*2/3, 250)
		drawn, fresh := set.Subset(order[:most]), set.Subset(order[most:])
		study := ask(t, model.Spec{Set: drawn, Standardize: true, Loss: loss.Hinge{C: 1},
			Kernel: kernel.Spec{Gamma: 1 / float64(set.D())}})
		m, in := study.Model, &dataset.Inputs{X: fresh.X}
		s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
		p := testutil.Must(ProbabilitiesOf(m, s))(t)
		ours := testutil.Must(p.AtInputs(m, s, in, testutil.Must(At(m, s, in, nil))(t)))(t)
		folds := testutil.Must(study.CrossValidate(t.Context(), Validation{
			Design: resample.Design{N: drawn.N()}, Folds: 5}))(t)
		curve := testutil.Must(calibration.FitLogistic(folds.Points.Mean, m.Y, nil))(t)
		pooled := testutil.Must(testutil.Must(Train(t.Context(), m))(t).Predict(in))(t)
		for i, f := range pooled {
			pooled[i] = curve.Probability(f)
		}
		for k, probabilities := range [][]float64{ours, pooled} {
			l, b := calibration.Judge(probabilities, fresh.Targets(0), nil)
			logLoss[k], brier[k] = logLoss[k]+l/4, brier[k]+b/4
		}
	}
	if logLoss[0] > logLoss[1] || brier[0] > brier[1] {
		t.Errorf("log loss %v and Brier score %v, with those of refitting", logLoss, brier)
	}
}

// TestPosteriorProbabilities: at a training input the posterior's variance is chi of the engine, and E Phi(f)
// over a normal f is Phi(m/(1+v)^1/2); of a left-out example the variance is its cavity's.
func TestPosteriorProbabilities(t *testing.T) {
	set := load(t, "synthetic:blobs,n=40,d=2")
	m := build(t, model.Spec{Set: set, Loss: loss.Probit{}, Kernel: kernel.Spec{Gamma: 0.5, Amplitude: 4},
		Standardize: true})
	s := testutil.Must(m.Solve(t.Context(), bootstrap, solver.Settings{}))(t)
	p, err := ProbabilitiesOf(m, s)
	if err != nil || p.Method != "posterior" {
		t.Fatal(p, err)
	}
	in := &dataset.Inputs{X: set.X}
	points := testutil.Must(At(m, s, in, nil))(t)
	got := testutil.Must(p.AtInputs(m, s, in, points))(t)
	engine := testutil.Must(s.Engine())(t)
	chi, _ := engine.Diag()
	expect := func(mean, variance float64) float64 { return math.Erfc(-mean/math.Sqrt(2*(1+variance))) / 2 }
	for i, site := range m.Site {
		// moments of the table: 1e-9, and of the solve
		if want := expect(s.Mean[site], s.Var[site]+chi[site]); math.Abs(got[i]-want) > 1e-7 {
			t.Errorf("example %d: %v, want %v", i+1, got[i], want)
		}
		cavity := s.Cavity[site]
		if want := expect(cavity.Mean, cavity.Var+1/cavity.C); math.Abs(p.LeftOut[i]-want) > 1e-7 {
			t.Errorf("left-out example %d: %v, want %v", i+1, p.LeftOut[i], want)
		}
	}
}

// TestPairedCoverage: the interval of the corrected jackknife for the difference of two models' left-out
// errors holds its mean over data sets in 95% of these. Over 100 sets the share has a standard error of
// 0.022, of which three are allowed. With BOOTBENCH_SURVEY it prints the table of doc/predictions.md, over
// 400 sets, beside Student's interval over examples.
func TestPairedCoverage(t *testing.T) {
	survey := os.Getenv("BOOTBENCH_SURVEY") != ""
	draws := 100
	if survey {
		draws = 400
	}
	gp := func(gamma, noise float64) model.Spec {
		return model.Spec{Kernel: kernel.Spec{Gamma: gamma, Amplitude: 25}, Loss: loss.Square{Noise: noise}}
	}
	svm := func(gamma, c float64) model.Spec {
		return model.Spec{Kernel: kernel.Spec{Gamma: gamma}, Loss: loss.Hinge{C: c}}
	}
	for _, c := range []struct {
		set  string
		n    int
		name string
		a, b model.Spec
	}{
		{"friedman1", 100, "gamma 0.05, 0.1", gp(0.05, 1), gp(0.1, 1)},
		{"friedman1", 100, "noise 1, 3", gp(0.05, 1), gp(0.05, 3)},
		{"waves", 100, "gamma 0.5, 2", gp(0.5, 0.1), gp(2, 0.1)},
		{"blobs,d=4,noise=1.2", 100, "gamma 0.1, 1", svm(0.1, 1), svm(1, 1)},
		{"rings,d=3", 100, "C 1, 10", svm(0.3, 1), svm(0.3, 10)},
		{"friedman1", 30, "gamma 0.05, 0.1", gp(0.05, 1), gp(0.1, 1)},
		{"blobs,d=4,noise=1.2", 30, "gamma 0.1, 1", svm(0.1, 1), svm(1, 1)},
	} {
		if !survey && c.n > 30 {
			continue
		}
		var difference []float64
		var plain, infinitesimal []*report.Difference
		pool := load(t, fmt.Sprintf("synthetic:%s,n=%d", c.set, c.n*draws))
		for draw := range draws {
			set := pool.Subset(every(1, c.n*(draw+1))[c.n*draw:])
			var errors [2]report.Examples
			for k, spec := range []model.Spec{c.a, c.b} {
				spec.Set, spec.Standardize, spec.NormalizeTarget = set, true, set.AreNumbers()
				study, err := ask(t, spec), error(nil)
				errors[k], _, _, err = study.LeftOut(t.Context(),
					Question{Scheme: bootstrap, Theory: Yes}, true)
				testutil.Check(t, err)
			}
			p := calibration.Compare(report.Examples{Each: errors[0].Each},
				report.Examples{Each: errors[1].Each}, 0.95)
			difference, plain = append(difference, float64(p.Value)), append(plain, p)
			infinitesimal = append(infinitesimal, calibration.Compare(errors[0], errors[1], 0.95))
		}
		mean, sd := stat.MeanStdDev(difference, nil)
		held := func(all []*report.Difference) (share, se float64) {
			for _, p := range all {
				se += float64(p.StandardError) / float64(draws)
				if float64(p.Low) <= mean && mean <= float64(p.High) {
					share += 1 / float64(draws)
				}
			}
			return share, se
		}
		byExamples, se := held(plain)
		share, infinitesimalSE := held(infinitesimal)
		t.Logf("%s, n = %d, %s | %.3g | %.3g | %.3g | %.3f | %.3g | %.3f |", c.set, c.n, c.name, mean, sd, se,
			byExamples, infinitesimalSE, share)
		if share < 0.95-3*math.Sqrt(0.95*0.05/float64(draws)) {
			t.Errorf("the interval holds the mean difference in %v", share)
		}
	}
}

// TestCertain: where every resample is the whole set, the mean is the fit, also at new inputs, nothing
// varies, and a site's cavity is what second order says of leaving it out, here by elimination
// among the other sites: 1/c = K_ii - K_iR (K_RR + 1/l”)^-1 K_Ri, m_c = f - a/c, with l” infinite
// at bends. There d grows up to 1e14/K_ii, and rounding of that moves predictions at new inputs by 1e-4.
func TestCertain(t *testing.T) {
	labels, regression := load(t, "synthetic:checker,n=60"), load(t, "synthetic:friedman1,n=60")
	for name, c := range map[string]struct {
		set    *dataset.Set
		loss   loss.Loss
		second func(f, y float64) float64 // l'' where it is one
		cost   float64                    // of a margin loss
	}{
		"hard":  {labels, loss.HardMargin{}, nil, math.Inf(1)},
		"hinge": {labels, loss.Hinge{C: 10}, nil, 10},
		"logistic": {labels, loss.Logistic{C: 100}, func(f, _ float64) float64 {
			return 50 / (1 + math.Cosh(f))
		}, 0},
		"huber": {regression, loss.Huber{C: 10, Epsilon: 1}, func(f, y float64) float64 {
			if math.Abs(f-y) > 1 {
				return 0
			}
			return 10
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := build(t, model.Spec{Set: c.set, Loss: c.loss, Kernel: kernel.Spec{Gamma: 1},
				Standardize: true})
			n := c.set.N()
			s := testutil.Must(m.Solve(t.Context(), resample.Subsample{Size: n, N: n}, solver.Settings{}))(t)
			if s.Status != solver.Converged {
				t.Fatal(s.Status)
			}
			if c.set == labels {
				p := testutil.Must(ProbabilitiesOf(m, s))(t)
				if floats.HasNaN(p.LeftOut) {
					t.Errorf("probabilities %v", p.LeftOut)
				}
			}
			fit := testutil.Must(m.Fit(t.Context(), 1e-9))(t)
			bend := make([]float64, n) // 1/l''
			for i, a := range fit.Weight {
				y := c.set.Targets(0)[i]
				bend[i] = math.Inf(1)
				if c.second != nil {
					bend[i] = 1 / c.second(fit.F[i], y)
				} else if a *= y; a > 1e-7 && a < c.cost-1e-7 {
					bend[i] = 0
				}
			}
			at := testutil.Must(At(m, s, &dataset.Inputs{X: c.set.X}, nil))(t)
			for i, f := range fit.F {
				if math.Abs(s.Mean[i]-f) > 1e-6 || s.Var[i] > 1e-9 || math.Abs(at.Mean[i]-f) > 1e-3 ||
					math.Abs(at.Variance[i]) > 1e-9 {
					t.Fatalf("site %d: mean %g, as a new input %g, variances %g, %g; the fit is %g", i,
						s.Mean[i], at.Mean[i], s.Var[i], at.Variance[i], f)
				}
				precision := 1 / conditional(m.Gram(), bend, i)
				mean := f - fit.Weight[i]/precision
				if math.Abs(s.Cavity[i].Mean-mean) > 1e-4*(1+math.Abs(mean)) ||
					math.Abs(s.Cavity[i].C/precision-1) > 1e-3 || s.Cavity[i].Var > 1e-9 {
					t.Errorf("site %d: cavity %+v, want precision %g, mean %g", i, s.Cavity[i], precision,
						mean)
				}
			}
		})
	}
}

// conditional is the variance of site i given observations of the others with noise, infinite for none.
func conditional(k *linalg.Sym, noise []float64, i int) float64 {
	sites := []int{i}
	for j, v := range noise {
		if j != i && !math.IsInf(v, 1) {
			sites = append(sites, j)
		}
	}
	a, inverse := mat.NewSymDense(len(sites), nil), mat.SymDense{}
	for p, j := range sites {
		for q, l := range sites {
			a.SetSym(p, q, k.At(j, l))
		}
		if p > 0 {
			a.SetSym(p, p, k.At(j, j)+noise[j])
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) || factor.InverseTo(&inverse) != nil {
		return math.NaN()
	}
	return 1 / inverse.At(0, 0)
}
