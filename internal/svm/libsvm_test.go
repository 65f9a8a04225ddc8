package svm

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/need"
	"bootbench/internal/train"
	"bootbench/kernel"
	"bootbench/linalg"
)

// TestAgainstLIBSVM sets single trainings with a bias beside LIBSVM's svm_train on
// the same kernel matrix and tolerance: objective, weights, bias and time. It
// runs where BOOTBENCH_LIBSVM_TRAIN names the program made from
// scripts/libsvm.c, and takes magic.csv from BOOTBENCH_MAGIC.
func TestAgainstLIBSVM(t *testing.T) {
	program := os.Getenv("BOOTBENCH_LIBSVM_TRAIN")
	if program == "" {
		t.Skip("see scripts/libsvm.sh")
	}
	fmt.Println("data         C  LIBSVM ms  ours, bias ms  ratio  cold ms  ratio  no bias ms  cold ms   " +
		"objective off  alpha off  bias off")
	names := []string{"crabs", "sonar", "wisconsin", "pima"}
	if strings.HasSuffix(os.Getenv("BOOTBENCH_MAGIC"), ".csv") {
		names = append(names, "magic")
	}
	for _, name := range names {
		k, p := comparison(t, name)
		file := filepath.Join(t.TempDir(), name)
		writeMatrix(t, file, k, p.Y)
		for _, c := range []float64{0.1, 1, 10, 100} {
			compareOnce(t, program, file, name, k, p.Y, c)
		}
	}
}

// comparison is a z-scored set with gamma = 1/d, every example its own site as
// LIBSVM has it.
func comparison(t *testing.T, name string) (*linalg.Sym, Problem) {
	t.Helper()
	var set *dataset.Set
	var err error
	if name == "magic" {
		if set, err = dataset.Load(os.Getenv("BOOTBENCH_MAGIC"), dataset.Options{}); err == nil {
			set = set.Shuffled(rand.New(rand.NewPCG(0, 0))).Head(4000)
		}
	} else {
		set, err = dataset.Open(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	z, _ := dataset.Standardize(set.X)
	k := need.One(kernel.Spec{Gamma: 1 / float64(set.D())}.Gram(blas64.General(z)))(t)
	return k, Problem{Y: set.Y}
}

// writeMatrix writes what scripts/libsvm.c reads.
func writeMatrix(t *testing.T, file string, k *linalg.Sym, y []float64) {
	t.Helper()
	f := need.One(os.Create(file))(t)
	w := bufio.NewWriter(f)
	put := func(v ...float64) {
		if err := binary.Write(w, binary.NativeEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	put(float64(k.N()))
	put(y...)
	row := make([]float64, k.N())
	for i := range row {
		for j := range row {
			row[j] = k.At(i, j)
		}
		put(row...)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// compareOnce trains both ways and prints a line. The two dual objectives lie
// within the tolerance times the weight that may still move, sum C, of each other.
func compareOnce(t *testing.T, program, file, name string, k *linalg.Sym, y []float64, c float64) {
	const tolerance, repeats = 1e-3, 5
	n := len(y)
	out := need.One(exec.Command(program, file, fmt.Sprint(c), fmt.Sprint(tolerance),
		fmt.Sprint(repeats)).Output())(t)
	var seconds, rho float64
	theirs, reader := make([]float64, n), strings.NewReader(string(out))
	if _, err := fmt.Fscan(reader, &seconds, &rho); err != nil {
		t.Fatal(err)
	}
	for i := range theirs {
		if _, err := fmt.Fscan(reader, &theirs[i]); err != nil {
			t.Fatal(err)
		}
	}
	warm, cold, r := leastTime(t, k, Problem{Y: y, C: same(n, c), Bias: true}, repeats)
	exact := mustTrain(t, k, Problem{Y: y, C: same(n, c), Bias: true}, Settings{Tolerance: 1e-9})
	plain, plainCold, _ := leastTime(t, k, Problem{Y: y, C: same(n, c)}, repeats)
	off := 0.0
	for i, b := range theirs {
		theirs[i] = b * y[i]
		off = max(off, math.Abs(theirs[i]-exact.Alpha[i]))
	}
	objective, best, ours := plainDual(k, y, theirs), plainDual(k, y, exact.Alpha), plainDual(k, y, r.Alpha)
	if objective > best*(1+1e-9) || objective < best-tolerance*c*float64(n) {
		t.Errorf("%s, C = %g: objective %v, LIBSVM's %v", name, c, best, objective)
	}
	if ours < objective-tolerance*c*float64(n) {
		t.Errorf("%s, C = %g: objective %v at tolerance, LIBSVM's %v", name, c, ours, objective)
	}
	fmt.Printf("%-10s %4g %9.2f %14.2f %6.2f %8.2f %6.2f %11.2f %8.2f  %13.1e  %9.1e  %8.1e\n", name, c,
		1e3*seconds, 1e3*warm, warm/seconds,
		1e3*cold, cold/seconds, 1e3*plain, 1e3*plainCold, (best-objective)/best, off/c,
		math.Abs(exact.Bias+rho))
}

// plainDual is the dual objective of weights of examples each on its own site.
func plainDual(k *linalg.Sym, y, alpha []float64) float64 {
	f, objective := plainField(k, Problem{Y: y}, alpha), 0.0
	for i, a := range alpha {
		objective += a - a*y[i]*f[i]/2
	}
	return objective
}

// leastTime is the least wall time of a training in seconds: by a trainer that
// has trained before, and by a new one.
func leastTime(t *testing.T, k *linalg.Sym, p Problem, repeats int) (warm, cold float64, r *Result) {
	t.Helper()
	warm, cold = math.Inf(1), math.Inf(1)
	for range repeats {
		began := time.Now()
		trainer := newTrainer(t, k)
		var err error
		if r, err = trainer.Train(p, Settings{}); err != nil || r.Status != train.Converged {
			t.Fatal(err)
		}
		cold = min(cold, time.Since(began).Seconds())
		began = time.Now()
		if r, err = trainer.Train(p, Settings{}); err != nil {
			t.Fatal(err)
		}
		warm = min(warm, time.Since(began).Seconds())
	}
	return warm, cold, r
}
