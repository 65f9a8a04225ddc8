package main

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// TestWorlds: targets have the expectations and variances that the risk is computed from, and classes their
// probabilities. Sums over 4000 rows are within four standard errors.
func TestWorlds(t *testing.T) {
	near := func(name string, off []float64) {
		if mean, sd := stat.MeanStdDev(off, nil); math.Abs(mean) > 4*sd/math.Sqrt(float64(len(off))) {
			t.Errorf("%s is %.3g ± %.2g off", name, mean, sd/math.Sqrt(float64(len(off))))
		}
	}
	for _, w := range worlds {
		s := w.table(5, 50, 4000)
		for k, c := range s.fresh.Columns {
			var off, square []float64
			for i, y := range c.Y {
				if w.classes == 0 {
					e := y - s.truth[i][k]
					off, square = append(off, e), append(square, e*e-w.noise-w.effect)
				} else if off = append(off, -s.truth[i][1]); int(y) == 1 {
					off[i]++
				}
			}
			if near(w.name, off); square != nil {
				near(w.name+"'s variance", square)
			}
		}
	}
	grouped := worldsOf("groups")[0].table(5, 50, 10)
	if g := grouped.data.Groups; g[4] != 0 || g[5] != 1 || g[49] != 9 || grouped.fresh.Groups[9] != 9 {
		t.Errorf("groups %v, of new rows %v", g, grouped.fresh.Groups)
	}
}

// TestRisk: the risk of a model is its mean loss at fresh targets, within four standard errors of 4000 rows.
func TestRisk(t *testing.T) {
	for _, w := range worlds {
		s := w.table(7, 60, 4000)
		model := steps.Must(bootbench.Train(t.Context(), s.specified(t.Context(), given)))
		p := steps.Must(model.Predict(s.fresh, 0.95))
		of, loss := []*bootbench.Prediction{p}, make([]float64, s.fresh.N())
		if p.Targets != nil {
			of = []*bootbench.Prediction{p.Targets["y"], p.Targets["y2"]}
		}
		for k, c := range s.fresh.Columns {
			variance := 1.0
			if len(of) > 1 {
				variance = 2 * stat.Variance(c.Y, nil)
			}
			for i, y := range c.Y {
				if w.classes == 0 {
					loss[i] += (of[k].Mean[i] - y) * (of[k].Mean[i] - y) / variance
				} else if of[k].Class[i] != c.Levels[int(y)] {
					loss[i] = 1
				}
			}
		}
		mean, risk := stat.Mean(loss, s.fresh.Weights), s.risk(model)
		se, _ := calibration.StandardError(loss, s.fresh.Weights, nil)
		if math.Abs(mean-risk) > 4*float64(se) {
			t.Errorf("%s: risk %.4g, loss %.4g ± %.2g", w.name, risk, mean, float64(se))
		}
	}
}

// TestCoverage: stated intervals hold the risk of the model that is trained. If they hold it in 0.94 of all
// tables, fewer than 40 of 50 do in one of several thousand trials. The error is off by at most 4% and four
// standard errors. An error without a correction, plus and minus 1.96 standard errors over the rows, holds it
// in 0.54 of the tables of the first cell, and in 0.78 of the second.
func TestCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("the run without -short has it")
	}
	const least = 0.8
	for _, of := range [][2]string{{flagless, "linear"}, {flagless, "coin"}, {given, "blobs"}} {
		c := coverage{tables: 50, fresh: 1000, seed: 11, resamples: 10}
		at := cell{Model: of[0], N: 50}
		all := tables(t.Context(), &c, worldsOf(of[1])[0], &at, (*coverage).judge)
		r := riskOf(at, all)
		if at.Refused > 0 || r.Coverage < least || r.Width > 2 || math.Abs(r.Bias) > 0.04+4*r.BiasSE {
			t.Error(of, r)
		}
	}
}

