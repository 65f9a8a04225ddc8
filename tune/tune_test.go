package tune

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"bootbench/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/model"
	"bootbench/solver"
)

func load(t *testing.T, name string) *dataset.Set {
	t.Helper()
	set := need.One(dataset.Load(name, dataset.Options{}))(t)
	return set
}

// regression is the problem of a Gaussian process with one length scale.
func regression(t *testing.T, name string, by By) Problem {
	spec := model.Spec{Set: load(t, name), Standardize: true, NormalizeTarget: true, Loss: loss.Square{Noise: 1}}
	return Problem{Spec: spec, Over: []Axis{{Name: "gamma"}, {Name: "noise"}}, By: by}
}

func labels(t *testing.T, name string) Problem {
	return Problem{Spec: model.Spec{Set: load(t, name), Standardize: true, Loss: loss.Hinge{C: 3}},
		Over: []Axis{{Name: "gamma"}, {Name: "C"}}}
}

// TestRun: no model of a grid around it is better than the one that was chosen, but for
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
			Standardize: true, NormalizeTarget: true, Loss: loss.Huber{C: 1, Delta: 2}}, Over: []Axis{{Name: "gamma"}},
			By: LeaveOneOut}, near},
		"length scale, matern": {Problem{Spec: model.Spec{Set: load(t, "synthetic:friedman1,n=30"),
			NormalizeTarget: true, Loss: loss.Square{Noise: 1}, Kernel: kernel.Spec{Kind: kernel.Matern52,
				LengthScale: []float64{1}}}, Over: []Axis{{Name: "length-scale"}, {Name: "constant"}}}, wide},
	} {
		p := c.Problem
		r, err := Run(t.Context(), p, Settings{})
		if err != nil {
			t.Fatal(name, err)
		}
		if len(r.Ends) != DefaultStarts || r.Failures > 0 || r.Stopped != "" ||
			r.Solution.Status != solver.Converged || !(r.StandardError > 0) {
			t.Errorf("%s: %+v", name, r)
		}
		if left, _ := r.Solution.LeftOut(mustComplete(t, p).Test); left != r.TestError {
			t.Errorf("%s: left-out error %g, want %g", name, r.TestError, left)
		}
		q := mustComplete(t, p)
		j := &judge{problem: &q, tolerance: 1e-5}
		for a := range 4 {
			for b := range 4 {
				spec := r.Spec
				for k, h := range r.Over {
					step := c.reach * (float64([]int{a, b}[k])/1.5 - 1)
					if err := h.Set(&spec, h.Value(&r.Spec)*math.Exp(step)); err != nil {
						t.Fatal(err)
					}
				}
				other := need.One(j.value(t.Context(), spec))(t)
				if other.value < r.Value-0.005*math.Abs(r.Value) {
					t.Errorf("%s: %g at %v, chosen %g at %v", name, other.value, values(r.Over, &spec), r.Value,
						values(r.Over, &r.Spec))
				}
			}
		}
		again, err := Run(t.Context(), p, Settings{})
		if err != nil || again.Value != r.Value || len(again.Path) != len(r.Path) {
			t.Errorf("%s: %v: again %g after %d models, before %g after %d", name, err, again.Value, len(again.Path),
				r.Value, len(r.Path))
		}
	}
}

func biased(spec model.Spec) model.Spec {
	spec.Bias = true
	return spec
}

func lowRank(spec model.Spec) model.Spec {
	spec.Storage = model.LowRank
	return spec
}

func mustComplete(t *testing.T, p Problem) Problem {
	t.Helper()
	if err := p.complete(); err != nil {
		t.Fatal(err)
	}
	return p
}

func values(over []model.Hyperparameter, spec *model.Spec) (all []float64) {
	for _, h := range over {
		all = append(all, h.Value(spec))
	}
	return all
}

