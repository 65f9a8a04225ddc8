package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// TestRefined: estimate refines by itself, leaves the theory's own values as they are
// without it, and the refined left-out error, mean and variances are within five of their
// standard errors of 600 plain retrainings with another seed.
func TestRefined(t *testing.T) {
	e := decoded[report.Answer](t, "estimate sonar")
	alone := decoded[report.Answer](t, "estimate sonar --refine none")
	if alone.Refined != nil || *alone.TestError != *e.TestError || e.Refined == nil ||
		e.Refined.Resamples != autoResamples || e.Refined.Method != "batch" {
		t.Fatalf("refined %+v, alone %+v", e.Refined, alone.Refined)
	}
	plain := decoded[report.Answer](t, "retrain sonar --resamples 600 --seed 9")
	r := e.Refined
	z := float64(r.TestError-*plain.TestError) / math.Hypot(float64(r.SE), float64(plain.SE))
	if !(math.Abs(z) < 5) {
		t.Errorf("refined %v +- %v, retrained %v +- %v", r.TestError, r.SE, plain.TestError, plain.SE)
	}
	for i := range plain.Points.Mean {
		z := (r.Points.Mean[i] - plain.Points.Mean[i]) / math.Hypot(r.Points.MeanSE[i],
			plain.Points.MeanSE[i])
		v := (r.Points.Variance[i] - plain.Points.Variance[i]) / math.Hypot(r.Points.VarianceSE[i],
			plain.Points.VarianceSE[i])
		if !(math.Abs(z) < 5 && math.Abs(v) < 5) {
			t.Errorf("example %d: mean off by %.1f standard errors, variance by %.1f", i+1, z, v)
		}
	}
	if !(r.EquivalentResamples > autoResamples) {
		t.Errorf("%d resamples are worth %v plain ones", autoResamples, r.EquivalentResamples)
	}
}

// TestAccuracy: refinement goes on until the standard error is what was asked for.
func TestAccuracy(t *testing.T) {
	e := decoded[report.Answer](t, "estimate crabs --loss hinge --C 1 --accuracy 1% --no-points")
	if r := e.Refined; r == nil || !(r.SE <= 0.0101*r.TestError) || r.Points != nil {
		t.Errorf("refined %+v", r)
	}
}

// TestRefineElsewhere: predict refines new inputs, which are training inputs here; curve and grid refine by
// themselves; auto refines where resamples leave examples out, and no likelihood.
func TestRefineElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	p := decoded[report.Answer](t, "predict sonar --test sonar")
	e := decoded[report.Answer](t, "estimate sonar")
	for i, want := range e.Refined.Points.Mean {
		if v := p.Refined.Points.Mean[i]; math.Abs(v-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("input %d: mean %v, %v at its site", i+1, v, want)
		}
	}
	if c := decoded[report.Curve](t, "curve sonar --ratio 1 --no-points"); c.Results[0].Refined == nil {
		t.Error("curve does not refine by itself")
	}
	if g := decoded[report.Grid](t, "grid sonar --over ratio=1"); g.Results[0].Estimate.Refined == nil {
		t.Error("grid does not refine by itself")
	}
	// At ratio 5 an example is left out by 200 e^-5 = 1.3 resamples; of folds by every tenth.
	for flags, refines := range map[string]bool{"--ratio 5": false, "--ratio 5 --refine 20": true,
		"--scheme kfold --folds 100": true, "--loss probit": false} {
		e := decoded[report.Answer](t, "estimate crabs --no-points", flags)
		if (e.Refined != nil) != refines {
			t.Errorf("%s: refined %+v", flags, e.Refined)
		}
	}
}

// matrix reads a NumPy array.
func matrix(t *testing.T, path string) *mat.Dense {
	file := testutil.Must(os.ReadFile(path))(t)
	begin := 10 + int(binary.LittleEndian.Uint16(file[8:]))
	var rows, columns int
	const shape = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }"
	testutil.Must(fmt.Sscanf(string(file[:begin]), shape, &rows, &columns))(t)
	data := make([]float64, rows*columns)
	testutil.Must(binary.Decode(file[begin:], binary.LittleEndian, data))(t)
	if begin%64 != 0 || len(file) != begin+8*len(data) {
		t.Fatalf("%s: %d bytes of header, %d in all", path, begin, len(file))
	}
	return mat.NewDense(rows, columns, data)
}

