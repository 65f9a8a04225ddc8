package main

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
)

// TestCV: the default is ten folds five times; --csv holds the points; a model for every fold repeats its
// choice.
func TestCV(t *testing.T) {
	const model = "synthetic:friedman1,n=60 --loss square --noise 1"
	if a := decoded[report.Answer](t, "cv", model); a.Resamples != 50 || a.Repeats != 5 {
		t.Errorf("%d fits in %d repeats", a.Resamples, a.Repeats)
	}
	csv := must(t, "cv --csv -", model)
	if lines := strings.Count(csv, "\n"); lines != 61 || !strings.HasPrefix(csv, "row,mean,target,error\n") {
		t.Errorf("--csv has %d lines: %.60s", lines, csv)
	}
	chosen := must(t, "cv synthetic:friedman1,n=40 --nested --folds 3 --repeats 1")
	if !strings.Contains(chosen,
		"to repeat       bootbench cv synthetic:friedman1,n=40 --nested --folds 3 --repeats 1\n") {
		t.Errorf("a model for every fold: %s", chosen)
	}
}

// TestGroupsChoose: train, tune and estimate with --groups choose the same model.
func TestGroupsChoose(t *testing.T) {
	path := write(t, "patients.csv", csvOf("patient,a,y", 80, func(i int) []any {
		patient := i / 4
		return []any{fmt.Sprint("p", patient), patient * patient % 23,
			math.Sin(float64(patient)) + 0.1*float64(i*i%7)}
	}))
	estimate := decoded[report.Answer](t, "estimate", path, "--groups patient")
	train := decoded[report.Training](t, "train", path, "--groups patient --model", t.TempDir()+"/m.json")
	tune := decoded[report.Tuning](t, "tune", path, "--groups patient")
	for _, s := range []report.Subject{train.Subject, tune.Answer.Subject} {
		if s.Kernel.Gamma != estimate.Kernel.Gamma || s.Noise != estimate.Noise {
			t.Errorf("gamma %v, noise %v, estimate has %v, %v", s.Kernel.Gamma, s.Noise,
				estimate.Kernel.Gamma, estimate.Noise)
		}
	}
	if !strings.Contains(estimate.ChosenBy, "whole groups") || tune.Error != estimate.Error {
		t.Errorf("%s: %v, tune %v", estimate.ChosenBy, estimate.Error, tune.Error)
	}
}

// TestDesignFlags: where whole groups are drawn no number is the theory's; blocks draw within groups; a small
// class is drawn by itself unless a scheme is asked for; what has no meaning is refused.
func TestDesignFlags(t *testing.T) {
	path := write(t, "patients.csv", csvOf("patient,site,a,b,kind", 60, func(i int) []any {
		kind := map[bool]string{true: "rare", false: "often"}[i%10 == 3]
		return []any{fmt.Sprint("p", i/5), fmt.Sprint("s", i%3), i * i % 17, i * i * i % 23, kind}
	}))
	data := path + " --loss hinge --C 1"
	run := func(flags string) report.Answer { return decoded[report.Answer](t, "estimate", data, flags) }
	groups := run("--groups patient --drop site")
	if groups.TestError != nil || groups.LeftOutError != groups.Refined.TestError || groups.D != 2 ||
		groups.Design != "of whole groups" || groups.Status != "complete" ||
		groups.Points.Mean[3] != groups.Refined.Points.Mean[3] {
		t.Errorf("groups: %v, %+v, %s", groups.TestError, groups.Quote, groups.Status)
	}
	if f := groups.Trained; f == nil || f.ErrorFolds != 10 || len(f.CorrectedFor) > 0 ||
		!(*groups.Lower < groups.Error && groups.Error < *groups.Upper) {
		t.Errorf("the model of all rows: %+v, %+v", f, groups.Quote)
	}
	retrained := decoded[report.Answer](t, "retrain", path,
		"--loss hinge --C 1 --groups patient --drop site --resamples 200 --method single")
	if off := float64(*retrained.TestError - groups.LeftOutError); math.Abs(off) >
		4*math.Hypot(float64(retrained.SE), float64(*groups.MonteCarloSE)) {
		t.Errorf("groups: refined %v, retrained %v", groups.Quote, retrained.TestError)
	}
	rare := run("")
	if rare.Design != "within strata" || rare.Scheme != "multinomial" || rare.Refined.OneClass != 0 ||
		!strings.Contains(strings.Join(rare.Notes, "\n"), "6 rows of class rare") {
		t.Errorf("a small class: %s %s, %q", rare.Scheme, rare.Design, rare.Notes)
	}
	if blocks := run("--groups patient --blocks 2"); blocks.Design != "of blocks of 2 rows within groups" {
		t.Errorf("blocks: %q", blocks.Design)
	}
	if plain := run("--scheme poisson"); plain.Design != "" {
		t.Errorf("poisson: %q", plain.Design)
	}
	if cv := decoded[report.Answer](t, "cv", path,
		"--loss hinge --groups patient --folds loo"); cv.Folds != 12 || cv.ErrorSEOver != "groups" {
		t.Errorf("%d folds, error over %s", cv.Folds, cv.ErrorSEOver)
	}
	if cv := decoded[report.Answer](t, "cv", path, "--loss hinge --fold-column site"); cv.Folds != 3 ||
		cv.Repeats != 1 {
		t.Errorf("%d folds of a column, %d times", cv.Folds, cv.Repeats)
	}
	for line, want := range map[string]string{
		"estimate --groups patient --refine none":               "take --refine auto",
		"estimate --groups patient --metrics jackknife":         "retrain --replicates",
		"estimate --strata site --scheme poisson":               "strata take multinomial",
		"estimate --blocks 3 --scheme subsample":                "by multinomial",
		"estimate --groups nobody":                              "no column",
		"cv --groups patient --folds 13":                        "12 groups to leave out",
		"cv --groups patient --blocks 3":                        "no --groups",
		"cv --fold-column site --folds 5":                       "do not go with it",
		"cv --groups patient --permutations 3 --positive often": "",
	} {
		o := drive(t, "", line, data)
		if want != "" && (o.status != exitUsage || !strings.Contains(o.stderr, want)) {
			t.Errorf("%s: status %d, %s", line, o.status, o.stderr)
		}
	}
	few := drive(t, "", "cv --groups site --folds 3 --permutations 9", data)
	if few.status != exitDone || !strings.Contains(few.stdout, "9 permutations of whole groups") ||
		!strings.Contains(few.stderr, "only 6 arrangements of whole groups: the p-value cannot be below") {
		t.Errorf("three groups: %+v", few)
	}
}