// TestRelevance: friedman1 depends on its first five features alone, the fourth and fifth
// linearly: the others get longer length scales than the first three, and the model is better
// than one of equal length scales.
func TestRelevance(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=120", Plus632)
	equal := need.One(Run(t.Context(), p, Settings{Starts: 1}))(t)
	for range p.Spec.Set.D() {
		p.Spec.Kernel.LengthScale = append(p.Spec.Kernel.LengthScale, Start(&p.Spec, "length-scale"))
	}
	p.Over[0].Name = "length-scale"
	r := need.One(Run(t.Context(), p, Settings{Starts: 1}))(t)
	scales := r.Spec.Kernel.LengthScale
	if !(slices.Max(scales[:3]) < slices.Min(scales[5:])) || !(r.TestError < 0.7*equal.TestError) {
		t.Errorf("length scales %.3g, left-out error %g, of equal ones %g", scales, r.TestError, equal.TestError)
	}
}

// TestPart: a large set is searched on a part of it first.
func TestPart(t *testing.T) {
	r, err := Run(t.Context(), regression(t, "synthetic:friedman1,n=451", Evidence), Settings{Starts: 2})
	if err != nil {
		t.Fatal(err)
	}
	last := r.Path[len(r.Path)-1]
	if r.StartExamples != startExamples || r.Path[0].Examples != screenExamples || r.Path[0].Start != 1 ||
		last.Examples != 451 || last.Start != 0 {
		t.Errorf("on %d, first %+v, last %+v", r.StartExamples, r.Path[0], last)
	}
	parts := slices.IndexFunc(r.Path, func(e Evaluation) bool { return e.Examples == 451 })
	if r, err = Run(t.Context(), regression(t, "synthetic:friedman1,n=451", Evidence),
		Settings{Starts: 2, MaxEvaluations: parts}); err != nil || len(r.Path) != parts {
		t.Errorf("stopped before the first model on all data: %d evaluations, %v", len(r.Path), err)
	}
}

// TestStops: a search that is cancelled, or out of its budget, keeps the best so far; values
// on a bound are told.
func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	least := math.Inf(1)
	r, err := Run(ctx, regression(t, "synthetic:friedman1,n=40", Plus632),
		Settings{Progress: func(e Evaluation, best float64) {
			if least = math.Min(least, e.Value); best != least {
				t.Errorf("best %g, want %g", best, least)
			}
			if e.Start == 1 && e.Value < least+1 && least < 18 {
				cancel()
			}
		}})
	if err != nil || r.Stopped != "cancelled" || r.Solution != nil || r.Value != least {
		t.Errorf("cancelled: %v, %+v, best %g", err, r, least)
	}
	p := regression(t, "synthetic:friedman1,n=40", LeaveOneOut)
	if r, err = Run(t.Context(), p, Settings{MaxEvaluations: 4}); err != nil || r.Stopped != "evaluations" ||
		len(r.Path) != 4 || r.Solution == nil {
		t.Errorf("evaluations: %v, %+v", err, r)
	}
	for budget := 20 * time.Millisecond; ; budget *= 4 {
		judged := 0
		r, err = Run(t.Context(), p, Settings{Budget: budget, Progress: func(Evaluation, float64) {
			judged++
			time.Sleep(budget) // it is over once one model is judged
		}})
		if judged > 0 { // in time, on whatever machine
			break
		}
	}
	if err != nil || r.Stopped != "budget" || r.Solution == nil {
		t.Errorf("budget: %v, %+v", err, r)
	}
	p.Over[1] = Axis{Name: "noise", From: 20, To: 30}
	if r, err = Run(t.Context(), p, Settings{Starts: 1}); err != nil || len(r.Bounds) != 1 ||
		!strings.Contains(r.Bounds[0], "noise is on its lower bound 20") {
		t.Errorf("bounds: %v, %v", err, r.Bounds)
	}
}

// TestFailures: a model that cannot be judged is counted and shortens the step; where none can
// be built, the reason is the answer.
func TestFailures(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=20", Plus632)
	s := need.One(newSearch(p, Settings{MaxEvaluations: 10}))(t)
	first := s.values(&s.spec)
	d := s.descent(t.Context(), s.spec, 1e-3, first, false)
	d.spec.MaxBytes = 1
	if v := d.value([]float64{0, 0}); !math.IsInf(v, 1) || s.result.Failures != 1 ||
		!strings.Contains(s.result.Path[0].Failure, "not enough memory") {
		t.Errorf("%g, %+v", v, s.result)
	}
	d.spec.MaxBytes = 0
	if v := d.value([]float64{0, 0}); math.IsInf(v, 1) || s.result.Failures != 1 || d.best.Value != v {
		t.Errorf("%g, %+v", v, s.result)
	}
	p.Spec.MaxBytes = 1
	if _, err := Run(t.Context(), p, Settings{MaxEvaluations: 3}); err == nil || !strings.Contains(err.Error(),
		"not enough memory") {
		t.Errorf("none: %v", err)
	}
}

