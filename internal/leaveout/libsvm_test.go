package leaveout

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/testutil"
	"bootbench/train"
)

var accuracy = regexp.MustCompile(`Accuracy = ([0-9.]+)%`)

// TestAgainstLIBSVM has svm-train count leave-one-out errors and compares ours: it prints the lines of
// libsvmCounts. It runs where BOOTBENCH_LIBSVM names svm-train.
func TestAgainstLIBSVM(t *testing.T) {
	program := os.Getenv("BOOTBENCH_LIBSVM")
	if program == "" {
		t.Skip("see scripts/libsvm.sh")
	}
	for _, c := range libsvmCounts {
		set, file := testutil.Must(dataset.Open(c.data))(t), filepath.Join(t.TempDir(), c.data)
		z, _ := dataset.Standardize(set.X)
		lines, scaled := &bytes.Buffer{}, &dataset.Set{X: z, Columns: []dataset.Column{{Y: set.Targets(0)}}}
		testutil.Check(t, dataset.Write(lines, ".svm", scaled))
		testutil.Check(t, os.WriteFile(file, lines.Bytes(), 0o600))
		gamma := fmt.Sprint(c.width / float64(set.D()))
		out := testutil.Must(exec.Command(program, "-s", "0", "-t", "2", "-g", gamma, "-c", fmt.Sprint(c.c),
			"-e", "0.001", "-m", "400", "-q", "-v", fmt.Sprint(set.N()), file).CombinedOutput())(t)
		share := testutil.Must(strconv.ParseFloat(string(accuracy.FindSubmatch(out)[1]), 64))(t)
		counted := int(math.Round(float64(set.N()) * (1 - share/100)))
		fmt.Printf("{%q, %g, %g, %d},\n", c.data, c.width, c.c, counted)
		k, y := embedded(t, c.data, c.width)
		r := run(t, Problem{Kernel: rows(t, k), C: c.c, Set: train.Set{Y: y, Bias: true}}, Settings{})
		if d := r.Errors - counted; d > len(r.Ties) || -d > len(r.Ties) {
			t.Errorf("%v: %d errors, svm-train %d, ties %v", c, r.Errors, counted, r.Ties)
		}
	}
}
