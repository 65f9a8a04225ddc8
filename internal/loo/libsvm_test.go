package loo

import (
	"bufio"
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
	"bootbench/internal/need"
)

// writeLIBSVM writes z-scored inputs and labels to the last bit.
func writeLIBSVM(t testing.TB, file string, x dataset.Matrix, y []float64) {
	t.Helper()
	f := need.One(os.Create(file))(t)
	w := bufio.NewWriter(f)
	for i, label := range y {
		fmt.Fprintf(w, "%+g", label)
		for j := range x.Cols {
			fmt.Fprintf(w, " %d:%.17g", j+1, x.Data[i*x.Stride+j])
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

var accuracy = regexp.MustCompile(`Accuracy = ([0-9.]+)%`)

// svmTrain runs LIBSVM's svm-train and returns its output and wall time.
func svmTrain(t testing.TB, args ...string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	out, err := exec.Command(os.Getenv("BOOTBENCH_LIBSVM"), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out), time.Since(began)
}

// TestAgainstLIBSVM has svm-train count leave-one-out errors and sets our counts
// and times beside: lines of libsvmCounts, with what each took. svm-train's time
// includes reading the data, ours the kernel matrix. It runs where
// BOOTBENCH_LIBSVM names svm-train.
func TestAgainstLIBSVM(t *testing.T) {
	if os.Getenv("BOOTBENCH_LIBSVM") == "" {
		t.Skip("see scripts/libsvm.sh")
	}
	dir := t.TempDir()
	for _, name := range []string{"crabs", "sonar", "wisconsin", "pima"} {
		set := need.One(dataset.Open(name))(t)
		z, _ := dataset.Standardize(set.X)
		file := filepath.Join(dir, name)
		writeLIBSVM(t, file, z, set.Y)
		for _, width := range []float64{1, 0.5} {
			for _, c := range []float64{0.1, 1, 10, 100} {
				gamma := strconv.FormatFloat(width/float64(set.D()), 'g', 17, 64)
				out, took := svmTrain(t, "-s", "0", "-t", "2", "-g", gamma, "-c", fmt.Sprint(c), "-e", "0.001", "-m",
					"400",
					"-q", "-v", fmt.Sprint(set.N()), file)
				share, err := strconv.ParseFloat(accuracy.FindStringSubmatch(out)[1], 64)
				if err != nil {
					t.Fatal(out)
				}
				counted := int(math.Round(float64(set.N()) * (1 - share/100)))
				exact, exactTook := timed(t, name, width, c, Exact)
				fast, fastTook := timed(t, name, width, c, Fast)
				fmt.Printf("{%q, %g, %g, %d}, // ours %d (%d ties); svm-train %.3f s, exact %.4f (%.3f), fast %.4f "+
					"(%.3f), %.1f%% retrained\n",
					name, width, c, counted, exact.Errors, len(exact.Ties), took.Seconds(), exactTook.Seconds(),
					exactTook.Seconds()/took.Seconds(),
					fastTook.Seconds(), fastTook.Seconds()/took.Seconds(), 100*float64(fast.Retrained)/float64(set.N()))
				if d := exact.Errors - counted; d > len(exact.Ties) || -d > len(exact.Ties) ||
					fast.Errors != exact.Errors {
					t.Errorf("%s: exact %d, fast %d, svm-train %d, ties %v", name, exact.Errors, fast.Errors, counted,
						exact.Ties)
				}
			}
		}
	}
}

// timed is the estimate from the inputs on, and the least of three wall times.
func timed(t *testing.T, name string, width, c float64, m Method) (r *Result, least time.Duration) {
	for round := range 3 {
		began := time.Now()
		k, y := embedded(t, name, width)
		r = run(t, Problem{Kernel: rows(t, k), Y: y, C: c, Bias: true}, Settings{Method: m})
		if took := time.Since(began); round == 0 || took < least {
			least = took
		}
	}
	return r, least
}
