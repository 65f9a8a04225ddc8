package svm

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/dataset"
	"bootbench/internal/need"
	"bootbench/kernel"
	"bootbench/linalg"
)

// TestAgainstLIBSVM sets single trainings with a bias beside LIBSVM's svm_train on
// the same kernel matrix and tolerance: objective, weights, bias and time. The dual
// objectives lie within the tolerance times the weight that may still move, sum C, of each
// other. It runs where BOOTBENCH_LIBSVM_TRAIN names the program made from scripts/libsvm.c.
func TestAgainstLIBSVM(t *testing.T) {
	const tolerance, repeats = 1e-3, 5
	program := os.Getenv("BOOTBENCH_LIBSVM_TRAIN")
	if program == "" {
		t.Skip("see scripts/libsvm.sh")
	}
	fmt.Println("data         C  LIBSVM ms  ours ms  ratio  objective off  alpha off  bias off")
	for _, name := range []string{"crabs", "sonar", "wisconsin", "pima"} {
		set := need.One(dataset.Open(name))(t)
		z, _ := dataset.Standardize(set.X)
		k := need.One(kernel.Spec{Gamma: 1 / float64(set.D())}.Gram(blas64.General(z)))(t)
		y, n, file := set.Y, set.N(), filepath.Join(t.TempDir(), name)
		writeMatrix(t, file, k, y)
		for _, c := range []float64{0.1, 1, 10, 100} {
			out := need.One(exec.Command(program, file, fmt.Sprint(c), fmt.Sprint(tolerance),
				fmt.Sprint(repeats)).Output())(t)
			var seconds, rho float64
			theirs, reader := make([]float64, n), bytes.NewReader(out)
			fmt.Fscan(reader, &seconds, &rho)
			for i := range theirs { // y_i a_i
				if _, err := fmt.Fscan(reader, &theirs[i]); err != nil {
					t.Fatal(err)
				}
				theirs[i] *= y[i]
			}
			p, own := Problem{Y: y, C: same(n, c), Bias: true}, math.Inf(1)
			exact, trainer, ours := mustTrain(t, k, p, Settings{Tolerance: 1e-9}), newTrainer(t, k), 0.0
			for range repeats {
				began := time.Now()
				r := need.One(trainer.Train(p, Settings{}))(t)
				own, ours = min(own, time.Since(began).Seconds()), plainDual(k, y, r.Alpha)
			}
			off := 0.0
			for i, a := range theirs {
				off = max(off, math.Abs(a-exact.Alpha[i]))
			}
			objective, best, slack := plainDual(k, y, theirs), plainDual(k, y, exact.Alpha), tolerance*c*float64(n)
			if objective > best*(1+1e-9) || objective < best-slack || ours < objective-slack {
				t.Errorf("%s, C = %g: objective %v, at tolerance %v, LIBSVM's %v", name, c, best, ours, objective)
			}
			fmt.Printf("%-10s %4g %9.2f %9.2f %6.2f  %13.1e  %9.1e  %8.1e\n", name, c, 1e3*seconds, 1e3*own,
				own/seconds, (best-objective)/best, off/c, math.Abs(exact.Bias+rho))
		}
	}
}

// writeMatrix writes what scripts/libsvm.c reads.
func writeMatrix(t *testing.T, file string, k *linalg.Sym, y []float64) {
	t.Helper()
	numbers := append([]float64{float64(k.N())}, y...)
	for i := range y {
		for j := range y {
			numbers = append(numbers, k.At(i, j))
		}
	}
	var b bytes.Buffer
	if err := binary.Write(&b, binary.NativeEndian, numbers); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plainDual is the dual objective of weights of examples each on its own site.
func plainDual(k *linalg.Sym, y, alpha []float64) float64 {
	f, objective := plainField(k, Problem{Y: y}, alpha), 0.0
	for i, a := range alpha {
		objective += a - a*y[i]*f[i]/2
	}
	return objective
}
