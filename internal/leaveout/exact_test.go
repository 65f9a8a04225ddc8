package leaveout

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/svm"
)

// cell is one leave-one-out count of LIBSVM 3.24 (Debian 3.24+ds-6):
//
//	svm-train -s 0 -t 2 -g WIDTH/d -c C -e 0.001 -v N
//
// on the z-scored set. wisconsin has repeated inputs, each an example of its own.
type cell struct {
	data   string
	width  float64
	c      float64
	errors int
}

// weightedCells are counts under -w-1 minus -w1 plus.
var weightedCells = []struct {
	cell
	minus, plus float64
}{
	{cell{"crabs", 1, 0.1, 80}, 1, 2}, {cell{"crabs", 0.5, 10, 19}, 4, 1}, {cell{"sonar", 1, 1, 30}, 1, 2},
}

var libsvmCounts = []cell{
	{"crabs", 1, 0.1, 53}, {"crabs", 1, 1, 15}, {"crabs", 1, 10, 9}, {"crabs", 1, 100, 7},
	{"crabs", 0.5, 0.1, 151}, {"crabs", 0.5, 1, 20}, {"crabs", 0.5, 10, 9}, {"crabs", 0.5, 100, 7},
	{"sonar", 1, 0.1, 72}, {"sonar", 1, 1, 32}, {"sonar", 1, 10, 25}, {"sonar", 1, 100, 25},
	{"sonar", 0.5, 0.1, 64}, {"sonar", 0.5, 1, 38}, {"sonar", 0.5, 10, 23}, {"sonar", 0.5, 100, 24},
	{"wisconsin", 1, 0.1, 23}, {"wisconsin", 1, 1, 21}, {"wisconsin", 1, 10, 28}, {"wisconsin", 1, 100, 35},
	{"wisconsin", 0.5, 0.1, 20}, {"wisconsin", 0.5, 1, 19}, {"wisconsin", 0.5, 10, 27},
	{"wisconsin", 0.5, 100, 37},
	{"pima", 1, 0.1, 123}, {"pima", 1, 1, 128}, {"pima", 1, 10, 141}, {"pima", 1, 100, 165},
	{"pima", 0.5, 0.1, 112}, {"pima", 0.5, 1, 117}, {"pima", 0.5, 10, 124}, {"pima", 0.5, 100, 142},
}

// TestCells: on every embedded set exact leave-one-out counts what LIBSVM does, with weights of the classes
// too, up to ties within LIBSVM's tolerance; fast has the same outcome for each example and retrains without
// those that the bound demands; xi-alpha with rho = 2 is not below; no margin falls by more than the bound;
// the approximation is within one example in a hundred on the median cell, with weights within two.
func TestCells(t *testing.T) {
	var off []float64
	check := func(c cell, weights loss.ClassWeights) {
		k, y := embedded(t, c.data, c.width)
		p := Problem{Kernel: rows(t, k), C: c.c, Classes: weights, Set: train.Set{Y: y, Bias: true}}
		exact := run(t, p, Settings{})
		if d := exact.Errors - c.errors; d > len(exact.Ties) || -d > len(exact.Ties) {
			t.Errorf("%v: %d errors, ties %v", c, exact.Errors, exact.Ties)
		}
		fast := run(t, p, Settings{Method: Fast})
		if fast.Errors != exact.Errors {
			t.Errorf("%v: exact %d errors, fast %d", c, exact.Errors, fast.Errors)
		}
		checkSkips(t, k, p, exact, fast)
		if bound := run(t, p, Settings{Method: XiAlpha}); bound.Errors < exact.Errors {
			t.Errorf("%v: exact %d errors, xi-alpha %d", c, exact.Errors, bound.Errors)
		}
		approx := run(t, p, Settings{Method: Approximate})
		off = append(off, math.Abs(approx.Error-exact.Error))
		if weights != (loss.ClassWeights{}) && off[len(off)-1] > 0.02 {
			t.Errorf("%v: exact %v, approximately %v", c, exact.Error, approx.Error)
		}
		t.Logf("%v: retrained %d of %d (%d with the bias free), approximation off by %+d", c, fast.Retrained,
			len(y), fast.BiasFree, approx.Errors-exact.Errors)
	}
	cells := libsvmCounts
	if testing.Short() {
		cells = append(cells[:5:5], cells[13], cells[25])
	}
	for _, c := range cells {
		check(c, loss.ClassWeights{})
	}
	slices.Sort(off)
	if m := stat.Quantile(0.5, stat.Empirical, off, nil); m > 0.01 {
		t.Errorf("the approximation is off by %.2g on the median cell", m)
	}
	for _, c := range weightedCells {
		check(c.cell, loss.ClassWeights{Negative: c.minus, Positive: c.plus})
	}
}

// checkSkips recomputes R^2, slacks and the joint room of the free support
// vectors by plain loops, and which examples must be retrained without.
func checkSkips(t *testing.T, k interface{ At(i, j int) float64 }, p Problem, exact, fast *Result) {
	t.Helper()
	n := len(p.Y)
	largest, least := 0.0, math.Inf(1)
	for i := range n {
		for j := range n {
			largest, least = max(largest, k.At(i, j)), min(least, k.At(i, j))
		}
	}
	c := make([]float64, n)
	for i := range c {
		c[i] = p.box(i)
	}
	trainer := svm.NewTrainer(p.Kernel)
	q := train.Set{Y: p.Y, Weight: c, Bias: true}
	r := testutil.Must(trainer.Train(q, train.Settings{Tolerance: 1e-9}))(t)
	for i, y := range p.Y {
		f := r.Bias
		for j, a := range r.Alpha {
			f += a * p.Y[j] * k.At(i, j)
		}
		room := 0.0
		for j, a := range r.Alpha {
			if free := a > 0 && a < c[j]; free && j != i && p.Y[j] == y {
				room += c[j] - a
			} else if free && j != i {
				room += a
			}
		}
		drop := 2 * (largest - least) * r.Alpha[i]
		demanded := y*f > 0 && (y*f-drop <= 0 || room <= r.Alpha[i])
		skipped := math.IsNaN(fast.Margin[i])
		if edge := min(math.Abs(y*f), math.Abs(y*f-drop)); skipped == demanded && edge > 2e-5 {
			t.Errorf("example %d: margin %v, drop %v, room %v for %v: skipped %v", i, y*f, drop, room,
				r.Alpha[i], skipped)
		}
		if fast.Loss[i] != exact.Loss[i] {
			t.Errorf("example %d: fast %v, exact %v with margin %v", i, fast.Loss[i], exact.Loss[i],
				exact.Margin[i])
		}
		if exact.Margin[i] > y*f+1e-5 {
			t.Errorf("example %d: the margin rises from %v to %v", i, y*f, exact.Margin[i])
		}
		if room > r.Alpha[i] && exact.Margin[i] < y*f-drop-1e-5 {
			t.Errorf("example %d: the margin falls from %v to %v, by more than %v", i, y*f, exact.Margin[i],
				drop)
		}
	}
}