// TestStudies runs each study at its smallest: tables have their rows, CSV and pictures lie in
// the folder.
func TestStudies(t *testing.T) {
	for _, c := range []struct {
		args  []string
		text  []string
		files []string
	}{
		{[]string{"paper", "-figure", "m04-1-right", "-resamples", "1"},
			[]string{"held-out inputs, N = S = 188"},
			[]string{"m04-figure-1-right.svg", "m04-figure-1-right-figure.csv"}},
		{[]string{"accuracy", "-data", "crabs", "-resamples", "20"},
			[]string{"24 of 24 solves converged", "against 20 retrainings"},
			[]string{"accuracy.csv", "accuracy.svg"}},
		{[]string{"choice", "-sets", "crabs synthetic:friedman1,n=60", "-rows", "40", "-splits", "1", "-by",
			"cv,loo"}, []string{"| crabs | 40 | cv | ", "| friedman1 | 40 | loo | "},
			[]string{"choice.csv"}},
		{[]string{"coverage", "-only", "coin,targets", "-tables", "2", "-sizes", "30"},
			[]string{"| flagless | coin | 30 | 2 | 0 | ", "| given | targets | 30 | 2 | "},
			[]string{"coverage.csv"}},
		{[]string{"coverage", "-part", "p-values", "-only", "coin", "-tables", "2", "-sizes", "30",
			"-models", "given"}, []string{"| given | coin | 30 | 2 | 0 | "}, []string{"p-values.csv"}},
		{[]string{"coverage", "-part", "predictions", "-only", "sites", "-tables", "2", "-sizes", "40",
			"-models", "given"}, []string{"| given | sites | 40 | 2 |"}, []string{"predictions.csv"}},
	} {
		dir := t.TempDir()
		var stdout, stderr bytes.Buffer
		args := append([]string{c.args[0], "-out", dir}, c.args[1:]...)
		if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
			t.Errorf("%v: status %d, %s", c.args, status, stderr.String())
		}
		for _, text := range c.text {
			if !strings.Contains(stdout.String(), text) {
				t.Errorf("%v: %q is missing in\n%s", c.args, text, stdout.String())
			}
		}
		for _, name := range c.files {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%v: %s: %v", c.args, name, err)
			}
		}
	}
}

// TestSurvey: no name means all sets, four of labels and three of numbers; each has four losses and two
// kernels.
func TestSurvey(t *testing.T) {
	if specs := accuracyModels(""); len(specs) != (4+3)*4*2 {
		t.Errorf("%d models", len(specs))
	}
}

// TestNoFiles: without -out a study writes nothing.
func TestNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"coverage", "-only", "coin", "-tables", "2", "-sizes", "30", "-models", "given"}
	if status := run(t.Context(), args, io.Discard, io.Discard); status != 0 {
		t.Errorf("status %d", status)
	}
	if files := steps.Must(os.ReadDir(".")); len(files) > 0 {
		t.Errorf("files: %v", files)
	}
}

// TestRefusals: what cannot be run ends with a status and a reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		text   string
	}{
		{"", 2, "usage"}, {"nosuch", 2, "usage"}, {"paper -figure nosuch", 1, "there are m03-1-left"},
		{"choice -by nosuch", 1, "there are default, cv"}, {"accuracy -data nosuch", 1, "there are crabs, "},
		{"coverage -only nosuch", 1, "there are linear, "},
		{"coverage -part nosuch", 1, "there are risk, p-values, predictions"},
		{"coverage -models nosuch", 1, "there are flagless"},
		{"accuracy -nosuch", 2, "not defined"},
	} {
		var stdout, stderr bytes.Buffer
		t.Chdir(t.TempDir())
		if status := run(t.Context(), strings.Fields(c.line), &stdout, &stderr); status != c.status ||
			!strings.Contains(stderr.String(), c.text) {
			t.Errorf("%q: status %d, %q", c.line, status, stderr.String())
		}
	}
}

// TestLaw: shares are of the values in the bins; against a histogram of one bin, the distance
// is the mass of the law outside of it.
func TestLaw(t *testing.T) {
	first, shares := histogram([]float64{-0.35, -0.1, -0.05, 0.3}, 0.2)
	if first != -2 || len(shares) != 4 || shares[0] != 0.25 || shares[1] != 0.5 || shares[2] != 0 ||
		shares[3] != 0.25 {
		t.Errorf("from %d: %v", first, shares)
	}
	l := compareLaw(7, loss.Normal(0.1, 0.04), []float64{0.05, 0.15, 0.19}, 0.2)
	inside := math.Erf(0.5 / math.Sqrt2)
	if math.Abs(l.distance-(1-inside)) > 1e-12 || math.Abs(l.theory[0]*0.2-inside) > 1e-12 ||
		math.Abs(l.retrained[0]-5) > 1e-12 || l.place != 7 {
		t.Errorf("%+v, want distance %v", l, 1-inside)
	}
}

