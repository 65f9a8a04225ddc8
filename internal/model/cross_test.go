package model_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// TestBatches: many new inputs, here with gaps between their rows, come batch after batch of bounded size.
// What a callback writes into its rows harms no later batch.
func TestBatches(t *testing.T) {
	spec := model.Spec{Set: load(t, "synthetic:friedman1,n=600,d=5"), Kernel: kernel.Spec{Gamma: 0.1,
		Amplitude: 1}, Loss: loss.Square{Noise: 1}}
	m := build(t, spec)
	const most = 4 << 20
	count := 2*(most/(8*(600+2*5))) + 1 // the last batch holds one input
	x := linalg.Matrix{Rows: count, Cols: 5, Stride: 7, Data: make([]float64, 7*count-2)}
	rng := rand.New(rand.NewPCG(19, 1))
	for i := range x.Data {
		x.Data[i] = rng.Float64()
	}
	var starts []int
	next := 0
	err := m.Cross(&dataset.Inputs{X: x}, func(first int, rows []float64) error {
		if first != next || len(rows)%600 != 0 || len(rows) > most/8 {
			t.Fatalf("batch from %d on with %d numbers, after %d inputs", first, len(rows), next)
		}
		starts = append(starts, first)
		next += len(rows) / 600
		for r := first; r < next; r += 17 {
			for s := 0; s < 600; s += 23 {
				want := rbf(spec.Kernel, x.Data[7*r:7*r+5], spec.Set.X.Row(s))
				near(t, fmt.Sprintf("kernel of new input %d and site %d", r, s), rows[(r-first)*600+s], want,
					1e-12)
			}
		}
		for k := range rows {
			rows[k] = math.NaN()
		}
		return nil
	})
	if err != nil || next != count || len(starts) != 3 || starts[2] != count-1 {
		t.Errorf("%d of %d inputs in batches from %v on: %v", next, count, starts, err)
	}
}

// TestCrossRefusals: new inputs that do not fit wrap ErrInput and say where; the
// callback's own error comes back as it is, and ends the walk.
func TestCrossRefusals(t *testing.T) {
	features, scaled, kernels := grid(t, 12), grid(t, 12), precomputed(grid(t, 12))
	scaled.Standardize = true
	sparse, dense := text(t)
	spoilt := sparse.Subset([]int{0, 1, 2})
	spoilt.Sparse.Value[0] = math.NaN()
	linear := func(set *dataset.Set) model.Spec {
		return model.Spec{Set: set, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}}
	}
	infinite := make([]float64, 12)
	infinite[0] = math.Inf(1)
	for _, c := range []struct {
		spec model.Spec
		in   *dataset.Inputs
		says string
	}{
		{features, rows([]float64{1, 2, 3}), "3 features"},
		{scaled, rows([]float64{1, 2, 3}), "3 features"},
		{features, rows([]float64{1, 2}, []float64{math.NaN(), 1}), "row 2, feature 1 is NaN"},
		{scaled, rows([]float64{1, 2}, []float64{1, math.Inf(1)}), "row 2, feature 2"},
		{features, &dataset.Inputs{X: linalg.Matrix{Rows: 3, Cols: 2, Stride: 2, Data: make([]float64, 5)}},
			"5 numbers do not hold 3 x 2"},
		{features, &dataset.Inputs{X: linalg.Matrix{Rows: -1, Cols: 2, Stride: 2}}, "do not hold -1 x 2"},
		{kernels, rows([]float64{1, 2}), "2 kernel values for 12 examples"},
		{kernels, rows(infinite), "row 1, feature 1 is +Inf"},
		{linear(dense), &dataset.Inputs{Sparse: sparse.Sparse}, ""},
		{linear(sparse), &dataset.Inputs{Sparse: spoilt.Sparse}, "is NaN"},
	} {
		m := build(t, c.spec)
		err := m.Cross(c.in, func(int, []float64) error { t.Error("the callback is called"); return nil })
		fails(t, c.says, err, model.ErrInput, c.says)
		fails(t, c.says, err, nil, "new inputs")
		refused(m.CrossAll(c.in))(t, "all at once", model.ErrInput, "")
	}
	m := build(t, features)
	own, calls := errors.New("enough"), 0
	err := m.Cross(rows([]float64{1, 2}), func(int, []float64) error { calls++; return own })
	if err != own || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if cross := testutil.Must(m.CrossAll(&dataset.Inputs{X: linalg.NewMatrix(0, 2)}))(t); cross.Rows != 0 {
		t.Errorf("no new inputs: %d rows", cross.Rows)
	}
	five := rows(slices.Repeat([][]float64{{1, 2}}, 5)...)
	m.MaxBytes = linalg.SymBytes(m.Sites()) + 8*5*int64(m.Sites()) - 1
	if _, err := m.CrossAll(five); !errors.Is(err, linalg.ErrMemory) || errors.Is(err, model.ErrInput) {
		t.Errorf("one byte short: %v", err)
	}
	m.MaxBytes++
	testutil.Must(m.CrossAll(five))(t)
}

// text is a small sparse set with a repeated document, and the same set dense.
func text(t testing.TB) (sparse, dense *dataset.Set) {
	t.Helper()
	sparse = load(t, "synthetic:text,n=60,d=1500")
	sparse = sparse.Subset(append([]int{7}, every(59, 1)...))
	if sparse.Sparse == nil {
		t.Fatal("the set is not sparse")
	}
	whole := *sparse
	whole.X, whole.Sparse = sparse.Sparse.Dense(), nil
	return sparse, &whole
}

// TestSparseIsNotStandardized: the features stay, and a warning says so.
func TestSparseIsNotStandardized(t *testing.T) {
	sparse, _ := text(t)
	spec := model.Spec{Set: sparse, Kernel: kernel.Spec{Kind: kernel.Linear}, Loss: loss.Hinge{C: 1}}
	plain := build(t, spec)
	spec.Standardize = true
	m := build(t, spec)
	if m.Standardize || len(m.Warnings()) != 1 || !strings.Contains(m.Warnings()[0], "sparse") ||
		plain.Warnings() != nil || m.Gram().At(0, 1) != plain.Gram().At(0, 1) {
		t.Errorf("standardised: %v, warnings %q and %q", m.Standardize, m.Warnings(), plain.Warnings())
	}
}
