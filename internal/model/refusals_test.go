package model_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// matrixSet is a data set whose features are a kernel matrix of n examples, with labels.
func matrixSet(n int, diagonal, other float64) *dataset.Set {
	set, y := &dataset.Set{Name: "K.csv", X: linalg.NewMatrix(n, n)}, make([]float64, n)
	for i := range n {
		for j := range n {
			set.X.Data[i*n+j] = other + float64((i^j)%3)*1e-3*other // rows differ
		}
		set.X.Data[i*n+i] = diagonal
		y[i] = float64(2*(i%2) - 1)
	}
	return withLabels(set, y...)
}

// onLine is a hard margin on inputs 1, 1, 0 and 2, with a kernel of some kind.
func onLine(kind kernel.Kind, y ...float64) func(*model.Spec) {
	return func(s *model.Spec) {
		set := withLabels(&dataset.Set{Name: "s", X: linalg.Matrix{Rows: 4, Cols: 1, Stride: 1,
			Data: []float64{1, 1, 0, 2}}}, y...)
		*s = model.Spec{Set: set, Loss: loss.HardMargin{}, Kernel: kernel.Spec{Kind: kind}}
	}
}

// refusal is a change of a specification by which Build refuses it.
type refusal struct {
	name   string
	change func(s *model.Spec)
	says   string
}