// TestBadProblems: what has no answer says so before any work.
func TestBadProblems(t *testing.T) {
	for what, p := range map[string]Problem{
		"no C in a model":   {Spec: regression(t, "boston", Plus632).Spec, Over: []Axis{{Name: "C"}}},
		"nothing to choose": {Spec: regression(t, "boston", Plus632).Spec},
		"between 2 and 1": {Spec: regression(t, "boston", Plus632).Spec,
			Over: []Axis{{Name: "noise", From: 2, To: 1}}},
		"named twice": {Spec: regression(t, "boston", Plus632).Spec, Over: []Axis{{Name: "noise"},
			{Name: "noise"}}},
		"evidence is for":    {Spec: labels(t, "crabs").Spec, Over: []Axis{{Name: "C"}}, By: Evidence},
		"no smooth function": {Spec: labels(t, "crabs").Spec, Over: []Axis{{Name: "C"}}, By: LeaveOneOut},
		"choose by leftout": {Spec: regression(t, "boston", Plus632).Spec, Over: []Axis{{Name: "noise"}},
			Test: loss.Absolute{}},
		"of the test loss square": {Spec: regression(t, "boston", Plus632).Spec, Over: []Axis{{Name: "noise"}},
			Test: loss.Absolute{}, By: LeaveOneOut},
		"models without bias": {Spec: biased(regression(t, "boston", Plus632).Spec),
			Over: []Axis{{Name: "noise"}}, By: LeaveOneOut},
		"needs the whole kernel matrix": {Spec: lowRank(regression(t, "boston", Plus632).Spec),
			Over: []Axis{{Name: "noise"}}, By: Evidence},
		"no loss": {Over: []Axis{{Name: "noise"}}},
	} {
		if _, err := Run(t.Context(), p, Settings{}); !errors.Is(err, model.ErrInput) ||
			!strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := ByName("best"); err == nil {
		t.Error("an objective of any name")
	}
	for k, name := range Names() {
		if by, err := ByName(name); err != nil || by != By(k) || by.String() != name {
			t.Errorf("%s is %v: %v", name, by, err)
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
		whole := need.One(Run(t.Context(), p, Settings{Starts: 2, Do: func(name string,
			compute func() (Part, error)) (Part, error) {
			part, err := compute()
			names = append(names, name)
			known[name] = Part{slices.Clone(part.Path), part.Failures}
			return part, err
		}}))(t)
		plain := need.One(Run(t.Context(), p, Settings{Starts: 2}))(t)
		if !reflect.DeepEqual(whole.Path, plain.Path) || len(names) < 2 {
			t.Errorf("%s: parts %v, another path", name, names)
		}
		for size := range len(names) + 1 {
			judged := 0
			r := need.One(Run(t.Context(), p, Settings{Starts: 2,
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
			if !reflect.DeepEqual(r.Path, whole.Path) || r.Value != whole.Value || r.TestError != whole.TestError ||
				judged != len(r.Path) {
				t.Errorf("%s, %d parts known: %d models to %v, %d to %v", name, size, len(r.Path), r.Value,
					len(whole.Path), whole.Value)
			}
		}
	}
}

// TestOneStandardError: the model has more noise, or less C, and else the values of the best; its
// objective is within a standard error of the least.
func TestOneStandardError(t *testing.T) {
	for name, p := range map[string]Problem{"noise": regression(t, "synthetic:friedman1,n=50", Plus632),
		"C": labels(t, "synthetic:blobs,n=60")} {
		least := need.One(Run(t.Context(), p, Settings{Starts: 1}))(t)
		smooth := need.One(Run(t.Context(), p, Settings{Starts: 1, Choice: OneStandardError}))(t)
		a, b := values(least.Over, &least.Spec), values(smooth.Over, &smooth.Spec)
		if more := (b[1] - a[1]) * map[string]float64{"noise": 1, "C": -1}[name]; a[0] != b[0] || !(more > 0) {
			t.Errorf("%s: values %v, of the least %v", name, b, a)
		}
		if smooth.Least != least.Value || !(smooth.Value > least.Value) ||
			smooth.Value > least.Value+least.StandardError {
			t.Errorf("%s: objective %g, least %g, standard error %g", name, smooth.Value, least.Value,
				least.StandardError)
		}
	}
}

// TestDirect: one descent from the given values, on all data.
func TestDirect(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=200", LeaveOneOut)
	p.Spec.Kernel.Gamma, p.Spec.Loss = 0.05, loss.Square{Noise: 2}
	r, err := Run(t.Context(), p, Settings{Direct: true})
	if err != nil || len(r.Ends) != 0 || r.Path[0].Examples != 200 ||
		math.Abs(r.Path[0].Values[0]/0.05-1) > 1e-9 || math.Abs(r.Path[0].Values[1]/2-1) > 1e-9 ||
		!(r.Value <= r.Path[0].Value) {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestSeeds: where the error has one place, searches of other first models end there.
func TestSeeds(t *testing.T) {
	p := labels(t, "sonar")
	p.Spec.Set = p.Spec.Set.Subset(model.Representative(p.Spec.Set, 100))
	var first *Result
	for seed := range uint64(3) {
		r := need.One(Run(t.Context(), p, Settings{Starts: 2, Seed: seed}))(t)
		if first == nil {
			first = r
		}
		if math.Abs(r.Value-first.Value) > 0.01*first.Value ||
			math.Abs(math.Log(r.Spec.Kernel.Gamma/first.Spec.Kernel.Gamma)) > 0.2 {
			t.Errorf("seed %d: %g at %v, first %g at %v", seed, r.Value, values(r.Over, &r.Spec), first.Value,
				values(first.Over, &first.Spec))
		}
	}
}

// TestSections: in the middle of a section is the model that was chosen, with its objective up to the looser
// solve; no place along it is better than that by more than the descent's end leaves, and the bounds are
// kept.
func TestSections(t *testing.T) {
	p := regression(t, "synthetic:friedman1,n=50", Plus632)
	r := need.One(Run(t.Context(), p, Settings{Starts: 1}))(t)
	sections, err := r.Sections(t.Context(), p)
	if err != nil || len(sections) != 2 {
		t.Fatal(err, sections)
	}
	for k, s := range sections {
		at := r.Over[k].Value(&r.Spec)
		middle := slices.IndexFunc(s.Values, func(v float64) bool { return math.Abs(v/at-1) < 1e-9 })
		if s.Name != r.Over[k].Name || s.Examples != 50 || middle < 1 || middle == len(s.Values)-1 {
			t.Fatalf("%+v, chosen %g", s, at)
		}
		if math.Abs(s.Objective[middle]/r.Value-1) > 2e-3 || slices.Min(s.Objective) < 0.995*r.Value {
			t.Errorf("%+v, chosen %g, objective %g", s, at, r.Value)
		}
	}
}

// TestProbe: where the descents end on the near side of a ridge, the valley beyond it, within e^1.4 along
// one coordinate, is found. On this part of crabs_sp the left-out error is 4% lower at C around 12000
// than at 2000, where this seed's three starts end.
func TestProbe(t *testing.T) {
	set := need.One(dataset.Load("crabs_sp", dataset.Options{}))(t)
	train, _ := besideSplit(set, 0)
	p := besideProblem(train)
	p.By = LeftOut
	r := need.One(Run(t.Context(), p, Settings{Seed: 2}))(t)
	beyond := p
	beyond.Spec.Kernel.Gamma, beyond.Spec.Loss = 0.0028, loss.Hinge{C: 12400}
	v, err := Value(t.Context(), beyond, 1e-5)
	if err != nil || !(r.Value < 1.005*v) || !(slices.Min(r.Ends) > 1.02*v) {
		t.Errorf("%v: starts ended at %v, the search at %v, %v; beyond the ridge %v", err, r.Ends, r.Value,
			values(r.Over, &r.Spec), v)
	}
}