// TestReplicates: --replicates holds the predictions of every resample in the order of the file: their mean
// is the answer's, by both methods.
func TestReplicates(t *testing.T) {
	for _, method := range []string{"batch", "single"} {
		file := filepath.Join(t.TempDir(), "r.npy")
		r := decoded[report.Answer](t, "retrain boston --resamples 40 --method", method, "--replicates", file)
		m := matrix(t, file)
		if rows, n := m.Dims(); rows != 40 || n != 506 || r.Method != method {
			t.Fatalf("%s: %d x %d replicates by %s", method, rows, n, r.Method)
		}
		for i, mean := range r.Points.Mean {
			if sum := mat.Sum(m.ColView(i)) / 40; math.Abs(sum-mean) > 1e-3*(1+math.Abs(sum)) {
				t.Errorf("%s, example %d: mean of the replicates %v, of the answer %v", method, i, sum, mean)
			}
		}
	}
}

// TestContradicted: a hard margin on overlapping classes in the plane, where the theory converges to
// variances 40 times too small: status, JSON document and --verbose say so, no warning does, and the refined
// error is the one to quote, in the first line of the text, too. sonar's theory, right within a few percent,
// is not contradicted.
// Fewer than 20 resamples do not judge.
func TestContradicted(t *testing.T) {
	const bad = "estimate synthetic:blobs,n=200 --loss hard --gamma 0.5 --no-bias --no-points"
	answer := filepath.Join(t.TempDir(), "answer")
	said := drive(t, "", bad, "--json", answer)
	e := parse[report.Answer](t, string(testutil.Must(os.ReadFile(answer))(t)))
	r := e.Refined
	if e.Status != "contradicted" || len(r.Contradicts) != 2 || !(r.VarianceRatio < 0.05) ||
		!(*e.TestError > 1.05*r.TestError) || strings.Contains(strings.Join(e.Warnings, "\n"), "theory") {
		t.Errorf("status %s, %+v, %q", e.Status, r, e.Warnings)
	}
	if said.status != exitDone || !strings.Contains(said.stdout, fmt.Sprintf("error           %.1f%% (",
		100*e.Error)) || strings.Contains(said.stdout, "contradict") ||
		!strings.Contains(said.stderr, "tip: BB031") {
		t.Errorf("%+v", said)
	}
	text := must(t, bad, "--verbose --quiet")
	if !strings.Contains(text, "contradicted    "+r.Contradicts[0]) {
		t.Error(text)
	}
	for _, fine := range []string{"estimate sonar --no-points", bad + " --refine 10"} {
		e := decoded[report.Answer](t, fine)
		if len(e.Refined.Contradicts) != 0 || e.Status != "converged" {
			t.Errorf("%v: %s, %+v", fine, e.Status, e.Refined.Contradicts)
		}
		if e.LeftOutError != e.Refined.TestError || e.MonteCarloSE == nil || *e.MonteCarloSE != e.Refined.SE {
			t.Errorf("%v: quoted %v, refined %+v", fine, e.Quote, e.Refined)
		}
	}
}

// refinedRounding is how far apart refined values of two commands may be, as a share of them.
const refinedRounding = 1e-5

// TestFitsAlone: exact resamples around one refresh of G have the left-out error of plain retraining, one
// resample after the other, within four standard errors, and no number of the theory.
func TestFitsAlone(t *testing.T) {
	for _, line := range []string{
		"synthetic:blobs,n=250,d=3,noise=0.7 --loss hinge --C 1 --gamma 0.3",
		"synthetic:friedman1,n=250 --loss square --noise 1 --gamma 0.1",
	} {
		e := decoded[report.Answer](t, "estimate --method fits --engine exact", line)
		r := decoded[report.Answer](t, "retrain --method single --resamples 400 --seed 5 --no-points", line)
		se := math.Hypot(float64(*e.MonteCarloSE), float64(r.SE))
		if d := math.Abs(float64(e.LeftOutError - *r.TestError)); !(d <= 4*se &&
			se < 0.1*float64(*r.TestError)) {
			t.Errorf("%s: %g +- %g, by plain retraining %g +- %g", line, e.LeftOutError, *e.MonteCarloSE,
				*r.TestError, r.SE)
		}
		if e.TestError != nil || e.Status != "complete" || !(e.Time.Theory > 0) {
			t.Errorf("%s: theory %v, status %s, %g s", line, e.TestError, e.Status, e.Time.Theory)
		}
	}
}