// TestRefusals: every refusal of Build wraps ErrInput, or ErrMemory where only the memory is short, says
// what is wrong, and leaves no model. Whatever the loss, a precomputed matrix that is not positive
// semidefinite is bad input that names the file, and so is a diagonal that is no variance; one that is
// indefinite by what printing rounds is taken. Hard margins that contradict each other at one input are
// refused.
func TestRefusals(t *testing.T) {
	labels := labelsOnly{loss.Square{Noise: 1}}
	sparse, _ := text(t)
	spoilt := withLabels(sparse.Subset([]int{0, 1, 2}), 1, -1, 1)
	spoilt.Sparse.Value[0] = math.NaN()
	spread := func(f func(s *model.Spec)) func(*model.Spec) {
		return func(s *model.Spec) {
			s.Storage, s.Servants = model.ScaLAPACK, servants()
			f(s)
		}
	}
	cases := []refusal{
		{"nothing", func(s *model.Spec) { *s = model.Spec{} }, "no data set or no loss"},
		{"no set", func(s *model.Spec) { s.Set = nil }, "no data set or no loss"},
		{"no loss", func(s *model.Spec) { s.Loss = nil }, "no data set or no loss"},
		{"no examples", func(s *model.Spec) { s.Set = s.Set.Head(0) }, "no targets"},
		{"too few targets", func(s *model.Spec) { s.Set.Columns[0].Y = s.Set.Targets(0)[:7] },
			"7 targets for 12 examples"},
		{"too few numbers", func(s *model.Spec) { s.Set.X.Data = s.Set.X.Data[:7] },
			"7 numbers do not hold 12 x 2"},
		{"narrow stride", func(s *model.Spec) { s.Set.X.Stride = 1 }, "with stride 1"},
		{"no loss at all", func(s *model.Spec) { s.Loss = loss.Square{Noise: -1} }, "noise variance"},
		{"equal targets", func(s *model.Spec) { clear(s.Set.Columns[0].Y) }, "all 12 targets are 0"},
		{"no labels", func(s *model.Spec) { s.Loss = labels }, "labels must be -1 and +1"},
		{"one label", func(s *model.Spec) {
			s.Loss, s.Set.Columns[0].Y = labels, slices.Repeat([]float64{1}, 12)
		}, "all 12 targets are 1"},
		{"feature", func(s *model.Spec) { s.Set.X.Row(3)[1] = math.NaN() }, "row 4, feature 2 is NaN"},
		{"feature standardised", func(s *model.Spec) { s.Standardize, s.Set.X.Row(3)[1] = true, math.Inf(1) },
			"row 4, feature 2 is +Inf"},
		{"target", func(s *model.Spec) { s.Set.Columns[0].Y[11] = math.NaN() }, "target of row 12 is NaN"},
		{"kind", func(s *model.Spec) { s.Kernel.Kind = 99 }, "99"},
		{"gamma", func(s *model.Spec) { s.Kernel.Gamma = -1 }, "gamma"},
		{"length scales", func(s *model.Spec) { s.Kernel = kernel.Spec{LengthScale: []float64{1, 2, 3}} },
			"3 length scales for 2 features"},
		{"jitter", func(s *model.Spec) { s.Kernel.Jitter = -1 }, "jitter"},
		{"jitter NaN", func(s *model.Spec) { s.Kernel.Jitter = math.NaN() }, "jitter"},
		{"overflow", func(s *model.Spec) { s.Kernel = kernel.Spec{Kind: kernel.Linear, Amplitude: 1e308} },
			"not finite"},
		{"bias of a posterior mean", func(s *model.Spec) {
			s.Set, s.Loss, s.Bias = load(t, "crabs"), loss.Probit{}, true
		}, "Spec.Bias false"},
		{"memory", func(s *model.Spec) { s.MaxBytes = 1000 }, "the theory for"},
		{"matrix standardised", func(s *model.Spec) { s.Standardize = true }, "cannot be standardised"},
		{"matrix not square", func(s *model.Spec) { s.Set = s.Set.Head(11) },
			"as many features as examples, got 12 and 11"},
		{"matrix asymmetric", func(s *model.Spec) { s.Set.X.Row(2)[5] += 0.01 }, "entries (3, 6)"},
		{"matrix with gap", func(s *model.Spec) { s.Set.X.Row(2)[5] = math.NaN() },
			"row 3, feature 6 is NaN"},
		{"matrix with gamma", func(s *model.Spec) { s.Kernel.Gamma = 1 }, "takes no gamma"},
		{"matrix overflow", func(s *model.Spec) {
			s.Kernel.Amplitude, s.Kernel.Constant = math.MaxFloat64, math.MaxFloat64
		}, "not finite"},
		{"rank tolerance", func(s *model.Spec) { s.RankTol = 1 }, "rank tolerance"},
		{"rank tolerance NaN", func(s *model.Spec) { s.RankTol = math.NaN() }, "rank tolerance"},
		{"rank error", func(s *model.Spec) { s.RankError = 1 }, "rank error"},
		{"rank error NaN", func(s *model.Spec) { s.RankError = math.NaN() }, "rank error"},
		{"largest rank", func(s *model.Spec) { s.MaxRank = -1 }, "largest rank"},
		{"engine", func(s *model.Spec) { s.Storage = 9 }, "no engine"},
		{"rank", func(s *model.Spec) { s.Storage, s.RankTol, s.MaxRank = model.LowRank, 1e-6, 5 },
			"rank limit of 5"},
		{"sparse NaN", func(s *model.Spec) { s.Set, s.Loss = spoilt, loss.Hinge{C: 1} }, "is NaN"},
		{"sparse matrix", func(s *model.Spec) {
			s.Set, s.Loss, s.Kernel = sparse, loss.Hinge{C: 1}, kernel.Spec{Kind: kernel.Precomputed}
		}, "cannot be sparse"},
		{"no servants", spread(func(s *model.Spec) { s.Servants = nil }), "-tags openblas,mpi"},
		{"spread matrix", spread(func(s *model.Spec) { s.Kernel = kernel.Spec{Kind: kernel.Precomputed} }),
			"precomputed one"},
		{"spread blocks", spread(func(s *model.Spec) { s.Block = -1 }), "blocks of -1 x -1"},
		{"spread overflow", spread(func(s *model.Spec) {
			s.Kernel = kernel.Spec{Kind: kernel.Poly, Degree: 400, Coef0: 1e300}
		}), "kernel poly of"},
		{"memory spread", spread(func(s *model.Spec) { s.MaxBytes = 1000 }), ""},
		{"margins", onLine(kernel.RBF, 1, -1, 1, -1), "examples 1 and 2"},
		{"linear margins", onLine(kernel.Linear, 1, -1, 1, -1), "examples 1 and 2"},
		{"zero", onLine(kernel.Linear, 1, 1, 1, -1), "K(x, x) = 0 at the input of example 3"},
	}
	for _, l := range []loss.Loss{loss.Square{Noise: 0.1}, loss.HardMargin{}, loss.Hinge{C: 1},
		loss.Logistic{C: 1}, loss.Probit{}} {
		for _, c := range []struct {
			diagonal, other float64
			says            string
		}{{1, 2, "K.csv: the precomputed kernel matrix is not positive semidefinite"},
			{1, -0.9, "K.csv: the precomputed kernel matrix is not positive semidefinite"},
			{1e-320, 0, "K.csv: the kernel of row 1"}, {1e300, 0, "K.csv: the kernel of row 1"}} {
			name := fmt.Sprint("K ", l.Name(), c.diagonal, c.other)
			cases = append(cases, refusal{name, func(s *model.Spec) {
				s.Set, s.Loss = matrixSet(8, c.diagonal, c.other), l
				s.Kernel = kernel.Spec{Kind: kernel.Precomputed}
			}, c.says})
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec, is, other := grid(t, 12), model.ErrInput, linalg.ErrMemory
			if strings.HasPrefix(c.name, "matrix") {
				spec = precomputed(spec)
			}
			if strings.HasPrefix(c.name, "memory") {
				is, other = other, is
			}
			c.change(&spec)
			if m, err := model.Build(t.Context(), spec); m != nil || errors.Is(err, other) {
				t.Errorf("model %v, error %v", m, err)
			} else {
				fails(t, c.name, err, is, c.says)
			}
		})
	}
	rounded := matrixSet(3, 1, 0)
	copy(rounded.X.Data, []float64{1, 1 + 1e-7, 0.3, 1 + 1e-7, 1, 0.3, 0.3, 0.3, 1}) // an eigenvalue of -1e-7
	for _, set := range []*dataset.Set{rounded, matrixSet(8, 1, 0.4)} {
		build(t, model.Spec{Set: set, Loss: loss.Square{Noise: 0.1}, Kernel: kernel.Spec{
			Kind: kernel.Precomputed}})
	}
}

// TestNeedsWhole: what needs the whole of a matrix that is spread, or of a factor without room, is refused; a
// trainer on the factor needs no room.
func TestNeedsWhole(t *testing.T) {
	spec := grid(t, 40)
	spec.Storage, spec.Servants = model.ScaLAPACK, servants()
	m := build(t, spec)
	refused(m.Dense())(t, "the whole of a spread matrix", model.ErrInput, "")
	refused(m.LossTrainers(0))(t, "a trainer on a spread matrix", model.ErrInput, "")
	if m.TheoryBytes() < 8*int64(m.Sites())*int64(m.Sites()) {
		t.Errorf("%d bytes", m.TheoryBytes())
	}
	spec = smooth(t, 200)
	spec.Storage, spec.MaxRank = model.LowRank, 12
	m = build(t, spec)
	if m.Rank() != 12 || model.Storage(9).String() != "Engine(9)" {
		t.Errorf("rank %d, 12 asked for", m.Rank())
	}
	m.MaxBytes = 1000
	if _, err := m.LossTrainers(0); err != nil {
		t.Errorf("retraining on the factor, which needs no room for the whole matrix: %v", err)
	}
	refused(m.Dense())(t, "the whole matrix without room", linalg.ErrMemory, "")
}