// TestBayesianWeights: an estimate, also of several targets, has means and variances, and no error; cv is
// named.
func TestBayesianWeights(t *testing.T) {
	for _, line := range []string{"estimate NUMBERS SQUARE", "estimate TARGETS SQUARE"} {
		line = goldenLine(goldenTables(t, nil), line+" --scheme bayesian")
		e, text := decoded[report.Answer](t, line), must(t, line, "--quiet --verbose")
		if e.Error == e.Error || e.TestError != nil || e.Quality != nil || e.Status != "converged" ||
			!strings.Contains(text, "cv has it") {
			t.Errorf("%s: %+v, %s", line, e, text)
		}
		for _, a := range append(slices.Collect(maps.Values(e.Targets)), &e)[:max(1, len(e.Targets))] {
			if a.Points.Error != nil || !(a.Points.Variance[0] > 0) {
				t.Errorf("%s: %+v", line, a.Points)
			}
		}
	}
}

// The left-out errors of hard margins with the presets of two small sets, and of
// a soft margin: fixed points that independent code computed, to their digits.
func TestEstimateMargin(t *testing.T) {
	for _, c := range []struct {
		line         string
		want, digits float64
	}{
		{"crabs", 0.03887, 1e-5}, {"sonar", 0.14894, 1e-5}, {"sonar --ratio 3", 0.11940, 1e-5},
		{"sonar --loss hinge --C 1 --no-bias", 0.1904, 1e-4},
	} {
		a := decoded[report.Answer](t, "estimate", c.line)
		if math.Abs(float64(*a.TestError)-c.want) > c.digits || a.Status != "converged" || a.Residual > 1e-6 {
			t.Errorf("%v: %+v, want %v", c.line, a.TestError, c.want)
		}
	}
}

