//go:build mpi && openblas

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bootbench/internal/need"
)

// lowRank is a command line of a model of 3000 sites on two ranks, the command first.
func lowRank(command string, more ...string) []string {
	return append([]string{"-np", "2", "bootbench", command, "synthetic:waves,n=3000,d=3,seed=1", "--engine",
		"lowrank"}, more...)
}

var squareModel = []string{"--loss", "square", "--noise", "10%", "--gamma", "0.05"}

// ranksDocument is the JSON that a command line leaves, on ranks and of one process, which
// mpirun starts alone.
func ranksDocument(t *testing.T, args []string) (document map[string]any) {
	t.Helper()
	stdout, stderr, status := finish(t, onTwoRanks(t, append(append([]string{}, args...), "--quiet", "--json",
		"-")...))
	if err := json.Unmarshal([]byte(stdout), &document); err != nil || status != exitDone {
		t.Fatalf("%v, status %d\n%s", err, status, stderr)
	}
	return document
}

// Two ranks print one document whose numbers are those of one process: theory, refined
// values of a square and a margin loss, with a bias, predictions and intervals, curves, grids.
func TestScaLAPACKLowRankAnswersAsOne(t *testing.T) {
	test := filepath.Join(t.TempDir(), "test.csv")
	if err := os.WriteFile(test, []byte("x1,x2,x3\n0.3,-1,0.2\n1,0,-0.5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	table := manyFiles(t)
	labels := []string{"--loss", "hinge", "--C", "1", "--gamma", "0.05", "--bias"}
	for name, args := range map[string][]string{
		"square": lowRank("estimate", append(squareModel, "--refine", "20")...),
		"hinge": append(append([]string{"-np", "2", "bootbench", "estimate", "synthetic:rings,n=2000,seed=1",
			"--engine", "lowrank"}, labels...), "--refine", "10", "--rank-error", "50%"),
		"predict": lowRank("predict", append(squareModel, "--test", test, "--interval", "observation", "--refine",
			"10")...),
		"curve": lowRank("curve", append(squareModel, "--ratio", "0.5,1", "--no-points")...),
		"files": {"-np", "2", "bootbench", "estimate", table, "--engine", "lowrank", "--missing", "mean",
			"--rank-error", "50%", "--refine", "none"},
		"grid": lowRank("grid", append(squareModel[:4:4], "--over", "gamma=0.03,0.05")...),
	} {
		t.Run(name, func(t *testing.T) {
			got := ranksDocument(t, args)
			want := ranksDocument(t, append([]string{"-np", "1"}, args[2:]...))
			compareNumbers(t, name, want, got)
		})
	}
}

// manyFiles is a table of 900 rows in three files of different lengths: numbers, texts, missing cells and
// rows that repeat.
func manyFiles(t *testing.T) (pattern string) {
	rng, folder := rand.New(rand.NewPCG(19, 7)), t.TempDir()
	for k, rows := range []int{500, 90, 310} {
		text := "a,colour,b,y\n"
		for range rows {
			a, colour := rng.IntN(30), [...]string{"red", "green", "blue", ""}[rng.IntN(4)]
			text += fmt.Sprintf("%d,%s,%d,%g\n", a, colour, rng.IntN(9),
				math.Sin(float64(a)/5)+float64(len(colour))+0.3*rng.NormFloat64())
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("rows-%d.csv", k)), []byte(text),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "rows-*.csv")
}

// compareNumbers compares documents number by number: 1e-5 of each, and what comes of exact
// fits, which end within 1e-3 standard deviations at an iteration that rounding may change, to
// 5e-3. What tells of the run and not of the answer may differ.
func compareNumbers(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for name, v := range want {
			switch name {
			case "time", "memory", "backend", "residual", "sweeps", "refreshes", "iterations", "fit_s", "solve_s":
				continue
			}
			if name == "points" && at == "hinge.refined" { // ten resamples magnify
				continue
			}
			compareNumbers(t, at+"."+name, v, got[name])
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			t.Errorf("%s: %d values, want %d", at, len(got), len(want))
			return
		}
		for i, v := range want {
			compareNumbers(t, at, v, got[i])
		}
	case float64:
		tolerance := 1e-5
		if strings.Contains(at, ".refined.") {
			tolerance = 5e-3
		}
		if got, ok := got.(float64); !ok || math.Abs(got-want) > tolerance*(math.Abs(want)+1e-2) {
			t.Errorf("%s is %v, of one process %v", at, got, want)
		}
	}
}

// Ranks that have read other data end at once, with the reason; the goal that a rank limit
// misses is said with status 3.
func TestScaLAPACKLowRankFaults(t *testing.T) {
	other := append([]string{"-np", "1"}, lowRank("estimate", squareModel...)[2:]...)
	other = append(append(other, ":", "-np", "1"), lowRank("estimate", squareModel...)[2:]...)
	other[len(other)-len(squareModel)-3] = "synthetic:waves,n=3000,d=3,seed=2"
	for name, c := range map[string]struct {
		args   []string
		status int
		says   string
	}{
		"other data": {other, exitUsage, "these data are not those of rank 0"},
		"hard margin": {[]string{"-np", "2", "bootbench", "estimate", "crabs", "--loss", "hard", "--engine",
			"lowrank"}, exitUsage, "take --engine scalapack"},
		"rank limit": {lowRank("estimate", append(squareModel, "--max-rank", "20", "--refine", "none")...),
			exitNotConverged, "rank 20 may change the left-out error"},
		"memory": {lowRank("estimate", append(squareModel, "--max-memory", "1M")...), exitUsage,
			"not enough memory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, status := finish(t, onTwoRanks(t, c.args...))
			if status != c.status || strings.Count(stderr, c.says) != 1 {
				t.Errorf("status %d, want %d, and %q once in:\n%s", status, c.status, c.says, stderr)
			}
		})
	}
}

// work waits until a process has worked for so many seconds more, which take as long as others let them.
func work(t *testing.T, pid int, seconds int) {
	t.Helper()
	ticks := func() (sum int) { // of the processor, a hundred a second
		_, fields, _ := strings.Cut(string(need.One(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t)), ") ")
		for _, field := range strings.Fields(fields)[11:13] {
			sum += need.One(strconv.Atoi(field))(t)
		}
		return sum
	}
	for began := ticks(); ticks() < began+100*seconds; {
		time.Sleep(10 * time.Millisecond)
	}
}

// A signal to one rank ends the exact resamples on all at the same one, and those that are
// there count; a rank that is killed among them takes the others with it.
func TestScaLAPACKLowRankIsInterrupted(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"interrupted": syscall.SIGTERM,
		"killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			trace := filepath.Join(t.TempDir(), "trace")
			cmd := onTwoRanks(t, lowRank("estimate", append(squareModel, "--refine", "100000", "--no-points",
				"--trace", trace)...)...)
			var stdout bytes.Buffer
			cmd.Stdout = &stdout
			ranks := begin(t, cmd, trace, 0)
			work(t, ranks[1], 3) // into the resamples
			if err := syscall.Kill(ranks[1], signal); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			status := cmd.ProcessState.ExitCode()
			if signal == syscall.SIGTERM && (status != exitInterrupted || !strings.Contains(stdout.String(),
				"refined by")) || status == exitDone {
				t.Errorf("status %d\n%s", status, stdout.String())
			}
			gone(t, ranks[0])
		})
	}
}
