package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// small is regression that compares in milliseconds.
func small(t testing.TB, path string) model.Spec {
	t.Helper()
	set := testutil.Must(dataset.Load(path, dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Loss: loss.Square{Noise: 1}}
	spec.Kernel.Amplitude, spec.Kernel.Constant = 25, 200
	return spec
}

// compare runs a comparison, by default of the Poisson bootstrap.
func compare(ctx context.Context, s Settings, cases ...Case) ([]report.CompareRow, error) {
	if s.Scheme = cmp.Or(s.Scheme, "poisson"); s.Ratios == nil {
		s.Ratios = []float64{1}
	}
	tasks, err := CompareTasks(cases, s)
	if err != nil {
		return nil, err
	}
	var rows []report.CompareRow
	for _, task := range tasks {
		row, err := task.Run(ctx)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// compared is a comparison that has to succeed.
func compared(t *testing.T, s Settings, cases ...Case) []report.CompareRow {
	t.Helper()
	return testutil.Must(compare(t.Context(), s, cases...))(t)
}

// TestRows: every figure of every row is there and finite, and the derived ones
// follow from the others. The last rows repeat inputs.
func TestRows(t *testing.T) {
	rows := compared(t, Settings{Resamples: 30, Workers: 2, Ratios: []float64{1, 2}},
		Case{Spec: small(t, "synthetic:friedman1,n=60"), Sizes: []int{30, 60}},
		Case{Spec: small(t, "synthetic:grid,n=80,d=2")})
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, want := range []struct {
		n, sites, d int
		ratio       float64
	}{{30, 30, 10, 1}, {60, 60, 10, 1}, {30, 30, 10, 2}, {60, 60, 10, 2}, {80, 24, 2, 1},
		{80, 24, 2, 2}} { // 24 of 25 levels were drawn
		r := rows[i]
		if r.N != want.n || r.Sites != want.sites || r.D != want.d || r.Ratio != want.ratio ||
			r.Scheme != "poisson" || r.Loss != "square" ||
			r.Data == "" || r.Backend == "" || r.Core == "" || r.Threads < 1 || r.RetrainResamples != 30 {
			t.Errorf("row %d: %+v", i, r)
		}
		if r.Status != solver.Converged.String() || r.Residual > solver.DefaultTolerance || r.Sweeps < 1 ||
			r.Refreshes.Exact < 1 {
			t.Errorf("row %d: %s, residual %v, %d sweeps, %+v", i, r.Status, r.Residual, r.Sweeps,
				r.Refreshes)
		}
		checkFigures(t, r)
	}
}

// checkFigures wants all floats finite, what has to be positive positive, and
// the quotients to be quotients.
func checkFigures(t *testing.T, r report.CompareRow) {
	t.Helper()
	for _, field := range reflect.VisibleFields(reflect.TypeOf(r)) {
		value := reflect.ValueOf(r).FieldByIndex(field.Index)
		if !value.CanFloat() {
			continue
		}
		mayVanish := slices.Contains([]string{"Residual", "VarianceError", "LIBSVMFitS",
			"TheoryOverLIBSVM"}, field.Name)
		if f := value.Float(); math.IsInf(f, 0) || !(f > 0 || f == 0 && mayVanish) {
			t.Errorf("n = %d: %s is %v", r.N, field.Name, f)
		}
	}
	if r.PeakBytes < 8*int64(r.Sites*r.Sites) {
		t.Errorf("n = %d: the theory takes %d bytes", r.N, r.PeakBytes)
	}
	equal := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-12*want {
			t.Errorf("n = %d: %s is %v, want %v", r.N, name, got, want)
		}
	}
	equal("fits", r.FitsEquivalent, r.TheoryS/r.ResampleFitS)
	equal("naive fits", r.NaiveFitsEquivalent, r.TheoryS/r.NaiveFitS)
	equal("training", r.TheoryOverFit, r.TheoryS/r.FitS)
	equal("200 fits", r.Fits200S, 4*r.Fits50S)
	resamples := float64(r.RetrainResamples)
	if r.EqualIsBound {
		equal("bound", r.EqualResamples, resamples)
	} else {
		equal("equal resamples", r.EqualResamples,
			resamples*r.VarianceNoise*r.VarianceNoise/(r.VarianceError*r.VarianceError))
	}
}

// TestPrefixes: each size takes the first examples of one shuffle, so that a row
// does not depend on the other sizes. The theory on that prefix, solved here
// anew, has the row's error to the last digit; all examples are taken as they
// stand, whatever the seed.
func TestPrefixes(t *testing.T) {
	spec := small(t, "synthetic:friedman1,n=50")
	settings := Settings{Resamples: 5, Seed: 9}
	rows := compared(t, settings, Case{Spec: spec, Sizes: []int{40, 20, 50}})
	order := rand.New(rand.NewPCG(9, 0)).Perm(50)
	for _, r := range rows {
		prefix := spec
		if r.N < 50 {
			prefix.Set = spec.Set.Subset(order[:r.N])
		}
		m := testutil.Must(model.Build(t.Context(), prefix))(t)
		s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: 1}, solver.Settings{}))(t)
		if want, _ := s.LeftOut(loss.SquareTest{}); float64(r.TheoryError) != want {
			t.Errorf("n = %d: left-out error %v, want %v", r.N, r.TheoryError, want)
		}
	}
	alone := compared(t, settings, Case{Spec: spec, Sizes: []int{20}})[0]
	if alone.TheoryError != rows[1].TheoryError || alone.RetrainError != rows[1].RetrainError ||
		alone.VarianceNoise != rows[1].VarianceNoise {
		t.Errorf("alone %+v, among others %+v", alone, rows[1])
	}
}

