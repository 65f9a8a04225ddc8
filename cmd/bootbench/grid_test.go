package main

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/need"
	"bootbench/internal/null"
	"bootbench/internal/report"
)

// TestGrid: every cell is what estimate finds with the flags of that cell, and
// the best is the least of them.
func TestGrid(t *testing.T) {
	base := []string{"synthetic:friedman1,n=60", "--loss", "square", "--amplitude", "25", "--constant", "200"}
	g := document[report.Grid](t,
		must(t, append([]string{"grid", "--json", "-", "--over", "noise=0.5,2", "--over", "length-scale=1:4:3",
			"--over", "ratio=0.5,1"}, base...)...))
	lengths := []string{"1", "2", "4"}
	if g.Data != "synthetic:friedman1,n=60,seed=1,d=10,noise=1" || len(g.Over) != 3 || g.Status != "complete" ||
		len(g.Results) != 12 || g.Best == nil || g.Warnings == nil {
		t.Fatalf("%+v", g)
	}
	best, at := null.Float(1e300), 0
	for i, c := range g.Results {
		values := []string{[]string{"0.5", "2"}[i/6], lengths[i/2%3], []string{"0.5", "1"}[i%2]}
		if !reflect.DeepEqual(c.Values, values) {
			t.Fatalf("cell %d is at %v, not %v", i, c.Values, values)
		}
		alone := document[report.Estimate](t,
			must(t, append([]string{"estimate", "--json", "-", "--no-points", "--quiet", "--noise", values[0],
				"--length-scale", values[1], "--ratio", values[2]}, base...)...))
		if c.Estimate == nil || c.Estimate.TestError != alone.TestError || c.Estimate.Err632 != alone.Err632 ||
			c.Estimate.Points != nil || !reflect.DeepEqual(c.Estimate.Kernel, alone.Kernel) {
			t.Errorf("cell %v: %+v, alone %+v", values, c.Estimate, alone)
		}
		if alone.TestError < best {
			best, at = alone.TestError, i
		}
	}
	if *g.Best != at {
		t.Errorf("best is %d, not %d", *g.Best, at)
	}
}

// TestGridBy: cells are compared by the objective that tune descends along.
func TestGridBy(t *testing.T) {
	args := []string{"synthetic:friedman1,n=60", "--loss", "square", "--over", "noise=0.5,2,8", "--over",
		"gamma=0.01,0.1", "--refine", "none", "--json", "-", "--quiet"}
	for _, by := range []string{"cv", "leftout", "632plus", "loo", "evidence"} {
		g := document[report.Grid](t, must(t, append([]string{"grid", "--by", by}, args...)...))
		value := func(i int) float64 { return float64(g.Results[i].Value()) }
		best := 0
		for i := range g.Results {
			if value(i) < value(best) {
				best = i
			}
			if i != 3 {
				continue
			}
			d := document[report.Tuning](t, must(t, "tune", args[0], "--by", by, "--noise", g.Results[i].Values[0],
				"--gamma", g.Results[i].Values[1], "--over", "noise,gamma",
				"--json", "-", "--quiet"))
			near := 0.01
			if by == "cv" { // exact, by one partition: of tune by the theory, over all
				near = 0.1
			}
			if math.Abs(float64(*d.Path[0].Objective)/value(i)-1) > near {
				t.Errorf("%s, cell %d: %g, tune has %g", by, i, value(i), *d.Path[0].Objective)
			}
		}
		if *g.Best != best {
			t.Errorf("%s: best %d, want %d", by, *g.Best, best)
		}
	}
}

// TestGridFailure: a cell without a solution is told and leaves the others; it is
// not the best.
func TestGridFailure(t *testing.T) {
	dir := t.TempDir()
	o := drive(t, "", "grid", "pima", "--loss", "hard", "--over", "kernel=linear,rbf", "--out", dir, "--json",
		"-")
	g := document[report.Grid](t, o.stdout)
	if o.status != exitFailed || len(g.Results) != 2 || g.Results[0].Estimate != nil ||
		!strings.Contains(g.Results[0].Failure, "hard margins contradict") ||
		g.Results[1].Failure != "" || g.Results[1].Estimate == nil || g.Best == nil || *g.Best != 1 ||
		!strings.Contains(o.stderr, "kernel linear: failed") {
		t.Errorf("%+v", o)
	}
	f := need.One(os.Open(filepath.Join(dir, "grid.csv")))(t)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // refuses lines of different lengths
	if err != nil || len(rows) != 3 || rows[0][0] != "kernel" || rows[1][0] != "linear" || rows[2][0] != "rbf" {
		t.Errorf("%v, %v", rows, err)
	}
	// No memory for one: the others are kept.
	o = drive(t, "", "grid", "synthetic:friedman1,n=2000", "--loss", "square", "--noise", "0.1", "--engine",
		"lowrank",
		"--rank-tol", "1e-4", "--over", "gamma=0.0005,0.5", "--max-memory", "12MB", "--json", "-", "--quiet")
	if g := document[report.Grid](t, o.stdout); o.status != exitFailed || len(g.Results) != 2 ||
		g.Results[0].Estimate == nil || !strings.Contains(g.Results[1].Failure, "memory") {
		t.Errorf("no memory: %+v", o)
	}
	// Not converged: told by the exit status, and never the best.
	o = drive(t, "", "grid", "crabs", "--loss", "hinge", "--over", "C=1,2", "--max-sweeps", "1", "--json", "-",
		"--quiet")
	if g := document[report.Grid](t, o.stdout); o.status != exitNotConverged || g.Best != nil ||
		len(g.Results) != 2 {
		t.Errorf("not converged: %+v", o)
	}
}

// TestGridFolds: the cells of a grid by cv are what cv finds, along paths of C in whatever order.
func TestGridFolds(t *testing.T) {
	args := []string{"synthetic:blobs,n=90,d=3", "--loss", "hinge", "--quiet", "--json", "-"}
	g := document[report.Grid](t, must(t, append([]string{"grid", "--by", "cv", "--folds", "4", "--over",
		"C=10,0.1,1", "--over", "gamma=0.1,1"}, args...)...))
	for i, c := range g.Results {
		alone := document[report.CrossValidation](t, must(t, append([]string{"cv", "--folds", "4", "--repeats", "1",
			"--C", []string{"10", "0.1", "1"}[i/2], "--gamma", []string{"0.1", "1"}[i%2]}, args...)...))
		if v := c.Validation; v == nil || v.Folds != 4 || v.Resamples != 4 || v.Parameters != alone.Parameters ||
			math.Abs(float64(v.Error-alone.Error)) > 0.012 {
			t.Errorf("%v: %+v, alone %v", c.Values, v, alone.Error) // one example on the margin may differ
		}
	}
	if !(g.Results[*g.Best].Value() <= g.Results[0].Value()) || g.Status != "complete" {
		t.Errorf("best %d, %s", *g.Best, g.Status)
	}
}
