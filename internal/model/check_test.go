package model_test

import (
	"errors"
	"strings"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/loss"
)

// matrixSet is a data set whose features are a kernel matrix of n examples, with labels.
func matrixSet(n int, diagonal, other float64) *dataset.Set {
	set := &dataset.Set{Name: "K.csv", Task: dataset.Classification, X: dataset.Matrix{Rows: n, Cols: n,
		Stride: n, Data: make([]float64, n*n)}, Y: make([]float64, n)}
	for i := range n {
		for j := range n {
			set.X.Data[i*n+j] = other + float64((i^j)%3)*1e-3*other // rows differ
		}
		set.X.Data[i*n+i] = diagonal
		set.Y[i] = float64(2*(i%2) - 1)
	}
	return set
}

// TestKernelChecked: whatever the loss, a precomputed matrix that is not positive
// semidefinite is bad input that names the file, and so is a diagonal that is no variance;
// one that is indefinite by what printing rounds is taken.
func TestKernelChecked(t *testing.T) {
	losses := []loss.Loss{loss.Square{Noise: 0.1}, loss.HardMargin{}, loss.Hinge{C: 1}, loss.Logistic{C: 1},
		loss.Probit{}}
	for _, c := range []struct {
		diagonal, other float64
		says            string
	}{{1, 2, "positive semidefinite"}, {1, -0.9, "positive semidefinite"}, {1e-320, 0, "kernel of row 1"},
		{1e300, 0, "kernel of row 1"}, {1, 0.4, ""}} {
		for _, l := range losses {
			_, err := model.Build(model.Spec{Set: matrixSet(8, c.diagonal, c.other), Loss: l,
				Kernel: kernel.Spec{Kind: kernel.Precomputed}})
			switch {
			case c.says == "" && err != nil:
				t.Errorf("%s: a good matrix is refused: %v", l.Name(), err)
			case c.says != "" && (!errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "K.csv")):
				t.Errorf("%s, diagonal %v, others %v: %v", l.Name(), c.diagonal, c.other, err)
			}
		}
	}
	rounded := matrixSet(3, 1, 0)
	// an eigenvalue of -1e-7 at least in the corner
	copy(rounded.X.Data, []float64{1, 1 + 1e-7, 0.3, 1 + 1e-7, 1, 0.2})
	rounded.X.Data[6], rounded.X.Data[7] = 0.3, 0.2
	rounded.X.Data[2], rounded.X.Data[5] = 0.3, 0.3
	rounded.X.Data[7] = 0.3
	if _, err := model.Build(model.Spec{Set: rounded, Loss: losses[0],
		Kernel: kernel.Spec{Kind: kernel.Precomputed}}); err != nil {
		t.Errorf("rounding: %v", err)
	}
}

// TestHardMarginsChecked: hard margins that contradict each other at one input are refused
// when the model is built, so by every command.
func TestHardMarginsChecked(t *testing.T) {
	set := &dataset.Set{Name: "s", Task: dataset.Classification, X: dataset.Matrix{Rows: 4, Cols: 1, Stride: 1,
		Data: []float64{1, 1, 0, 2}}, Y: []float64{1, -1, 1, -1}}
	for name, want := range map[kernel.Kind]string{kernel.RBF: "examples 1 and 2",
		kernel.Linear: "examples 1 and 2"} {
		_, err := model.Build(model.Spec{Set: set, Loss: loss.HardMargin{}, Kernel: kernel.Spec{Kind: name}})
		if !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", name, err)
		}
	}
	set.Y[1] = 1
	if _, err := model.Build(model.Spec{Set: set, Loss: loss.HardMargin{},
		Kernel: kernel.Spec{Kind: kernel.Linear}}); err == nil || !strings.Contains(err.Error(),
		"K(x, x) = 0 at the input of example 3") {
		t.Errorf("a predictor that is 0: %v", err)
	}
}

// TestPosteriorMeanWithoutBias: a posterior mean refuses a bias, and says what to take instead.
func TestPosteriorMeanWithoutBias(t *testing.T) {
	_, err := model.Build(model.Spec{Set: load(t, "crabs"), Loss: loss.Probit{}, Kernel: kernel.Spec{Gamma: 1},
		Bias: true})
	if !errors.Is(err, model.ErrInput) || !strings.Contains(err.Error(), "--no-bias") {
		t.Error(err)
	}
}