// The methods agree as they must: fast is exact, xialpha is not below, and the table holds them all.
func TestLOO(t *testing.T) {
	for _, flags := range []string{"--loss hard", "--loss hinge --C 10", "--loss hinge --no-bias"} {
		loo := func(method string) report.Answer {
			return decoded[report.Answer](t, "loo crabs", flags, method)
		}
		exact, fast := loo("--method exact"), loo("")
		if exact.LeftOneOut.Errors != fast.LeftOneOut.Errors || exact.LeftOneOut.Retrained != 200 ||
			fast.LeftOneOut.Retrained+*fast.Skipped != 200 ||
			float64(fast.Error) != float64(fast.LeftOneOut.Errors)/200 {
			t.Errorf("%v: exact %+v, fast %+v", flags, exact.LeftOutRows, fast.LeftOutRows)
		}
		if bound := loo("--method xialpha"); bound.LeftOneOut.Errors < exact.LeftOneOut.Errors ||
			bound.Rho != 2 ||
			*bound.Skipped != 200 || !(bound.Recall > 0 && bound.Precision > 0) {
			t.Errorf("%v: xialpha %+v", flags, bound.LeftOutRows)
		}
		if all := loo("--method all"); len(all.Methods) != 5 ||
			all.Methods[0].Errors != exact.LeftOneOut.Errors ||
			all.LeftOneOut.Errors != fast.LeftOneOut.Errors {
			t.Errorf("%v: all %+v", flags, all.Methods)
		}
	}
	if a := decoded[report.Answer](t, "loo boston"); !(a.Error > 5 && a.Error < 20) || *a.Skipped != 506 {
		t.Errorf("square loss: %+v", a.LeftOutRows)
	}
	if o := drive(t, "", "loo crabs --loss hinge --method all"); !strings.Contains(o.stdout, "xialpha") {
		t.Errorf("table: %s", o.stdout)
	}
}

// A ratio at which resamples often hold one class only is warned of.
func TestMissingClassWarning(t *testing.T) {
	a := decoded[report.Answer](t, "retrain crabs --ratio 0.01 --resamples 20")
	if len(a.Warnings) == 0 || !strings.Contains(strings.Join(a.Warnings, " "),
		"lack one of the two classes") {
		t.Errorf("warnings %q", a.Warnings)
	}
}

// Any two numbers are labels where the loss is one for labels; new inputs are
// mapped alike, and three numbers are refused.
func TestMapLabels(t *testing.T) {
	path := write(t, "labels.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,1\n0,0.5,0\n")
	a := decoded[report.Answer](t, "predict", path, "--test", path, "--loss hinge")
	if want := []float64{-1, 1, 1, -1}; !slices.Equal([]float64(a.Points.Target.Numbers), want) {
		t.Errorf("targets %v, want %v", a.Points.Target, want)
	}
	three := write(t, "three.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,2.5\n0,0.5,0\n")
	refused(t, `two classes are needed, the target holds 3 values ("0", "1", "2.5")`, "estimate", three,
		"--loss hinge")
	third := write(t, "third.csv", "a,b,y\n1,2,2\n")
	refused(t, "", "predict", path, "--test", third, "--loss hinge")
}

// TestRows: rows whose labels were turned, and a number that was moved far away, come first; copies of a row
// with another label name each other.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var labels, numbers strings.Builder
	labels.WriteString("a,b,kind\n")
	numbers.WriteString("a,b,size\n")
	turned := map[int]bool{3: true, 11: true, 24: true}
	for i := range 60 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		kind, size := "low", a+0.5*b+0.1*rng.NormFloat64()
		if (a > 0) != turned[i] {
			kind = "up"
		}
		if i == 17 {
			size += 3
		}
		fmt.Fprintf(&labels, "%v,%v,%s\n", a, b, kind)
		fmt.Fprintf(&numbers, "%v,%v,%v\n", a, b, size)
	}
	labels.WriteString("2,2,up\n2,2,low\n")
	r := decoded[report.Rows](t, "rows", write(t, "labels.csv", labels.String()), "--refine 60")
	turned[61] = true
	for _, row := range r.Rows[:3] {
		if !turned[row.Row] || !(row.LabelError > 0.5) || !(row.Influence > 0) || !(row.Value < 0.5) {
			t.Errorf("%+v is among the first", row)
		}
	}
	for _, row := range r.Rows {
		if row.Row == 60 && row.Twin != 61 || row.Row == 61 && row.Twin != 60 || row.Row < 60 &&
			row.Twin == row.Twin {
			t.Errorf("twins: %+v", row)
		}
	}
	path := write(t, "numbers.csv", numbers.String())
	n := decoded[report.Rows](t, "rows", path)
	if first := n.Rows[0]; first.Row != 17 || !(first.Target > first.Predicted+1) || len(n.Rows) != 60 {
		t.Errorf("first %+v", first)
	}
	if text := must(t, "rows", path, "--quiet"); !strings.Contains(text, "the first 15 of 60 rows") {
		t.Error(text)
	}
	if table := must(t, "rows", path, "--csv - --quiet"); !strings.HasPrefix(table,
		"row,name,target,predicted,") {
		t.Error(table)
	}
}
