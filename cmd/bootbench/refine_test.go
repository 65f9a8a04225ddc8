package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"bootbench/internal/need"
	"bootbench/internal/report"
)

// decoded runs a command with --json - and reads the document.
func decoded[D any](t *testing.T, args ...string) D {
	t.Helper()
	o := drive(t, "", append(args, "--json", "-", "--quiet")...)
	if o.status != exitDone {
		t.Fatalf("%v: status %d, %s", args, o.status, o.stderr)
	}
	var d D
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRefined: estimate refines by itself, leaves the theory's own values as they are
// without it, and the refined left-out error, mean and variances are within five of their
// standard errors of 600 plain retrainings with another seed.
func TestRefined(t *testing.T) {
	e := decoded[report.Estimate](t, "estimate", "sonar")
	alone := decoded[report.Estimate](t, "estimate", "sonar", "--refine", "none")
	if alone.Refined != nil || alone.TestError != e.TestError || e.Refined == nil ||
		e.Refined.Resamples != autoResamples || e.Refined.Method != "batch" {
		t.Fatalf("refined %+v, alone %+v", e.Refined, alone.Refined)
	}
	plain := decoded[report.Retraining](t, "retrain", "sonar", "--resamples", "600", "--seed", "9")
	r := e.Refined
	z := float64(r.TestError-plain.TestError) / math.Hypot(float64(r.SE), float64(plain.SE))
	if !(math.Abs(z) < 5) {
		t.Errorf("refined %v +- %v, retrained %v +- %v", r.TestError, r.SE, plain.TestError, plain.SE)
	}
	for i := range plain.Points.Mean {
		z := (r.Points.Mean[i] - plain.Points.Mean[i]) / math.Hypot(r.Points.MeanSE[i], plain.Points.MeanSE[i])
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
	e := decoded[report.Estimate](t, "estimate", "crabs", "--loss", "hinge", "--C", "1", "--accuracy", "1%",
		"--no-points")
	if r := e.Refined; r == nil || !(r.SE <= 0.0101*r.TestError) || r.Points != nil {
		t.Errorf("refined %+v", r)
	}
}

// TestRefineElsewhere: predict refines new inputs, which are training inputs here; curve
// does, too, grid where it is asked to, both in their tables; a likelihood is left as it is by auto, and
// refused where a number is asked for.
func TestRefineElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	p := decoded[report.Prediction](t, "predict", "sonar", "--test", "sonar")
	e := decoded[report.Estimate](t, "estimate", "sonar")
	if p.Refined == nil || len(p.Refined.Points.Mean) != 208 {
		t.Fatalf("predict: %+v", p.Refined)
	}
	for i, v := range p.Refined.Points.Mean {
		if want := e.Refined.Points.Mean[i]; math.Abs(v-want) > 1e-3*(1+math.Abs(want)) {
			t.Errorf("input %d: mean %v, %v at its site", i+1, v, want)
		}
	}
	c := decoded[report.Curve](t, "curve", "sonar", "--ratio", "0.5,1", "--refine", "20", "--no-points")
	if len(c.Results) != 2 || c.Results[1].Refined == nil || c.Results[1].Refined.Resamples != 20 {
		t.Errorf("curve: %+v", c.Results)
	}
	if c := decoded[report.Curve](t, "curve", "sonar", "--ratio", "1",
		"--no-points"); c.Results[0].Refined == nil {
		t.Error("curve does not refine by itself")
	}
	if g := decoded[report.Grid](t, "grid", "sonar", "--over", "ratio=1"); g.Results[0].Estimate.Refined == nil {
		t.Error("grid does not refine by itself")
	}
	// At ratio 5 an example is left out by 200 e^-5 = 1.3 resamples; of folds by every tenth.
	if e := decoded[report.Estimate](t, "estimate", "crabs", "--ratio", "5", "--no-points"); e.Refined != nil {
		t.Error("auto refines what hardly a resample leaves out")
	}
	for _, scheme := range [][]string{{"--ratio", "5", "--refine", "20"}, {"--scheme", "kfold", "--folds",
		"100"}} {
		if e := decoded[report.Estimate](t, append([]string{"estimate", "crabs", "--no-points"},
			scheme...)...); e.Refined == nil {
			t.Errorf("%v: not refined", scheme)
		}
	}
	if e := decoded[report.Estimate](t, "estimate", "crabs", "--loss", "probit",
		"--no-points"); e.Refined != nil {
		t.Error("a likelihood is refined")
	}
}

// TestReplicates: --replicates holds the predictions of every resample in the order of the file: their mean
// is the answer's, by both methods.
func TestReplicates(t *testing.T) {
	for _, method := range []string{"batch", "single"} {
		file := filepath.Join(t.TempDir(), "r.npy")
		r := decoded[report.Retraining](t, "retrain", "boston", "--resamples", "40", "--method", method,
			"--replicates", file)
		f := need.One(os.Open(file))(t)
		var m mat.Dense
		if err := npyio.Read(f, &m); err != nil {
			t.Fatal(err)
		}
		f.Close()
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
// variances 40 times too small: status, warning and JSON document say so, and the refined error is the one to
// quote, in the first line of the text, too. sonar's theory, right within a few percent, is not contradicted.
// Fewer than 20 resamples do not judge.
func TestContradicted(t *testing.T) {
	bad := []string{"estimate", "synthetic:blobs,n=200", "--loss", "hard", "--gamma", "0.5", "--no-bias",
		"--no-points"}
	answer := filepath.Join(t.TempDir(), "answer")
	said := drive(t, "", append(bad, "--json", answer)...)
	var e report.Estimate
	if err := json.Unmarshal(need.One(os.ReadFile(answer))(t), &e); err != nil {
		t.Fatal(err)
	}
	r := e.Refined
	if e.Status != "contradicted" || len(r.Contradicts) != 2 || !(r.VarianceRatio < 0.05) ||
		!(e.TestError > 1.05*r.TestError) || !strings.Contains(strings.Join(e.Warnings, "\n"), r.Contradicts[1]) {
		t.Errorf("status %s, %+v, %q", e.Status, r, e.Warnings)
	}
	if said.status != exitDone || !strings.Contains(said.stdout, fmt.Sprintf("error           %.1f%% +-",
		100*e.Error)) ||
		!strings.Contains(said.stderr, "contradict the theory") {
		t.Errorf("%+v", said)
	}
	for _, fine := range [][]string{{"estimate", "sonar", "--no-points"}, append(bad, "--refine", "10")} {
		e := decoded[report.Estimate](t, fine...)
		if len(e.Refined.Contradicts) != 0 || e.Status != "converged" ||
			strings.Contains(strings.Join(e.Warnings, "\n"), "contradict") {
			t.Errorf("%v: %s, %+v", fine, e.Status, e.Refined.Contradicts)
		}
		if e.Error != e.Refined.TestError || e.ErrorSE == nil || *e.ErrorSE != e.Refined.SE {
			t.Errorf("%v: quoted %v, refined %+v", fine, e.Quote, e.Refined)
		}
	}
}

// refinedRounding is how far apart refined values of two commands may be, as a share of them.
const refinedRounding = 1e-5