// TestProgress: rows in order, in each the phases in order, in each phase Done
// up to Total.
func TestProgress(t *testing.T) {
	spec := small(t, "synthetic:friedman1,n=30")
	var told []string
	note := func(label string, done, total int) {
		told = append(told, fmt.Sprint(label, " ", done, "/", total))
	}
	compared(t, Settings{Resamples: 4, Workers: 2, Progress: note},
		Case{Spec: spec, Sizes: []int{20, 30}})
	var want []string
	for row, n := range []int{20, 30} {
		for _, phase := range []struct {
			name        string
			from, total int
		}{{"theory", 0, 1}, {"refining", 1, 4}, {"fits", 0, 1}, {"retraining gp", 1, 4},
			{"retraining in blocks", 1, 4}} {
			for done := phase.from; done <= phase.total; done++ {
				want = append(want, fmt.Sprintf("row %d of 2, n = %d: %s %d/%d", row+1, n, phase.name, done,
					phase.total))
			}
		}
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// TestCancel: whenever the context ends, the rows finished by then are kept, the
// one under way is not, and the context's error comes back.
func TestCancel(t *testing.T) {
	spec := small(t, "synthetic:friedman1,n=30")
	for _, at := range []struct {
		row   int
		phase string
		done  int
		kept  int
	}{
		{1, "theory", 0, 0}, {1, "refining", 2, 0}, {1, "retraining gp", 2, 0}, {2, "fits", 1, 1},
		{2, "retraining in blocks", 2, 1},
	} {
		t.Run(fmt.Sprintf("row %d/%s %d", at.row, at.phase, at.done), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			settings := Settings{Resamples: 200, Workers: 1, Progress: func(label string, done, _ int) {
				phase := fmt.Sprintf("row %d of 2, n = %d: %s", at.row, 10+10*at.row, at.phase)
				if label == phase && done == at.done {
					cancel()
				}
			}}
			rows, err := compare(ctx, settings, Case{Spec: spec, Sizes: []int{20, 30}})
			if !errors.Is(err, context.Canceled) || len(rows) != at.kept {
				t.Errorf("%d rows, %v", len(rows), err)
			}
			for _, r := range rows {
				checkFigures(t, r)
			}
		})
	}
}

// TestRefusals: what is wrong with settings, sizes and ratios is found before
// any work, wraps model.ErrInput and says what it is.
func TestRefusals(t *testing.T) {
	spec := small(t, "synthetic:friedman1,n=30")
	good := Case{Spec: spec, Sizes: []int{10}}
	for _, c := range []struct {
		name     string
		bad      Case
		settings Settings
		says     string
	}{
		{"one example", Case{Spec: spec, Sizes: []int{10, 1}}, Settings{}, "1 examples asked for"},
		{"no examples", Case{Spec: spec, Sizes: []int{0}}, Settings{}, "0 examples asked for"},
		{"too many", Case{Spec: spec, Sizes: []int{31}}, Settings{},
			"31 examples asked for, synthetic:friedman1"},
		{"no ratio", good, Settings{Ratios: []float64{1, 0}}, "ratio"},
		{"ratio", good, Settings{Ratios: []float64{math.NaN()}}, "ratio"},
		{"draws", good, Settings{Scheme: "multinomial", Ratios: []float64{0.01}}, "without a draw"},
		{"scheme", good, Settings{Scheme: "nosuch"}, "nosuch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.settings.Resamples = 3
			c.settings.Progress = func(label string, _, _ int) { t.Errorf("work has begun: %s", label) }
			rows, err := compare(t.Context(), c.settings, good, c.bad)
			if len(rows) != 0 || !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d rows, %v does not say %q", len(rows), err, c.says)
			}
		})
	}
	if rows, err := compare(t.Context(), Settings{}); len(rows) != 0 || err != nil {
		t.Errorf("nothing to do: %v, %v", rows, err)
	}
}