// TestSample: an estimate by a sample quotes the error of the model that train writes of the same sample,
// within three standard errors of that on new rows; it names its rows, and is the same again.
func TestSample(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model.json")
	for data, flags := range map[string]string{"synthetic:blobs,n=1200,d=3,noise=0.7": "--loss hinge --C 1",
		"synthetic:friedman1,n=1200": "--loss square --noise 1"} {
		line := data + " " + flags
		e := decoded[report.Answer](t, "estimate --sample 400", line)
		if e.N != 400 || e.Sample != 400 || e.RowsTotal != 1200 || e.LearningCurve.HeldOut != 800 ||
			!slices.Equal(e.LearningCurve.Sizes, []int{100, 200, 400}) || !(e.Time.AllRows > 0) {
			t.Errorf("%s: sample of %d of %d rows, %+v", line, e.Sample, e.RowsTotal, e.LearningCurve)
		}
		last := 0
		for _, name := range e.Points.Names {
			row, err := strconv.Atoi(name)
			if err != nil || row <= last || row > 1200 {
				t.Fatalf("row %q after %d", name, last)
			}
			last = row
		}
		trained := decoded[report.Training](t, "train --sample 400 --model", model, line)
		p := decoded[report.Answer](t, "predict --no-points --model", model, "--test", data+
			",seed=9")
		if se := math.Hypot(float64(e.ErrorSE), float64(p.Quality.ExampleSE)); trained.Sample != 400 ||
			!(math.Abs(float64(e.Error-*p.TestError)) <= 3*se && e.ErrorSE < 0.12*e.Error) {
			t.Errorf("%s: %g +- %g, of the model of %d rows %g", line, e.Error, e.ErrorSE, trained.Sample,
				*p.TestError)
		}
		again := decoded[report.Answer](t, "estimate --sample 400", line)
		if again.Error != e.Error || !slices.Equal(again.Points.Names, e.Points.Names) {
			t.Errorf("%s: another answer", line)
		}
	}
}

// TestExtremes: no extreme setting that is let in ends in an answer that is no number and yet counts as
// converged.
func TestExtremes(t *testing.T) {
	for _, flags := range []string{"--noise 1e-100", "--noise 1e100", "--amplitude 1e-100",
		"--amplitude 1e100",
		"--jitter 1e100", "--constant 1e100"} {
		o := drive(t, "", "estimate synthetic:friedman1,n=20 --loss square --noise 1", flags)
		for line := range strings.Lines(o.stdout) {
			if o.status == exitDone && strings.Contains(line, "error ") && strings.Contains(line, "NaN") {
				t.Errorf("%s: status 0 with %s", flags, line)
			}
		}
	}
}

// TestPredictRefuses: what estimate refuses, for a fit to all data that does not exist, predict refuses too.
func TestPredictRefuses(t *testing.T) {
	const model = "synthetic:blobs,n=200 --loss hard --gamma 0.05 --quiet"
	a, b := drive(t, "", "estimate", model), drive(t, "", "predict --test synthetic:blobs,n=2", model)
	if a.status == exitDone || !strings.Contains(a.stderr, "take a soft margin") || a != b {
		t.Errorf("estimate: %+v, predict: %+v", a, b)
	}
}

// TestQuantiles: the quantiles over resamples lie within the resolution of 200 exact resamples of theirs, 0.2
// of the share for shares of 200 draws and the theory's own error.
func TestQuantiles(t *testing.T) {
	for _, line := range []string{
		"estimate crabs --loss hinge --C 1", "estimate synthetic:friedman1,n=80 --loss square --noise 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1",
	} {
		a := decoded[struct {
			Points  report.Points
			Refined report.Refined
		}](t, line, "--quantiles 0.1,0.3,0.5,0.7,0.9")
		exact, theory := a.Refined.Points.Quantiles, a.Points.Quantiles
		if len(theory) != 5 || len(exact) != 5 {
			t.Fatalf("%s: %d and %d quantiles", line, len(theory), len(exact))
		}
		for row := range a.Points.Mean {
			for k := 1; k < 4; k++ {
				if q := theory[k][row]; !(exact[k-1][row]-1e-9 <= q && q <= exact[k+1][row]+1e-9) {
					t.Errorf("%s, row %d: quantile %d is %v, neighbours by exact resamples %v and %v", line,
						row+1, k, q, exact[k-1][row], exact[k+1][row])
				}
			}
		}
	}
}

