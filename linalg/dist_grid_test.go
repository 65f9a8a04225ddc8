package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
)

func init() {
	for name, shape := range map[string][3]int{
		"distributed/grid=1x1/block=64": {1, 1, 64},
		"distributed/grid=1x2/block=7":  {1, 2, 7},
		"distributed/grid=2x2/block=1":  {2, 2, 1},
		"distributed/grid=3x2/block=64": {3, 2, 64},
	} {
		linalg.Engines[name] = func(k *linalg.Sym) linalg.Engine { return newGang(k, shape[0], shape[1], shape[2]) }
	}
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

// gang is a distributed engine whose ranks are goroutines. It answers with what
// all of them answer, bit for bit.
type gang struct {
	linalg.Engine // rank 0's
	rows, cols    int
	ranks         []linalg.Engine
}

func newGang(k *linalg.Sym, rows, cols, block int) *gang {
	a := &gang{rows: rows, cols: cols, ranks: make([]linalg.Engine, rows*cols)}
	disttest.OnRanks(rows, cols, func(g dist.Grid) {
		spread, err := dist.NewBlockCyclic(g, symBlocks{k}, block, 0, 1<<30)
		if err != nil {
			panic(err)
		}
		a.ranks[g.Rank()] = spread.Engine()
	})
	a.Engine = a.ranks[0]
	return a
}

// all calls f on every rank and panics unless the slices that it returns agree.
func (a *gang) all(f func(rank int, e linalg.Engine) [][]float64) [][]float64 {
	answers := make([][][]float64, len(a.ranks))
	var wait sync.WaitGroup
	for rank, e := range a.ranks {
		wait.Add(1)
		go func() {
			defer wait.Done()
			answers[rank] = f(rank, e)
		}()
	}
	wait.Wait()
	for rank, answer := range answers {
		for s, x := range answer {
			for i, v := range x {
				if math.Float64bits(v) != math.Float64bits(answers[0][s][i]) {
					panic(fmt.Sprintf("rank %d has %v where rank 0 has %v", rank, v, answers[0][s][i]))
				}
			}
		}
	}
	return answers[0]
}

// state is what must be alike after a move.
func state(e linalg.Engine) [][]float64 {
	chi, b := e.Diag()
	return [][]float64{chi, b, e.Precisions()}
}

func (a *gang) moved(f func(e linalg.Engine) error) error {
	errs := make([]error, len(a.ranks))
	a.all(func(rank int, e linalg.Engine) [][]float64 {
		if errs[rank] = f(e); errs[rank] != nil {
			return nil
		}
		return state(e)
	})
	for _, err := range errs {
		if fmt.Sprint(err) != fmt.Sprint(errs[0]) {
			panic(fmt.Sprintf("errors differ: %v, %v", errs[0], err))
		}
	}
	return errs[0]
}

func (a *gang) Factorize(d []float64) error {
	return a.moved(func(e linalg.Engine) error { return e.Factorize(d) })
}

func (a *gang) RankUpdate(sites []int, delta []float64) error {
	return a.moved(func(e linalg.Engine) error { return e.RankUpdate(sites, delta) })
}

func (a *gang) FormG() {
	a.all(func(_ int, e linalg.Engine) [][]float64 { e.FormG(); return nil })
}

// vectors answers with dst, which every rank fills by itself.
func (a *gang) vectors(dst []float64, f func(e linalg.Engine, dst []float64)) {
	copy(dst, a.all(func(_ int, e linalg.Engine) [][]float64 {
		own := make([]float64, len(dst))
		f(e, own)
		return [][]float64{own}
	})[0])
}

func (a *gang) MulVecOffDiag(dst, x []float64) {
	a.vectors(dst, func(e linalg.Engine, dst []float64) { e.MulVecOffDiag(dst, x) })
}

func (a *gang) MulVecSquaredOffDiag(dst, x []float64) {
	a.vectors(dst, func(e linalg.Engine, dst []float64) { e.MulVecSquaredOffDiag(dst, x) })
}

func (a *gang) Row(dst []float64, i int) {
	a.vectors(dst, func(e linalg.Engine, dst []float64) { e.Row(dst, i) })
}

func (a *gang) MulRows(dst, x blas64.General) {
	a.vectors(dst.Data, func(e linalg.Engine, to []float64) {
		dst := dst
		dst.Data = to
		e.MulRows(dst, x)
	})
}

func (a *gang) Product32() linalg.Product32 { return linalg.DoubleProduct{Engine: a} }

func (a *gang) CopyG(dst blas64.General) {
	a.vectors(dst.Data, func(e linalg.Engine, to []float64) {
		dst := dst
		dst.Data = to
		e.CopyG(dst)
	})
}

func (a *gang) Predictor(field, scatter []float64) linalg.Predictor {
	return gangPredictor{a, field, scatter}
}

type gangPredictor struct {
	*gang
	field, scatter []float64
}

func (p gangPredictor) Predict(rows, mean, variance []float64) {
	both := make([]float64, 2*len(mean))
	p.vectors(both, func(e linalg.Engine, dst []float64) {
		e.Predictor(p.field, p.scatter).Predict(append([]float64(nil), rows...), dst[:len(mean)], dst[len(mean):])
	})
	copy(mean, both[:len(mean)])
	copy(variance, both[len(mean):])
}

func (a *gang) PredictDiag(move, chi, b []float64) (valid bool) {
	both := make([]float64, 2*len(chi))
	a.vectors(both, func(e linalg.Engine, dst []float64) {
		ok := e.PredictDiag(move, dst[:len(chi)], dst[len(chi):])
		if e == a.Engine {
			valid = ok
		}
	})
	copy(chi, both[:len(chi)])
	copy(b, both[len(chi):])
	return valid
}

// What one rank alone is told reaches all of them, with its kind.
func TestAgree(t *testing.T) {
	fault := errors.New("disk full")
	disttest.OnRanks(2, 2, func(g dist.Grid) {
		if err := dist.AllErr(g, nil, linalg.ErrMemory); err != nil {
			t.Errorf("rank %d: %v where there was no error", g.Rank(), err)
		}
		var own error
		if g.Rank() >= 2 {
			own = fmt.Errorf("rank %d: %w", g.Rank(), fault)
		}
		err := dist.AllErr(g, own, linalg.ErrMemory)
		switch {
		case g.Rank() >= 2 && !errors.Is(err, fault):
			t.Errorf("rank %d lost its own error: %v", g.Rank(), err)
		case g.Rank() < 2 && (!errors.Is(err, linalg.ErrMemory) || err.Error() != "rank 2: rank 2: disk full"):
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
	})
}

// Matrices that cannot be are refused on all ranks: too large for a library that
// counts with 32 bits, for memory, or with elements that are no numbers.
func TestBlockCyclicRefuses(t *testing.T) {
	disttest.OnRanks(1, 2, func(g dist.Grid) {
		big := &orderOnly{1 << 20}
		if _, err := dist.NewBlockCyclic(g, big, 64, 0, math.MaxInt64); !errors.Is(err, linalg.ErrMemory) {
			t.Errorf("a part of 2^39 numbers: %v", err)
		}
		if _, err := dist.NewBlockCyclic(g, symBlocks{linalg.NewSym(100)}, 64, 0, 8*100*100); !errors.Is(err,
			linalg.ErrMemory) {
			t.Errorf("no memory for two ranks: %v", err)
		}
		k := linalg.NewSym(100)
		k.Set(70, 99, math.Inf(1))
		k.Set(80, 95, math.NaN())
		spread, err := dist.NewBlockCyclic(g, symBlocks{k}, 8, 0, 1<<30)
		if err != nil {
			t.Error(err)
			return
		}
		var entry *linalg.EntryError
		if err := spread.Check(); !errors.As(err, &entry) || entry.I != 70 || entry.J != 99 ||
			!math.IsInf(entry.Value, 1) {
			t.Errorf("an infinite element: %v", err)
		}
	})
}

// orderOnly is a matrix that nobody may ask for an element.
type orderOnly struct{ n int }

func (o *orderOnly) N() int                             { return o.n }
func (o *orderOnly) GramDiagonal([]float64) error       { panic("asked") }
func (o *orderOnly) Block([]float64, int, []int, []int) { panic("asked") }

// Eigenvalues of a subset are those of a matrix that holds only it.
func TestBlockCyclicEigenvalues(t *testing.T) {
	k := linalg.GaussianGram(30, false, linalg.Seeded(3))
	sites := []int{4, 29, 0, 11}
	want, err := k.Eigenvalues(sites)
	if err != nil {
		t.Fatal(err)
	}
	disttest.OnRanks(2, 1, func(g dist.Grid) {
		spread, err := dist.NewBlockCyclic(g, symBlocks{k}, 8, 0, 1<<30)
		if err != nil {
			t.Error(err)
			return
		}
		got, err := spread.Eigenvalues(sites)
		for i := range want {
			if err != nil || math.Abs(got[i]-want[i]) > 1e-14 {
				t.Errorf("rank %d: %v, %v, want %v", g.Rank(), got, err, want)
			}
		}
		if v := spread.At(3, 20); v != k.At(3, 20) {
			t.Errorf("element %v, want %v", v, k.At(3, 20))
		}
	})
}
