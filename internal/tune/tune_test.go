package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
	"bootbench/solver/adjoint"
)

func load(t *testing.T, name string) *dataset.Set {
	t.Helper()
	return testutil.Must(dataset.Load(name, dataset.Options{}))(t)
}

// regression is the problem of a Gaussian process with one length scale.
func regression(t *testing.T, name string, by By) Problem {
	spec := model.Spec{Set: load(t, name), Standardize: true, NormalizeTarget: true,
		Loss: loss.Square{Noise: 1}}
	return Problem{Spec: spec, Over: []Axis{{Name: "gamma"}, {Name: "noise"}}, By: by}
}

func labels(t *testing.T, name string) Problem {
	return Problem{Spec: model.Spec{Set: load(t, name), Standardize: true, Loss: loss.Hinge{C: 3}},
		Over: []Axis{{Name: "gamma"}, {Name: "C"}}}
}

// TestRun: no model of a grid around it is better than the one that was chosen, except by
// what the descent's end leaves, by any objective and for a loss of labels; its parts are
// what they say, and it is the same every time.
func TestRun(t *testing.T) {
	const wide, near = 1, 0.2 // leave-one-out of this loss has another, better place further off
	for name, c := range map[string]struct {
		Problem
		reach float64
	}{
		".632+":         {regression(t, "synthetic:friedman1,n=50", Plus632), wide},
		"left-out":      {regression(t, "synthetic:friedman1,n=50", LeftOut), wide},
		"leave-one-out": {regression(t, "synthetic:friedman1,n=50", LeaveOneOut), wide},
		"evidence":      {regression(t, "synthetic:friedman1,n=50", Evidence), wide},
		"hinge":         {labels(t, "synthetic:blobs,n=60"), wide},
		"leave-one-out, huber": {Problem{Spec: model.Spec{Set: load(t, "synthetic:friedman1,n=30"),
			Standardize: true, NormalizeTarget: true, Loss: loss.Huber{C: 1, Epsilon: 2}},
			Over: []Axis{{Name: "gamma"}},
			By:   LeaveOneOut}, near},
		"length scale, matern": {Problem{Spec: model.Spec{Set: load(t, "synthetic:friedman1,n=30"),
			NormalizeTarget: true, Loss: loss.Square{Noise: 1}, Kernel: kernel.Spec{Kind: kernel.Matern52,
				LengthScale: []float64{1}}}, Over: []Axis{{Name: "length-scale"}, {Name: "constant"}}}, wide},
	} {
		p := c.Problem
		r, err := Run(t.Context(), p, Settings{})
		if err != nil {
			t.Fatal(name, err)
		}
		grid := 1
		for _, length := range testutil.Must(newSearch(p, Settings{}))(t).lengths {
			grid *= length
		}
		if r.Failures > 0 || r.Cancelled || !(r.RunnerUp >= 0) ||
			slices.ContainsFunc(r.Path[:grid], func(e Evaluation) bool { return e.Value < r.Value }) {
			t.Errorf("%s: %+v", name, r)
		}
		q := p
		testutil.Check(t, q.complete())
		j := &judge{problem: &q, tolerance: 1e-5}
		for a := range 4 {
			for b := range 4 {
				spec := r.Spec
				for k, h := range r.Over {
					step := c.reach * (float64([]int{a, b}[k])/1.5 - 1)
					testutil.Check(t, h.Set(&spec, h.Value(&r.Spec)*math.Exp(step)))
				}
				other := testutil.Must(j.value(t.Context(), spec))(t)
				left := 0.005 // by the descent's end
				if name == "hinge" {
					left *= sooner
				}
				if other.value < r.Value-left*math.Abs(r.Value) {
					t.Errorf("%s: %g at %v, chosen %g at %v", name, other.value, values(r.Over, &spec),
						r.Value, values(r.Over, &r.Spec))
				}
			}
		}
		again, err := Run(t.Context(), p, Settings{})
		if err != nil || again.Value != r.Value || len(again.Path) != len(r.Path) {
			t.Errorf("%s: %v: again %g after %d models, before %g after %d", name, err, again.Value,
				len(again.Path), r.Value, len(r.Path))
		}
	}
}

func values(over []model.Hyperparameter, spec *model.Spec) (all []float64) {
	for _, h := range over {
		all = append(all, h.Value(spec))
	}
	return all
}