// TestPeaks counts the maxima of the law of a site, a Gaussian for each count of its examples.
func TestPeaks(t *testing.T) {
	for want, y := range [][]float64{1: {0}, 2: {10}, 3: {30, 30}} {
		if y == nil {
			continue
		}
		site := testutil.Must(loss.Square{Noise: 1}.Site(y, resample.Bernoulli{Rate: 0.5}))(t)
		if got := peaks(site.Distribution(loss.Cavity{C: 1, Var: 1})); got != want {
			t.Errorf("%d peaks, want %d", got, want)
		}
	}
}

// TestGaps: where a method has no solution, its line has a gap and keeps its other points.
func TestGaps(t *testing.T) {
	spec := model.Spec{Set: testutil.Must(dataset.Load("synthetic:waves,n=80,d=2", dataset.Options{}))(t),
		Kernel: kernel.Spec{Kind: kernel.RBF, Gamma: 0.1}, Loss: loss.Square{Noise: 1e-4}, Standardize: true}
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	line, gaps := theoryLine(t.Context(), m, loss.SquareTest{}, solver.StartOnly), 0
	for i, ratio := range theoryRatios {
		s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: ratio},
			solver.Settings{Method: solver.StartOnly}))(t)
		if s.Status != solver.Converged {
			gaps++
		}
		if line.X[i] != ratio || math.IsNaN(line.Y[i]) != (s.Status != solver.Converged) {
			t.Errorf("ratio %v: %s, drawn at %v: %v", ratio, s.Status, line.X[i], line.Y[i])
		}
	}
	if gaps == 0 || gaps == len(theoryRatios) {
		t.Errorf("%d gaps", gaps)
	}
}

// TestFluctuations: averages of Gaussian predictions of variance v over m of them fluctuate by sqrt(v/m),
// their variances by v sqrt(2/(m-1)); an input without spread adds nothing.
func TestFluctuations(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	predictions := [][]float64{make([]float64, 40010), make([]float64, 40010)}
	for i := range predictions[0] {
		predictions[0][i], predictions[1][i] = 10+3*rng.NormFloat64(), 5
	}
	of := fluctuations(predictions)
	mean, variance := 3/math.Sqrt(fewResamples), 9*math.Sqrt(2./(fewResamples-1))
	for k, want := range []fluctuation{{mean, mean / 10}, {variance, variance / 9}} {
		if math.Abs(of[k].sd/want.sd-1) > 0.1 || math.Abs(of[k].share/want.share-1) > 0.1 {
			t.Errorf("%+v, want %+v", of[k], want)
		}
	}
}

// TestCurve: the theory's line is the same by single solves, and the sides agree within the errors.
func TestCurve(t *testing.T) {
	p := &paperRun{resamples: 100}
	spec := p.preset("crabs")
	line, dots := p.bothSides(t.Context(), spec, loss.ZeroOne{}, 0)
	if len(line.X) != len(theoryRatios) || len(dots.X) != len(naiveRatios) {
		t.Fatalf("%d and %d points", len(line.X), len(dots.X))
	}
	m := testutil.Must(model.Build(t.Context(), spec))(t)
	leftOut := func(ratio float64) float64 {
		s := testutil.Must(m.Solve(t.Context(), resample.Poisson{Ratio: ratio}, solver.Settings{}))(t)
		error, _ := s.LeftOut(loss.ZeroOne{})
		return error
	}
	if want := leftOut(theoryRatios[9]); math.Abs(line.Y[9]-want) > 1e-5 {
		t.Errorf("error %v at ratio %v, want %v", line.Y[9], line.X[9], want)
	}
	for i, ratio := range dots.X[:5] {
		want := leftOut(ratio)
		// 4 standard errors, and 15% that the theory may be off on this set.
		if math.Abs(dots.Y[i]-want) > 2*dots.Err[i]+0.15*want {
			t.Errorf("ratio %v: retrained %v +- %v, theory %v", ratio, dots.Y[i], dots.Err[i]/2, want)
		}
	}
}
