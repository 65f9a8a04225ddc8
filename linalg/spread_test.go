package linalg_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
	"bootbench/linalg/scalapack/gridtest"
)

// The distributed engine against the exact one: all of G, and estimates. n is larger
// than the strips and the 256 columns that are made at a time.
func TestDistributedEqualsExact(t *testing.T) {
	const n = 256 + 80
	for _, name := range slices.Sorted(maps.Keys(linalg.Engines)) {
		if !strings.HasPrefix(name, "distributed") && !strings.HasPrefix(name, "scalapack") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rng := linalg.Seeded(17)
			k := linalg.GaussianGram(n, true, rng)
			d := linalg.DrawSites(n, linalg.SiteRegimes["even"], rng)
			exact, e := linalg.NewCholeskyEngine(linalg.GaussianGram(n, true, linalg.Seeded(17))),
				linalg.Engines[name](k)
			for _, engine := range []linalg.Engine{exact, e} {
				testutil.Check(t, engine.Factorize(d))
				engine.FormG()
			}
			move := linalg.DrawSites(n, linalg.SiteRegimes["zeros"], rng)
			chi, b, wantChi, wantB := make([]float64, n), make([]float64, n), make([]float64, n),
				make([]float64, n)
			valid, want := linalg.NewResponse(e).PredictDiag(move, chi, b),
				linalg.NewResponse(exact).PredictDiag(move, wantChi, wantB)
			for i := range chi {
				if valid != want || linalg.Relative(chi[i], wantChi[i], 0) > 1e-10 ||
					linalg.Relative(b[i], wantB[i], 0) > 1e-10 {
					t.Errorf("estimate at %d: %v, %v (%v), want %v, %v (%v)",
						i, chi[i], b[i], valid, wantChi[i], wantB[i], want)
				}
			}
			linalg.CompareEngines(t, e, exact, 1e-11)
		})
	}
}

func init() {
	for name, shape := range map[string][3]int{
		"distributed/grid=1x1/block=64": {1, 1, 64},
		"distributed/grid=1x2/block=7":  {1, 2, 7},
		"distributed/grid=2x2/block=1":  {2, 2, 1},
		"distributed/grid=3x2/block=64": {3, 2, 64},
	} {
		linalg.Engines[name] = func(k *linalg.Sym) linalg.Engine {
			m, err := spread(symBlocks{k}, shape[0], shape[1], shape[2], 1<<30)
			if err != nil {
				panic(err)
			}
			return m.Engine()
		}
	}
}

// spread has rows x cols goroutines hold a matrix.
func spread(k linalg.Blocks, rows, cols, block int, limit int64) (*scalapack.BlockCyclic, error) {
	servants := gridtest.NewServants(rows, cols, func([]byte) (linalg.Blocks, error) { return k, nil })
	return servants.Matrix(k, nil, block, 0, limit)
}

// symBlocks hands out a matrix that is held whole.
type symBlocks struct{ *linalg.Sym }

func (s symBlocks) GramDiagonal(dst []float64) error {
	s.Diag(dst)
	return nil
}

func (s symBlocks) Block(dst []float64, stride int, rows, cols []int) {
	for r, i := range rows {
		for c, j := range cols {
			dst[r*stride+c] = math.NaN() // the diagonal is not asked for
			if i != j {
				dst[r*stride+c] = s.At(i, j)
			}
		}
	}
}

// Matrices that cannot be are refused: too large for a library that counts with 32 bits, for memory, with
// elements that are no numbers, or because a servant has no source for them. The servants then serve on.
func TestBlockCyclicRefuses(t *testing.T) {
	if _, err := spread(&orderOnly{1 << 20}, 1, 2, 64, math.MaxInt64); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("a part of 2^39 numbers: %v", err)
	}
	k := linalg.ZeroSym(100)
	if _, err := spread(symBlocks{k}, 1, 2, 64, 8*100*100); !errors.Is(err, linalg.ErrMemory) {
		t.Errorf("no memory for two ranks: %v", err)
	}
	k.Set(70, 99, math.Inf(1))
	k.Set(80, 95, math.NaN())
	m := testutil.Must(spread(symBlocks{k}, 2, 2, 8, 1<<30))(t)
	var entry *linalg.EntryError
	if err := m.Check(); !errors.As(err, &entry) || entry.I != 70 || entry.J != 99 ||
		!math.IsInf(entry.Value, 1) {
		t.Errorf("an infinite element: %v", err)
	}
	good := symBlocks{linalg.GaussianGram(20, false, linalg.Seeded(3))}
	fault, failing := errors.New("disk full"), true
	servants := gridtest.NewServants(1, 2, func([]byte) (linalg.Blocks, error) {
		if failing {
			return nil, fault
		}
		return good, nil
	})
	if _, err := servants.Matrix(good, nil, 8, 0, 1<<30); err == nil || err.Error() != fault.Error() {
		t.Errorf("a servant without a source: %v", err)
	}
	failing = false
	testutil.Check(t, testutil.Must(servants.Matrix(good, nil, 8, 0, 1<<30))(t).Check())
}

// orderOnly is a matrix that nobody may ask for an element.
type orderOnly struct{ n int }

func (o *orderOnly) N() int                             { return o.n }
func (o *orderOnly) GramDiagonal([]float64) error       { panic("asked") }
func (o *orderOnly) Block([]float64, int, []int, []int) { panic("asked") }

// A matrix that another has replaced is no longer valid, nor is an engine after another.
func TestServantsHoldOneMatrix(t *testing.T) {
	k := symBlocks{linalg.GaussianGram(20, false, linalg.Seeded(3))}
	servants := gridtest.NewServants(2, 1, func([]byte) (linalg.Blocks, error) { return k, nil })
	first := testutil.Must(servants.Matrix(k, nil, 8, 0, 1<<30))(t)
	e := first.Engine()
	if other := first.Engine(); e.Valid() || !other.Valid() {
		t.Error("an engine is valid after another on its matrix")
	}
	second := testutil.Must(servants.Matrix(k, nil, 8, 0, 1<<30))(t)
	if e := second.Engine(); !e.Valid() {
		t.Error("the newest engine is not valid")
	}
	if e.Valid() {
		t.Error("an engine is valid after its matrix was replaced")
	}
}

// Eigenvalues of a subset are the ones of a matrix that holds only it.
func TestBlockCyclicEigenvalues(t *testing.T) {
	k := linalg.GaussianGram(30, false, linalg.Seeded(3))
	sites := []int{4, 29, 0, 11}
	want := testutil.Must(linalg.Eigenvalues(k, sites))(t)
	m := testutil.Must(spread(symBlocks{k}, 2, 1, 8, 1<<30))(t)
	got, err := linalg.Eigenvalues(m, sites)
	for i := range want {
		if err != nil || math.Abs(got[i]-want[i]) > 1e-14 {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if v := m.At(3, 20); v != k.At(3, 20) {
		t.Errorf("element %v, want %v", v, k.At(3, 20))
	}
}