// TestPart: the models of a large set are judged on a part of it, the grid's on a smaller one.
func TestPart(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=451", Evidence)
	for rows, want := range map[int][2]int{0: {300, 451}, 200: {120, 200}, 700: {420, 451}} {
		p.Rows = rows
		r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
		got := [2]int{r.Path[0].Examples, r.Path[len(r.Path)-1].Examples}
		if got != want || r.Spec.Set.N() != 451 {
			t.Errorf("at most %d rows: the grid and the descent on %d", rows, got)
		}
	}
}

// TestStops: a search that is cancelled keeps the best so far; values on a bound are named.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	least := math.Inf(1)
	r, err := Run(ctx, regression(t, "synthetic:friedman1,n=40", Plus632),
		Settings{Progress: func(e Evaluation, best float64) {
			if least = math.Min(least, e.Value); best != least {
				t.Errorf("best %g, want %g", best, least)
			}
			if least < 18 {
				cancel()
			}
		}})
	if err != nil || !r.Cancelled || r.Value != least {
		t.Errorf("cancelled: %v, %+v, best %g", err, r, least)
	}
	p := regression(t, "synthetic:friedman1,n=40", LeaveOneOut)
	p.Over[1] = Axis{Name: "noise", From: 20, To: 30}
	if r, err = Run(t.Context(), p, Settings{}); err != nil || len(r.Bounds) != 1 ||
		!strings.Contains(r.Bounds[0].Text, "noise is on its lower bound 20") {
		t.Errorf("bounds: %v, %v", err, r.Bounds)
	}
}

// TestFailures: a model that cannot be judged is counted and shortens the step; where none can
// be built, the reason is the answer.
func TestFailures(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=20", Plus632)
	s := testutil.Must(newSearch(p, Settings{}))(t)
	d := &descent{search: s, ctx: t.Context(), spec: s.problem.Spec, unit: 1,
		judge: &judge{problem: &s.problem, tolerance: tolerance}}
	d.spec.MaxBytes = 1
	if v := d.value([]float64{0, 0}); !math.IsInf(v, 1) || s.result.Failures != 1 ||
		!strings.Contains(s.result.Path[0].Failure, "not enough memory") {
		t.Errorf("%g, %+v", v, s.result)
	}
	d.spec.MaxBytes = 0
	if v := d.value([]float64{0, 0}); math.IsInf(v, 1) || s.result.Failures != 1 || d.least != v {
		t.Errorf("%g, %+v", v, s.result)
	}
	p.Spec.MaxBytes = 1
	if _, err := Run(t.Context(), p, Settings{}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(),
		"not enough memory") {
		t.Errorf("none: %v", err)
	}
}

