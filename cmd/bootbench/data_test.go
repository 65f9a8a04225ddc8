package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// TestSides: where probabilities are on the other side of 1/2 than the classes, their number is said.
func TestSides(t *testing.T) {
	rng, sides := rand.New(rand.NewPCG(5, 6)), 0
	file := write(t, "two.csv", csvOf("a,b,y", 80, func(int) []any {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		return []any{a, b, map[bool]string{true: "yes", false: "no"}[a+0.7*rng.NormFloat64() > 0.8]}
	}))
	for _, flags := range []string{"--loss hinge --C 1",
		"--loss logistic --C 1 --class-weight balanced", "--loss probit"} {
		o := drive(t, "", "predict --json - --test", file, file, flags)
		p := parse[report.Answer](t, o.stdout)
		other := 0
		for i, class := range p.Points.Class {
			if (class == "yes") != (p.Points.Mean[i] > 0) {
				t.Errorf("%s, row %d: class %s of the mean %v", flags, i+1, class, p.Points.Mean[i])
			}
			if (class == "yes") != (p.Points.Probability.Positive[i] > 0.5) {
				other++
			}
		}
		sides += other
		said := fmt.Sprintf("in %d of 80 rows the class and the probability of yes", other)
		if strings.Contains(o.stderr, said) != (other > 0) {
			t.Errorf("%s: %d rows on different sides; %s", flags, other, o.stderr)
		}
	}
	if sides == 0 {
		t.Error("no probability was on the other side")
	}
}

// TestInputsAreKept: no output takes the place of a file that is read, whatever flag names either, under
// another spelling, through a link or as standard input; nor of one in --out that the program did not write.
// All files are as they were.
func TestInputsAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	table := testutil.Must(os.ReadFile(houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})))(t)
	const fixed = " --loss square --noise 1 --quiet --json "
	if err := errors.Join(os.Mkdir("fo", 0o700), os.WriteFile("houses.csv", table, 0o600),
		os.WriteFile("fo/points.csv", table, 0o600), os.WriteFile("fo/predict.svg", nil, 0o600),
		os.Symlink("houses.csv", "link.csv"), os.Symlink("results", "way")); err != nil {
		t.Skip(err)
	}
	must(t, "estimate houses.csv --refine none --out results"+fixed+"a.json")
	must(t, "train houses.csv --model m"+fixed+"t.json")
	must(t, "train houses.csv --model ./boston"+fixed+"t.json") // a file of the name of a set
	must(t, "retrain houses.csv --resamples 4 --journal j"+fixed+"r.json")
	must(t, "estimate houses.csv --refine none --out results"+fixed+"a.json") // its own files are replaced
	below := func() map[string]string {
		texts := map[string]string{}
		for _, name := range filesBelow(t) {
			if text, err := os.ReadFile(name); err == nil { // not of a link to a folder
				texts[name] = string(text)
			}
		}
		return texts
	}
	before := below()
	for line := range strings.Lines(`estimate houses.csv --json ./houses.csv
estimate houses.csv --json link.csv
estimate link.csv --memprofile houses.csv
estimate hou*.csv --json houses.csv
retrain houses.csv --replicates houses.csv
predict boston --test houses.csv --csv houses.csv
predict boston --test houses.csv --json houses.csv
predict --model m --test houses.csv --json m
predict --model boston --test houses.csv --csv boston
predict --model m --test results/points.csv --out way
compare --models a.json,results/result.json --out results
compare a.json results/result.json --csv x --json houses.csv
compare a.json results/result.json --json houses.csv
estimate fo/points.csv --out fo
estimate houses.csv --out fo
predict houses.csv --test houses.csv --out fo
estimate results/points.csv --out results
estimate houses.csv --out results --json way/result.json
estimate houses.csv --out new --json new/report.html
merge j --json j/journal
retrain houses.csv --journal j --json j/journal
estimate results/result.json --out results
datasets --export boston houses.csv --json houses.csv`) {
		o := drive(t, "", strings.TrimSpace(line))
		if o.status != exitUsage || o.stdout != "" || strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %+v", line, o)
		}
	}
	in := testutil.Must(os.Open("houses.csv"))(t)
	defer in.Close()
	var stderr strings.Builder
	status := run(t.Context(), words("estimate - --json houses.csv"), in, io.Discard, &stderr)
	if status != exitUsage {
		t.Errorf("standard input: %d, %s", status, &stderr)
	}
	out := testutil.Must(os.OpenFile("houses.csv", os.O_APPEND|os.O_WRONLY, 0))(t)
	defer out.Close()
	if status := run(t.Context(), words("estimate houses.csv"), in, out, &stderr); status != exitUsage {
		t.Errorf("standard output: %d, %s", status, &stderr)
	}
	if after := below(); !maps.Equal(after, before) {
		t.Errorf("the files %v became %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
	}
}

// TestPipe: DATA from standard input and the answer to standard output are two streams.
func TestPipe(t *testing.T) {
	table := string(testutil.Must(os.ReadFile(houses(t, "houses.csv", []int{0, 1, 2, 3, 4, 5})))(t))
	for _, command := range []string{"estimate", "loo", "retrain --resamples 5"} {
		o := drive(t, table, command, "- --loss square --noise 1 --json - --quiet")
		if o.status != exitDone || parse[report.Answer](t, o.stdout).N == 0 {
			t.Errorf("%s: %+v", command, o)
		}
	}
	must(t, "retrain --resamples 20 --no-points --json", filepath.Join(t.TempDir(), "answer"), "-- crabs")
}