// TestDefaultCases: the sets of both papers, and generated ones, at the sizes asked for; sizes near the size
// of a set are all of it.
func TestDefaultCases(t *testing.T) {
	cases := testutil.Must(DefaultCases([]int{30, 90, 520}))(t)
	sizes := map[string][]int{}
	for _, c := range cases {
		sizes[c.Title()] = c.Sizes
	}
	boston, friedman := cases[1], cases[0]
	if boston.Spec.Set.Name != "boston" || boston.Spec.Standardize ||
		boston.Spec.Loss != (loss.Square{Noise: 0.01}) || !slices.Equal(boston.Sizes, []int{30, 90, 506}) ||
		friedman.Spec.Set.N() != 520 || !slices.Equal(sizes["sonar"], []int{208}) ||
		!slices.Equal(sizes["pima broad"], []int{30, 90, 532}) || len(sizes) != len(standard) {
		t.Errorf("sizes %v, first cases %+v", sizes, cases[:2])
	}
	if _, err := DefaultCases([]int{-5}); err == nil {
		t.Error("a set of -5 examples passes")
	}
	friedman.Sizes = []int{30, 90} // 4 resamples are the fewest that have errors of variances
	for _, r := range compared(t, Settings{Resamples: 4, Workers: 1}, friedman) {
		checkFigures(t, r)
	}
}

// TestWays: whatever the engine of the theory, fits one by one are the trainer's of support vectors on the
// whole kernel matrix, and others are in blocks.
func TestWays(t *testing.T) {
	set := testutil.Must(dataset.Load("synthetic:rings,n=200", dataset.Options{}))(t)
	spec := model.Spec{Set: set, Standardize: true, Loss: loss.Hinge{C: 1}, Bias: true}
	found := map[model.Storage]string{}
	for _, storage := range []model.Storage{model.Exact, model.LowRank} {
		spec.Storage = storage
		x := testutil.Must(experiments([]Case{{Spec: spec}}, Settings{Scheme: "poisson", Ratios: []float64{1},
			Resamples: 4, Workers: 1}))(t)[0]
		testutil.Check(t, x.build(t.Context()))
		testutil.Check(t, x.buildTrained(t.Context()))
		for _, w := range testutil.Must(x.ways(t.Context()))(t) {
			if w.single {
				found[storage] += w.name + " " + w.engine
			} else if w.name == "blocks" { // and LIBSVM, if it is there
				found[storage] += ", blocks"
			}
		}
	}
	if want := "svm exact, blocks"; found[model.Exact] != want || found[model.LowRank] != want {
		t.Errorf("ways by the engine of the theory: %v", found)
	}
}

// TestLimit: a trainer that has reached the limit ends after two resamples at least, and what was measured
// is said.
func TestLimit(t *testing.T) {
	r := compared(t, Settings{Resamples: 5000, Workers: 1, Limit: 1},
		Case{Spec: small(t, "synthetic:friedman1,n=40")})[0]
	if r.FitsMeasured < 2 || r.FitsMeasured > 100 || r.RetrainResamples > 200 || r.RefinedResamples != 5000 {
		t.Errorf("%d fits measured, %d resamples, %d refined", r.FitsMeasured, r.RetrainResamples,
			r.RefinedResamples)
	}
}

// BenchmarkTheoryVsTraining: the theory on the default cases, on the engine that Auto takes, beside a
// training on all rows by the fastest of our trainers (of-fit) and by LIBSVM (of-libsvm).
func BenchmarkTheoryVsTraining(b *testing.B) {
	settings := Settings{Ratios: []float64{1}, Scheme: "poisson"}
	cases := testutil.Must(DefaultCases([]int{250, 2000}))(b)
	for _, x := range testutil.Must(experiments(cases, settings))(b) {
		name, _, _ := strings.Cut(strings.TrimPrefix(x.data, "synthetic:"), ",")
		b.Run(fmt.Sprintf("data=%s/n=%d", strings.ReplaceAll(name, " ", "-"), x.n), func(b *testing.B) {
			testutil.Check(b, x.build(b.Context()))
			defer func() { x.model, x.trained = nil, nil }()
			for b.Loop() {
				if _, _, err := x.solve(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			var row report.CompareRow
			s := testutil.Must(x.theory(b.Context(), &row))(b)
			testutil.Check(b, x.buildTrained(b.Context()))
			testutil.Check(b, x.fits(b.Context(), &row))
			b.ReportMetric(row.TheoryS/row.FitS, "of-fit")
			if row.LIBSVMFitS > 0 {
				b.ReportMetric(row.TheoryS/row.LIBSVMFitS, "of-libsvm")
			}
			b.ReportMetric(float64(row.Rank), "rank")
			b.ReportMetric(float64(s.Bytes()), "bytes")
		})
	}
}