// TestBadProblems: what has no answer says so before any work.
func TestBadProblems(t *testing.T) {
	numbers, crabs := regression(t, "boston", Plus632).Spec, labels(t, "crabs").Spec
	noise, biased := []Axis{{Name: "noise"}}, numbers
	biased.Bias = true
	for what, p := range map[string]Problem{
		"no C in a model":         {Spec: numbers, Over: []Axis{{Name: "C"}}},
		"between 2 and 1":         {Spec: numbers, Over: []Axis{{Name: "noise", From: 2, To: 1}}},
		"named twice":             {Spec: numbers, Over: []Axis{{Name: "noise"}, {Name: "noise"}}},
		"evidence is for":         {Spec: crabs, Over: []Axis{{Name: "C"}}, By: Evidence},
		"no smooth function":      {Spec: crabs, Over: []Axis{{Name: "C"}}, By: LeaveOneOut},
		"choose by cv":            {Spec: numbers, Over: noise, Test: loss.Absolute{}, By: Plus632},
		"of the test loss square": {Spec: numbers, Over: noise, Test: loss.Absolute{}, By: LeaveOneOut},
		"models without bias":     {Spec: biased, Over: noise, By: LeaveOneOut},
		"too few examples":        {Over: noise},
	} {
		if _, err := Run(t.Context(), p, Settings{}); !errors.Is(err, model.ErrInput) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestPartsOfSearch: a search that takes over any of its parts ends with the same model and path as
// the one that did them all, to the last bit, and does not judge them.
func TestPartsOfSearch(t *testing.T) {
	for name, p := range map[string]Problem{"all data": regression(t, "synthetic:friedman1,n=40", Plus632),
		"part of them": regression(t, "synthetic:friedman1,n=300", Plus632)} {
		var names []string
		known := map[string]Part{}
		whole := testutil.Must(Run(t.Context(), p, Settings{Do: func(name string,
			compute func() (Part, error)) (Part, error) {
			part, err := compute()
			names = append(names, name)
			known[name] = Part{slices.Clone(part.Path), part.Failures}
			return part, err
		}}))(t)
		plain := testutil.Must(Run(t.Context(), p, Settings{}))(t)
		if !reflect.DeepEqual(whole.Path, plain.Path) || len(names) < 2 {
			t.Errorf("%s: parts %v, another path", name, names)
		}
		for size := range len(names) + 1 {
			if testing.Short() && size != len(names)/2 {
				continue // the run without -short has it
			}
			judged := 0
			r := testutil.Must(Run(t.Context(), p, Settings{
				Progress: func(Evaluation, float64) { judged++ },
				Do: func(name string, compute func() (Part, error)) (Part, error) {
					if slices.Contains(names[:size], name) {
						return known[name], nil
					}
					return compute()
				}}))(t)
			for _, name := range names[:size] {
				judged += len(known[name].Path)
			}
			if !reflect.DeepEqual(r.Path, whole.Path) || r.Value != whole.Value || judged != len(r.Path) {
				t.Errorf("%s, %d parts known: %d models to %v, %d to %v", name, size, len(r.Path), r.Value,
					len(whole.Path), whole.Value)
			}
		}
	}
}

// TestGiven: what is not named stays; a search of a given value begins there; a grid keeps to its bounds.
func TestGiven(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=60", LeftOut)
	p.Over = []Axis{{Name: "gamma"}}
	r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	if r.Spec.Loss != p.Spec.Loss || r.Spec.Kernel.Gamma == 0 || len(r.Path[0].Values) != 1 {
		t.Errorf("given noise: %+v", r.Spec)
	}
	p.Spec.Kernel.Gamma, p.Over = 0.02, []Axis{{Name: "gamma", Given: true}, {Name: "noise", From: 3, To: 4}}
	r = testutil.Must(Run(t.Context(), p, Settings{}))(t)
	if r.Path[0].Values[0] != 0.02 || r.Path[0].Values[1] < 3 || r.Path[0].Values[1] > 4 ||
		r.Spec.Kernel.Gamma == 0.02 {
		t.Errorf("from a given value: %v", r.Path[0])
	}
	p.Over = []Axis{}
	if r = testutil.Must(Run(t.Context(), p, Settings{}))(t); r.Spec.Kernel.Gamma != 0.02 ||
		r.String() != "" {
		t.Errorf("nothing to choose: %+v", r)
	}
	text := testutil.Must(Run(t.Context(), Problem{Spec: model.Spec{Set: load(t, "synthetic:text,n=120")}},
		Settings{}))(t)
	if _, hinge := text.Spec.Loss.(loss.Hinge); !hinge || !(text.Spec.Kernel.Gamma > 0.002) {
		t.Errorf("sparse lines: %+v", text.Spec)
	}
}

// TestBias: of classes on either side of a line far from the mean, a linear kernel is judged with the bias.
func TestBias(t *testing.T) {
	uneven := load(t, "synthetic:blobs,n=150,d=2,noise=1.5")
	for i := range uneven.N() {
		uneven.Columns[0].Y[i] = 0.5 + math.Copysign(0.5, uneven.X.At(i, 0)-1.5)
	}
	linear := model.NewSpec(uneven, nil)
	linear.Kernel.Kind = kernel.Linear
	chosen := testutil.Must(Run(t.Context(), Problem{Spec: linear}, Settings{}))(t)
	value := testutil.Must(Value(t.Context(), Problem{Spec: chosen.Spec}, 1e-6))(t)
	if !chosen.Spec.Bias || math.Abs(value-chosen.Value) > 1e-3 || value > 0.05 {
		t.Errorf("chosen by %v; with bias %v the left-out error is %v", chosen.Value, chosen.Spec.Bias, value)
	}
}

// TestGroups: with groups the objective is the error of models that are built and trained without whole
// groups, to 1e-8, and the search ends with the least of it.
func TestGroups(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=60", Folds)
	p.Spec.Standardize, p.Spec.NormalizeTarget = false, false
	p.Spec.Kernel = kernel.Spec{Kind: kernel.RBF, Gamma: 0.7, Amplitude: 3}
	set := p.Spec.Set
	set.Groups = make([]int, set.N())
	for i := range set.Groups {
		set.Groups[i] = i % 11
	}
	scheme := testutil.Must(resample.Design{N: set.N(), Group: set.Groups}.Of("kfold",
		resample.Options{Folds: 5}))(t)
	want, counts := 0.0, make([]float64, set.N())
	for fold := range 5 {
		scheme.Draw(0, fold, counts)
		var rest []int
		for i, c := range counts {
			if c > 0 {
				rest = append(rest, i)
			}
		}
		part := p.Spec
		part.Set = set.Subset(rest)
		m := testutil.Must(model.Build(t.Context(), part))(t)
		fit := testutil.Must(m.Fit(t.Context(), 0))(t)
		f := testutil.Must(testutil.Must(m.Predictor(&fit.Result))(t).Predict(set))(t)
		for i, c := range counts {
			if c == 0 {
				want += (f[i] - set.Targets(0)[i]) * (f[i] - set.Targets(0)[i]) / float64(set.N())
			}
		}
	}
	if got := testutil.Must(Value(context.Background(), p, 1e-6))(t); math.Abs(got/want-1) > 1e-8 {
		t.Errorf("error without whole groups %.12g, not %.12g", got, want)
	}
	r := testutil.Must(Run(context.Background(), p, Settings{}))(t)
	for _, e := range r.Path {
		if e.Value < r.Value {
			t.Errorf("%v has %g, the choice %g", e.Values, e.Value, r.Value)
		}
	}
	if !strings.Contains(r.String(), "whole groups") || len(r.Path) < 20 {
		t.Errorf("%d models %s", len(r.Path), r)
	}
}

// TestEachFeature: each feature has a length scale where half of the features are irrelevant, from few rows
// by the errors of rows that did not choose them, and not for a function of all features. The search with
// one for all judges as one without the choice, and errs more on new rows.
func TestEachFeature(t *testing.T) {
	for name, want := range map[string]int{"synthetic:friedman1,n=120": 10,
		"synthetic:friedman1,n=60,seed=5": 10, "synthetic:waves,n=60": 0} {
		p := Problem{Spec: model.NewSpec(load(t, name), nil)}
		one := testutil.Must(Run(t.Context(), p, Settings{}))(t)
		p.Scales = IfBetter
		r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
		if r.Alternative == nil || len(r.Spec.Kernel.LengthScale) != want {
			t.Fatalf("%s: %d length scales, not %d: %v", name, len(r.Spec.Kernel.LengthScale), want, r)
		}
		same, each := r, r.Alternative
		if want > 0 {
			same, each = each, same
			fresh := load(t, "synthetic:friedman1,n=500,seed=99")
			if own, other := errorOn(t, r.Spec, fresh), errorOn(t, same.Spec, fresh); own > 0.7*other {
				t.Errorf("%s: %v, error on new rows %g, with one length scale %g", name,
					r.Spec.Kernel.LengthScale, own, other)
			}
			_, better, known := byObjective(same, each)
			if better != (one.judgedOn() > 60) || known != better {
				t.Errorf("%s: better by the objective: %v, known %v", name, better, known)
			}
		}
		if same.Spec.Kernel.Gamma != one.Spec.Kernel.Gamma || same.Value != one.Value {
			t.Errorf("%s: gamma %g, not %g", name, same.Spec.Kernel.Gamma, one.Spec.Kernel.Gamma)
		}
		_, better, known := byObjective(same, each)
		if _, scales := r.Spec.Searched(); scales != (better || !known) {
			t.Errorf("%s: %v are chosen; better by the objective: %v, known %v", name, r.Spec.Chosen, better,
				known)
		}
		p.Scales = Either
		if e := testutil.Must(Run(t.Context(), p, Settings{}))(t); e.Undecided == known || e.Undecided &&
			(e.Value != same.Value || e.Alternative.Value != each.Value) {
			t.Errorf("%s: undecided %v, where the objective tells: %v", name, e.Undecided, known)
		}
	}
}

// TestUnits: with the targets s y, the features in other units, and a constant feature, the choice is the
// same model: equal widths, the parameters of the loss in proportion to their powers of s, and s^2 the error.
// Values are rounded to four digits, and scaling by powers of ten rounds the data.
func TestUnits(t *testing.T) {
	powers := map[string]float64{"noise": 2, "amplitude": 2, "epsilon": 1}
	for _, c := range []struct {
		set  string
		loss loss.Loss
		by   By
		c    float64 // power of C
	}{
		{"synthetic:friedman1,n=60", nil, Folds, 0}, {"synthetic:waves,n=40", nil, LeftOut, 0},
		{"synthetic:waves,n=60", nil, Evidence, 0},
		{"synthetic:friedman1,n=40", loss.EpsInsensitive{C: 1}, Folds, -1},
		{"synthetic:friedman1,n=40", loss.Huber{C: 1, Epsilon: 1}, Folds, -2},
	} {
		raw := load(t, c.set)
		choose := func(s, features float64) *Result {
			set := testutil.Must(dataset.New(mat.NewDense(raw.N(), raw.D()+1, nil), raw.Targets(0)))(t)
			for i := range raw.N() {
				copy(set.X.Row(i), raw.X.Row(i))
				set.X.Row(i)[raw.D()] = 7
				floats.Scale(features, set.X.Row(i))
			}
			floats.Scale(s, set.Columns[0].Y)
			p := Problem{Spec: model.NewSpec(set, c.loss), By: c.by}
			p.Scales = DefaultScales(&p.Spec)
			return testutil.Must(Run(t.Context(), p, Settings{}))(t)
		}
		one, scales := choose(1, 1), []float64{1e-9, 1e6}
		if powers["C"] = c.c; testing.Short() {
			scales = scales[:1]
		}
		for _, s := range scales {
			r := choose(s, 1/s)
			if len(r.Over) != len(one.Over) || c.by != Evidence && math.Abs(r.Value/one.Value/s/s-1) > 1e-3 {
				t.Fatalf("%s times %g: %v, %g; not %v, %g", c.set, s, r.Over, r.Value, one.Over, one.Value)
			}
			for k, h := range r.Over {
				got, want := h.Value(&r.Spec), h.Value(&one.Spec)*math.Pow(s, powers[h.Name])
				if math.Abs(got/want-1) > 1e-2 {
					t.Errorf("%s times %g: %v is %g, not %g", c.set, s, one.Over[k], got, want)
				}
			}
		}
	}
}

// TestTrains: the choice can be trained, also where the objective falls towards models whose trainings stall:
// for a product of two features by the tube with a bias.
func TestTrains(t *testing.T) {
	const n = 40
	rng := rand.New(rand.NewPCG(2, 1))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range y {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		y[i] = a*b + 0.3*rng.NormFloat64()
	}
	p := Problem{Spec: model.NewSpec(testutil.Must(dataset.New(x, y))(t), loss.EpsInsensitive{C: 1})}
	p.Spec.Bias, p.Scales = true, DefaultScales(&p.Spec)
	r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	fit := testutil.Must(testutil.Must(model.Build(t.Context(), r.Spec))(t).Fit(t.Context(),
		0))(t)
	if err := fit.Status.Err(); err != nil {
		t.Errorf("%v after %d failures: %v", r, r.Failures, err)
	}
}

// TestTargets: the value of a model for several targets is the mean over the values of each, scaled to one
// variance; a target that is a multiple of the first changes nothing.
func TestTargets(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=60", Folds)
	judgeOf := func(y []float64, further ...[]float64) float64 {
		set := *p.Spec.Set
		set.Columns = []dataset.Column{{Name: "y", Y: y}}
		for _, y := range further {
			set.Columns = append(set.Columns, dataset.Column{Name: "z", Y: y})
		}
		one := p
		one.Spec.Set, one.Spec.Kernel.Gamma = &set, 0.05
		testutil.Check(t, one.complete())
		return testutil.Must((&judge{problem: &one, tolerance: 1e-6}).value(t.Context(), one.Spec))(t).value
	}
	y, times, other := p.Spec.Set.Targets(0), make([]float64, 60), make([]float64, 60)
	for i, v := range y {
		times[i], other[i] = 1000*v+5, p.Spec.Set.X.Row(i)[0]
	}
	sd := func(y []float64) float64 { return math.Sqrt(stat.PopVariance(y, nil)) }
	scaled := make([]float64, 60)
	for i, v := range other {
		scaled[i] = v * sd(y) / sd(other)
	}
	alone, its := judgeOf(y), judgeOf(scaled)
	for name, c := range map[string][2]float64{"multiple": {judgeOf(y, times), alone},
		"other": {judgeOf(y, other, times), (2*alone + its) / 3}} {
		if math.Abs(c[0]/c[1]-1) > 1e-6 || math.Abs(its/alone-1) < 0.1 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}

// TestMeasure: a measure chooses the cell of the grid where it is best, by exact fits, and other objectives
// are refused.
func TestMeasure(t *testing.T) {
	p := Problem{Spec: model.NewSpec(load(t, "synthetic:blobs,n=60"), loss.Hinge{C: 1})}
	p.Spec.Measure.Name = calibration.ByAUC
	r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	least := math.Inf(1)
	for _, e := range r.Path {
		least = math.Min(least, e.Value)
	}
	if r.Value != least || !(r.Value > 0 && r.Value < 0.3) || len(r.Path) != 21 ||
		!strings.Contains(r.String(), "judged by auc") {
		t.Errorf("%v: %v, the least of %d is %v", r, r.Value, len(r.Path), least)
	}
	p.Spec = r.Spec
	if v := testutil.Must(Value(t.Context(), p, 0))(t); math.Abs(v-r.Value) > 0.02 {
		t.Errorf("1 - AUC %v, in the search %v", v, r.Value)
	}
	p.By = LeftOut
	if _, err := Run(t.Context(), p, Settings{}); !errors.Is(err, model.ErrInput) {
		t.Errorf("left-out error of the theory by a measure: %v", err)
	}
}

// TestDecision: several classes are judged by the error of their decision, which is 0 where they are apart,
// and about 4/5 where five are coins, of which each against the others errs 1/5.
func TestDecision(t *testing.T) {
	for _, c := range []struct{ spread, from, to float64 }{{0, 0, 0}, {1000, 0.65, 0.95}} {
		x, y, r := linalg.NewMatrix(100, 1), make([]float64, 100), rand.New(rand.NewPCG(1, 1))
		for i := range y {
			y[i] = float64(i % 5)
			x.Data[i] = y[i] + 0.1*r.NormFloat64() + c.spread*r.NormFloat64()
		}
		set := testutil.Must(dataset.New(x, y))(t)
		testutil.Check(t, set.Classify(""))
		p := Problem{Spec: model.NewSpec(set, loss.Hinge{C: 1})}
		v := testutil.Must(Value(t.Context(), p, 1e-3))(t)
		result := testutil.Must(Run(t.Context(), p, Settings{}))(t)
		if !(v >= c.from && v <= c.to) || !(result.Value >= c.from && result.Value <= c.to) {
			t.Errorf("error %v, of the choice %v, not from %v to %v", v, result.Value, c.from, c.to)
		}
	}
}

// TestClassWeights: balanced class weights choose as the balanced error of models that have them does, unless
// the weights are chosen, too.
func TestClassWeights(t *testing.T) {
	set := load(t, "synthetic:blobs,n=60")
	var rows []int // of one class a third
	for i, y := range set.Columns[0].Y {
		if y > 0 || i%3 == 0 {
			rows = append(rows, i)
		}
	}
	set = set.Subset(rows)
	p := Problem{Spec: model.NewSpec(set, loss.Hinge{C: 1, ClassWeights: loss.Balanced(set.Targets(0))})}
	r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	p.Spec.Measure.Name = calibration.ByBalanced
	by := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	if math.Abs(r.Value-by.Value) > 1e-12 || r.Spec.Loss != by.Spec.Loss || !(r.Value > 0) ||
		!strings.Contains(r.String(), "judged by class-weighted error") {
		t.Errorf("%v: %v %v, by the balanced error %v %v", r, r.Value, r.Spec.Loss, by.Value, by.Spec.Loss)
	}
	p.Spec.Measure.Name, p.Over = "", []Axis{{Name: "class-weight"}}
	if r = testutil.Must(Run(t.Context(), p, Settings{}))(t); strings.Contains(r.String(), "class-weighted") {
		t.Errorf("chosen weights: %v", r)
	}
}

// TestOneGroup: a choice on the rows of one group leaves out rows, and the unit of weights does not change
// it.
func TestOneGroup(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=60")
	set.Weights = make([]float64, 60)
	for i := range set.Weights {
		set.Weights[i] = float64(1 + i%3)
	}
	p := Problem{Spec: model.NewSpec(set, loss.Square{Noise: 1})}
	plain := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	const unit = 1e-12
	other := *set
	other.Groups, other.Weights = make([]int, 60), floats.ScaleTo(make([]float64, 60), unit, set.Weights)
	p.Spec.Set = &other
	r := testutil.Must(Run(t.Context(), p, Settings{}))(t)
	noise, gamma := r.Spec.Loss.(loss.Square).Noise/unit, r.Spec.Kernel.Gamma
	if want := plain.Spec.Loss.(loss.Square).Noise; math.Abs(noise/want-1) > 0.02 ||
		math.Abs(gamma/plain.Spec.Kernel.Gamma-1) > 0.02 { // where the search ends depends on rounding
		t.Errorf("noise %v, gamma %v; without a group and a unit %v, %v", noise, gamma, want,
			plain.Spec.Kernel.Gamma)
	}
}

// errorOn is the mean square error of a model of numbers, trained on its rows, on new ones.
func errorOn(t *testing.T, spec model.Spec, fresh *dataset.Set) float64 {
	t.Helper()
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	fit := testutil.Must(m.Fit(t.Context(), 0))(t)
	f := testutil.Must(testutil.Must(m.Predictor(&fit.Result))(t).Predict(fresh))(t)
	return math.Pow(floats.Distance(f, fresh.Targets(0), 2), 2) / float64(fresh.N())
}

// TestReconsider: a kernel that is too wide for more rows than chose it is narrowed, and errs less on rows
// that it has not seen; one that is narrow enough is kept, as is the one of labels, and a bound holds. Length
// scales that err less take the place of a single one, unless they are no alternative.
func TestReconsider(t *testing.T) {
	all := load(t, "synthetic:waves,n=2000,noise=0.05")
	var rest []int
	for i := 1500; i < all.N(); i++ {
		rest = append(rest, i)
	}
	fresh := all.Subset(rest)
	chosen := func(gamma float64) *Result {
		spec := model.NewSpec(all.Head(1500), loss.Square{Noise: 0.003})
		spec.Kernel.Gamma = gamma
		return &Result{Spec: spec, Over: []model.Hyperparameter{{Name: "gamma", Feature: -1}},
			spans: []span{{from: 0.001, to: 100}}}
	}
	again := func(r *Result, scales Scales) *Result {
		p := Problem{Rows: DefaultRows, Test: loss.SquareTest{}, Scales: scales}
		return reconsider(t.Context(), &p, r)
	}
	for gamma, want := range map[float64]bool{0.004: true, 5: false} {
		r := again(chosen(gamma), AsGiven)
		if got := r.Narrowed > 0; got != want || got != (r.Spec.Kernel.Gamma > gamma) {
			t.Errorf("gamma %v becomes %v, gain %v", gamma, r.Spec.Kernel.Gamma, r.Narrowed)
		}
		if want && !(errorOn(t, r.Spec, fresh) < errorOn(t, chosen(gamma).Spec, fresh)) {
			t.Error("the narrower kernel errs more")
		}
	}
	r := chosen(0.004)
	r.spans[0].to = 0.007
	if again(r, AsGiven); r.Spec.Kernel.Gamma != 0.004 || r.Narrowed != 0 {
		t.Errorf("gamma %v is beyond its bound", r.Spec.Kernel.Gamma)
	}
	r = chosen(0.004)
	r.Spec.Set, r.Spec.Loss = load(t, "synthetic:blobs,n=1500"), loss.Hinge{C: 1}
	if again(r, AsGiven); r.Narrowed != 0 {
		t.Error("the kernel of labels is narrowed")
	}
	for scales, want := range map[Scales]bool{IfBetter: true, Each: false} {
		r, each := chosen(5), chosen(0)
		each.Spec.Kernel.LengthScale, r.Alternative = slices.Repeat([]float64{1.5}, 4), each
		each.Over = testutil.Must(each.Spec.Hyperparameters("length-scale"))(t)
		each.spans = slices.Repeat(r.spans, 4)
		got := again(r, scales)
		_, is := got.Spec.Searched()
		if (got == each) != want || is != want ||
			want && (got.Alternative != r || !(got.Times > 1.1) || r.Alternative != nil) {
			t.Errorf("length scales %v, alternative %v times as high", got.Spec.Kernel.LengthScale, got.Times)
		}
	}
}

// TestGradient: the derivatives by all hyperparameters at once are the differences of
// models that are built and solved anew. Solves to 1e-10 leave 1e-8 in differences of steps
// 1e-3, whose own error is a millionth of the third derivative.
func TestGradient(t *testing.T) {
	set := load(t, "synthetic:friedman1,n=30")
	scales := make([]float64, set.D())
	for k := range scales {
		scales[k] = 3 + float64(k)/3
	}
	scaled := kernel.Spec{LengthScale: scales, Amplitude: 20, Constant: 3, Jitter: 0.1}
	labels := *set
	signs := make([]float64, set.N())
	for i, y := range set.Targets(0) {
		signs[i] = math.Copysign(1, y-14)
	}
	labels.Columns = []dataset.Column{{Y: signs}}
	testutil.Check(t, labels.Classify(""))
	for _, c := range []struct {
		spec model.Spec
		test loss.Test
		over []string
	}{
		{model.Spec{Set: set, Loss: loss.Square{Noise: 2}, Kernel: scaled, NormalizeTarget: true},
			loss.SquareTest{}, []string{"noise", "length-scale", "amplitude", "constant", "jitter"}},
		{model.Spec{Set: set, Loss: loss.EpsInsensitive{C: 0.5, Epsilon: 1},
			Kernel: kernel.Spec{Kind: kernel.Matern52,
				LengthScale: []float64{4}}, NormalizeTarget: true}, loss.SquareTest{},
			[]string{"epsilon", "C", "length-scale"}},
		{model.Spec{Set: &labels, Loss: loss.Hinge{C: 2}, Kernel: kernel.Spec{Kind: kernel.Matern32,
			Gamma: 0.1}}, loss.ZeroOne{}, []string{"gamma", "C"}},
		{model.Spec{Set: &labels, Loss: loss.Hinge{C: 2, ClassWeights: loss.ClassWeights{Negative: 0.7,
			Positive: 1.5}},
			Kernel: kernel.Spec{Gamma: 0.1}, Bias: true}, loss.ZeroOne{},
			[]string{"class-weight", "C", "gamma"}},
		{model.Spec{Set: &labels, Loss: loss.Logistic{C: 2}, Kernel: kernel.Spec{Gamma: 0.1}}, loss.ZeroOne{},
			[]string{"class-weight"}},
	} {
		c.spec.Standardize = true
		objective := adjoint.Objective{Criterion: adjoint.Err632Plus, Test: c.test}
		solved := func(spec model.Spec) (*model.Model, *solver.Solution) {
			m := testutil.Must(model.Build(t.Context(), spec))(t)
			s, err := m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{Tolerance: 1e-10})
			if err != nil || s.Status != solver.Converged {
				t.Fatal(err, s.Status)
			}
			return m, s
		}
		m, s := solved(c.spec)
		var over []model.Hyperparameter
		for _, name := range c.over {
			over = append(over, testutil.Must(m.Hyperparameters(name))(t)...)
		}
		gradient := testutil.Must(gradient(t.Context(), m, s, objective, over))(t)
		value := testutil.Must(objective.Value(s))(t)
		if len(gradient) != len(over) {
			t.Fatal(gradient)
		}
		for k, h := range over {
			if h.Feature > 1 {
				continue
			}
			at := func(step float64) float64 {
				moved := m.Spec
				testutil.Check(t, h.Set(&moved, h.Value(&m.Spec)*math.Exp(step)))
				_, s := solved(moved)
				v := testutil.Must(objective.Value(s))(t)
				return v
			}
			want := (at(1e-3) - at(-1e-3)) / 2e-3
			if math.Abs(gradient[k]-want) > 1e-5*(math.Abs(want)+0.1*value) {
				t.Errorf("%s by %v: %g, differences %g", c.spec.Loss.Name(), h, gradient[k], want)
			}
		}
		for _, name := range []string{"delta", "degree"} {
			if _, err := m.Hyperparameters(name); !errors.Is(err, model.ErrInput) {
				t.Errorf("%s: hyperparameter %s: %v", c.spec.Loss.Name(), name, err)
			}
		}
		_, gamma := m.Hyperparameters("gamma")
		if _, scale := m.Hyperparameters("length-scale"); gamma == nil && scale == nil {
			t.Errorf("%s: gamma beside a length scale", c.spec.Loss.Name())
		}
	}
}