// TestCovariances: covariances have the variances on the diagonal, at the rows of DATA and at new ones.
func TestCovariances(t *testing.T) {
	for _, line := range []string{"predict crabs --test crabs --loss hinge --C 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1"} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[report.Answer](t, line, "--covariance", npy)
		c := matrix(t, npy)
		for i, v := range a.Points.Variance {
			if math.Abs(c.At(i, i)/v-1) > 1e-6 || math.Abs(c.At(i, 0)-c.At(0, i)) > 1e-9 {
				t.Errorf("%s: covariances (%d, %d) %v, variance %v", line, i, i, c.At(i, i), v)
			}
		}
	}
}

// TestCompareModels: a model does not differ from itself; a better one by the difference of the two answers,
// each of which is what its own file says, bias included; what is no answer, or of other data, is refused.
func TestCompareModels(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, line := range map[string]string{"hard.json": "estimate sonar",
		"soft.json":  "estimate sonar --loss hinge --C 1",
		"bias.json":  "estimate sonar --loss hinge --C 1 --bias",
		"crabs.json": "estimate crabs", "boston.json": "estimate boston"} {
		must(t, line, "--refine none --json", at(name))
	}
	var a report.ModelComparison
	ask := func(args ...string) {
		t.Helper()
		a = decoded[report.ModelComparison](t, append([]string{"compare"}, args...)...)
	}
	ask("--models", at("hard.json"), at("hard.json"))
	if a.Theory.Value != 0 || a.Theory.PValue != 1 || a.Refined.Value != 0 || a.Refined.PValue != 1 {
		t.Errorf("a model and itself: %+v", a)
	}
	ask("sonar", "--models", at("hard.json")+","+at("soft.json"))
	d, r := a.Theory, a.Refined
	if math.Abs(float64(d.Value-(a.Models[0].TestError-a.Models[1].TestError))) > 1e-9 ||
		!(d.Low < d.Value && d.Value < d.High && d.High < 0 && d.PValue < 0.05 && r.PValue < 0.05) ||
		math.Abs(float64(r.Value-d.Value)) > 0.01 {
		t.Errorf("%+v", a)
	}
	ask("--models", at("soft.json"), at("bias.json"))
	sameErrors(t, &a, at("soft.json"), at("bias.json"))
	old := bytes.Replace(testutil.Must(os.ReadFile(at("hard.json")))(t), []byte(`"schema": 4`),
		[]byte(`"schema": 2`), 1)
	if err := os.WriteFile(at("old.json"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		at("hard.json"):                                 "here are 1 models",
		at("old.json") + " " + at("hard.json"):          "schema 2, this program reads schema 4",
		at("hard.json") + " " + at("crabs.json"):        "name the DATA",
		at("none.json") + " " + at("hard.json"):         "none.json",
		at("boston.json") + " sonar " + at("hard.json"): "13 length scales for 60 features",
	} {
		refused(t, want, "compare --models", args)
	}
}

// TestModelsReadAsRecorded: a model is compared on the columns that its answer read, at the answers' ratio;
// answers of other targets or resamples are refused by name, and so are flags that contradict them.
func TestModelsReadAsRecorded(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "crabs.csv")
	must(t, "datasets --export crabs", data)
	at := func(name string) string { return filepath.Join(dir, name+".json") }
	for name, flags := range map[string]string{
		"all": "", "fewer": "--drop 2,3", "often": "--ratio 2", "other": "--target 2 --loss square --noise 1",
	} {
		if flags != "" && !strings.Contains(flags, "--loss") || flags == "" {
			flags += " --loss hinge --C 1 --gamma 0.2"
		}
		must(t, "estimate", data, "--refine none --json", at(name), flags)
	}
	a := decoded[report.ModelComparison](t, "compare", data, "--models", at("all")+","+at("fewer"))
	sameErrors(t, &a, at("all"), at("fewer"))
	for args, want := range map[string]string{
		at("all") + "," + at("often"):                "write both with the same",
		at("all") + "," + at("other"):                "not of the same examples",
		at("all") + "," + at("fewer") + " --ratio 3": "do without it",
		at("all") + "," + at("fewer") + " --drop 2":  "the answers say how DATA is read",
	} {
		refused(t, want, "compare", data, "--models", args)
	}
}

// sameErrors: each model has in a comparison the error of its own answer.
func sameErrors(t *testing.T, c *report.ModelComparison, answers ...string) {
	t.Helper()
	for k, name := range answers {
		own := parse[report.Answer](t, string(testutil.Must(os.ReadFile(name))(t)))
		if math.Abs(float64(c.Models[k].TestError-*own.TestError)) > 1e-9 {
			t.Errorf("%s: %v in its own answer, %v beside another", name, own.TestError,
				c.Models[k].TestError)
		}
	}
}
