package leaveout

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/train"
)

var accuracy = regexp.MustCompile(`Accuracy = ([0-9.]+)%`)

// TestAgainstLIBSVM has svm-train count leave-one-out errors and sets our counts
// and times beside: lines of libsvmCounts, with what each took. svm-train's time
// includes reading the data, ours the kernel matrix. It runs where
// BOOTBENCH_LIBSVM names svm-train.
func TestAgainstLIBSVM(t *testing.T) {
	program := os.Getenv("BOOTBENCH_LIBSVM")
	if program == "" {
		t.Skip("see scripts/libsvm.sh")
	}
	for _, c := range libsvmCounts {
		set, file := testutil.Must(dataset.Open(c.data))(t), filepath.Join(t.TempDir(), c.data)
		z, _ := dataset.Standardize(set.X)
		lines, scaled := &bytes.Buffer{}, &dataset.Set{X: z, Columns: []dataset.Column{{Y: set.Targets(0)}}}
		err := dataset.Write(lines, ".svm", scaled)
		if err = errors.Join(err, os.WriteFile(file, lines.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		gamma := fmt.Sprint(c.width / float64(set.D()))
		out := testutil.Must(exec.Command(program, "-s", "0", "-t", "2", "-g", gamma, "-c", fmt.Sprint(c.c),
			"-e", "0.001", "-m", "400", "-q", "-v", fmt.Sprint(set.N()), file).CombinedOutput())(t)
		took := time.Since(began)
		share := testutil.Must(strconv.ParseFloat(string(accuracy.FindSubmatch(out)[1]), 64))(t)
		counted := int(math.Round(float64(set.N()) * (1 - share/100)))
		exact, exactTook := timed(t, c, Exact)
		fast, fastTook := timed(t, c, Fast)
		inSeconds := func(d time.Duration) string {
			return fmt.Sprintf("%.4f s (%.3f)", d.Seconds(), d.Seconds()/took.Seconds())
		}
		fmt.Printf("{%q, %g, %g, %d}, // ours %d (%d ties); svm-train %.3f s, exact %s, fast %s, %d "+
			"retrained\n",
			c.data, c.width, c.c, counted, exact.Errors, len(exact.Ties), took.Seconds(),
			inSeconds(exactTook), inSeconds(fastTook), fast.Retrained)
		if d := exact.Errors - counted; d > len(exact.Ties) || -d > len(exact.Ties) ||
			fast.Errors != exact.Errors {
			t.Errorf("%v: exact %d, fast %d, svm-train %d, ties %v", c, exact.Errors, fast.Errors, counted,
				exact.Ties)
		}
	}
}

// timed is the estimate from the inputs on, and the least of three wall times.
func timed(t *testing.T, c cell, m Method) (r *Result, least time.Duration) {
	for round := range 3 {
		began := time.Now()
		k, y := embedded(t, c.data, c.width)
		r = run(t, Problem{Kernel: rows(t, k), C: c.c, Set: train.Set{Y: y, Bias: true}}, Settings{Method: m})
		if took := time.Since(began); round == 0 || took < least {
			least = took
		}
	}
	return r, least
}
