package main

import (
	"bytes"
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

// TestQuantiles: the quantiles over resamples lie within the resolution of 200 exact resamples of theirs, 0.2
// of the share for shares of 200 draws and the theory's own error; covariances have the variances on the
// diagonal.
func TestQuantiles(t *testing.T) {
	for _, line := range []string{
		"estimate crabs --loss hinge --C 1", "estimate synthetic:friedman1,n=80 --loss square --noise 1",
		"predict synthetic:friedman1,n=80 --test synthetic:friedman1,n=7,seed=3 --loss square --noise 1",
	} {
		npy := filepath.Join(t.TempDir(), "c.npy")
		a := decoded[struct {
			Points  report.Points
			Refined report.Refined
		}](t, append(strings.Fields(line), "--quantiles", "0.1,0.3,0.5,0.7,0.9", "--covariance", npy)...)
		exact, theory := a.Refined.Points.Quantiles, a.Points.Quantiles
		if len(theory) != 5 || len(exact) != 5 {
			t.Fatalf("%s: %d and %d quantiles", line, len(theory), len(exact))
		}
		for row := range a.Points.Mean {
			for k := 1; k < 4; k++ {
				if q := theory[k][row]; !(exact[k-1][row]-1e-9 <= q && q <= exact[k+1][row]+1e-9) {
					t.Errorf("%s, row %d: quantile %d is %v, neighbours by exact resamples %v and %v", line, row+1, k, q,
						exact[k-1][row], exact[k+1][row])
				}
			}
		}
		f := need.One(os.Open(npy))(t)
		var c mat.Dense
		if err := npyio.Read(f, &c); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for i, v := range a.Points.Variance {
			if math.Abs(c.At(i, i)/v-1) > 1e-6 || math.Abs(c.At(i, 0)-c.At(0, i)) > 1e-9 {
				t.Errorf("%s: covariances (%d, %d) %v, variance %v", line, i, i, c.At(i, i), v)
			}
		}
	}
}

// TestCompareModels: a model does not differ from itself; a better one by the difference of
// the two answers, each of which is what its own file says, bias included; what is no answer, or of other
// data, is refused.
func TestCompareModels(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, line := range map[string]string{"hard.json": "estimate sonar",
		"soft.json": "estimate sonar --loss hinge --C 1", "bias.json": "estimate sonar --loss hinge --C 1 --bias",
		"crabs.json": "estimate crabs", "boston.json": "estimate boston"} {
		must(t, append(strings.Fields(line), "--refine", "none", "--json", at(name))...)
	}
	var a report.ModelComparison
	ask := func(args ...string) {
		t.Helper()
		a = decoded[report.ModelComparison](t, append([]string{"compare"}, args...)...)
	}
	ask("--models", at("hard.json"), at("hard.json"))
	if a.Theory.Value != 0 || a.Theory.PValue != 1 || a.Refined.Value != 0 ||
		a.Refined.PValue != 1 {
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
	old := bytes.Replace(need.One(os.ReadFile(at("hard.json")))(t), []byte(`"schema": 2`), []byte(`"schema": 1`),
		1)
	if err := os.WriteFile(at("old.json"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		at("hard.json"):                                      "here are 1 models",
		at("hard.json") + " " + at("old.json"):               "schema 1, this program reads schema 2",
		at("hard.json") + " " + at("crabs.json"):             "name the DATA",
		at("hard.json") + " " + at("none.json"):              "none.json",
		"sonar " + at("hard.json") + " " + at("boston.json"): "13 length scales for 60 features",
	} {
		all := strings.Fields(args)
		if o := drive(t, "", append([]string{"compare", "--models"},
			append(all[len(all)-1:], all[:len(all)-1]...)...)...); o.status != exitUsage ||
			!strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
}

// TestModelsReadAsRecorded: a model is compared on the columns that its answer read, at the answers' ratio;
// answers of other targets or resamples are refused by name, and so are flags that contradict them.
func TestModelsReadAsRecorded(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "crabs.csv")
	must(t, "datasets", "--export", "crabs", data)
	at := func(name string) string { return filepath.Join(dir, name+".json") }
	for name, flags := range map[string]string{
		"all": "", "fewer": "--drop 2,3", "often": "--ratio 2", "other": "--target 2 --loss square --noise 1",
	} {
		if flags != "" && !strings.Contains(flags, "--loss") || flags == "" {
			flags += " --loss hinge --C 1 --gamma 0.2"
		}
		must(t, append([]string{"estimate", data, "--refine", "none", "--json", at(name)},
			strings.Fields(flags)...)...)
	}
	a := decoded[report.ModelComparison](t, "compare", data, "--models", at("all")+","+at("fewer"))
	sameErrors(t, &a, at("all"), at("fewer"))
	for args, want := range map[string]string{
		at("all") + "," + at("often"):                "write both with the same",
		at("all") + "," + at("other"):                "not of the same examples",
		at("all") + "," + at("fewer") + " --ratio 3": "do without it",
		at("all") + "," + at("fewer") + " --drop 2":  "the answers say how DATA is read",
	} {
		line := append([]string{"compare", data, "--models"}, strings.Fields(args)...)
		if o := drive(t, "", line...); o.status != exitUsage || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: status %d, %s", args, o.status, o.stderr)
		}
	}
}

// sameErrors: each model has in a comparison the error of its own answer.
func sameErrors(t *testing.T, c *report.ModelComparison, answers ...string) {
	t.Helper()
	for k, name := range answers {
		own := document[report.Estimate](t, string(need.One(os.ReadFile(name))(t)))
		if math.Abs(float64(c.Models[k].TestError-own.TestError)) > 1e-9 {
			t.Errorf("%s: %v in its own answer, %v beside another", name, own.TestError, c.Models[k].TestError)
		}
	}
}
