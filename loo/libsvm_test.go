package loo

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"bootbench/dataset"
)

// writeLIBSVM writes z-scored inputs and labels to the last bit.
func writeLIBSVM(t testing.TB, file string, x dataset.Matrix, y []float64) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
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

// TestCountLIBSVM prints the leave-one-out errors that LIBSVM counts: the
// fixtures of libsvmCounts. It runs where BOOTBENCH_LIBSVM names svm-train.
func TestCountLIBSVM(t *testing.T) {
	if os.Getenv("BOOTBENCH_LIBSVM") == "" {
		t.Skip("set BOOTBENCH_LIBSVM to LIBSVM's svm-train")
	}
	dir := t.TempDir()
	for _, name := range []string{"crabs", "sonar", "wisconsin", "pima"} {
		set, err := dataset.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		z, _ := dataset.Standardize(set.X)
		file := filepath.Join(dir, name)
		writeLIBSVM(t, file, z, set.Y)
		for _, width := range []float64{1, 0.5} {
			for _, c := range []float64{0.1, 1, 10, 100} {
				gamma := strconv.FormatFloat(width/float64(set.D()), 'g', 17, 64)
				out, took := svmTrain(t, "-s", "0", "-t", "2", "-g", gamma, "-c", fmt.Sprint(c), "-e", "0.001", "-m", "400",
					"-q", "-v", fmt.Sprint(set.N()), file)
				share, err := strconv.ParseFloat(accuracy.FindStringSubmatch(out)[1], 64)
				if err != nil {
					t.Fatal(out)
				}
				errors := float64(set.N()) * (1 - share/100)
				fmt.Printf("{%q, %g, %g, %.2f}, // %.2f s\n", name, width, c, errors, took.Seconds())
			}
		}
	}
}
