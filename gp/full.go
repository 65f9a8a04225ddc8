package gp

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"bootbench/blas"
	"bootbench/linalg"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Full is the fit to all data. Its values at the sites give the apparent
// error.
type Full struct {
	// Alpha are the dual weights, f = K Alpha, length M.
	Alpha []float64
	// Fitted is f at the sites, length M.
	Fitted []float64
}

// FitFull trains on all data: site i holds count[i] >= 1 examples with mean
// target target[i], and noise >= 0 is their variance. It factorises in the
// scratch triangle of k, where it leaves the Cholesky factor of
// K + diag(noise/count), and leaves k as it was; the bound BLAS may use all its
// threads. A failed factorisation is a *PivotError.
func FitFull(k *linalg.Sym, noise float64, count []int, target []float64) (*Full, error) {
	if err := checkFull(k.N(), noise, count, target); err != nil {
		return nil, err
	}
	full := &Full{Alpha: make([]float64, k.N()), Fitted: make([]float64, k.N())}
	if k.N() == 0 {
		return full, nil
	}
	copy(full.Alpha, target)
	if err := solveInScratch(k, noise, count, full.Alpha); err != nil {
		return nil, err
	}
	for i, alpha := range full.Alpha {
		full.Fitted[i] = target[i] - noise/float64(count[i])*alpha
	}
	return full, nil
}

func checkFull(m int, noise float64, count []int, target []float64) error {
	if err := checkNoise(noise); err != nil {
		return err
	}
	if err := checkTrainingSet(m, count, target); err != nil {
		return err
	}
	for i, k := range count {
		if k == 0 {
			return fmt.Errorf("site %d holds no example", i+1)
		}
	}
	return nil
}

// solveInScratch overwrites b with (K + diag(noise/count))^-1 b.
func solveInScratch(k *linalg.Sym, noise float64, count []int, b []float64) error {
	copyToScratch(k)
	s, bound := k.Scratch(), blas.Bound()
	for i, c := range count {
		s.Data[i*s.Stride+i] += noise / float64(c)
	}
	if minor := bound.Potrf(gonum.Lower, s.N, s.Data, s.Stride); minor != 0 {
		return fullPivotError(k, noise, count, minor-1)
	}
	bound.Dtrsv(gonum.Lower, gonum.NoTrans, gonum.NonUnit, s.N, s.Data, s.Stride, b, 1)
	bound.Dtrsv(gonum.Lower, gonum.Trans, gonum.NonUnit, s.N, s.Data, s.Stride, b, 1)
	return checkSolution(b, identity(s.N))
}

func identity(n int) []int {
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	return index
}

// fullPivotError describes a factorisation that stopped at site p.
func fullPivotError(k *linalg.Sym, noise float64, count []int, p int) error {
	s := k.Scratch()
	pivot, largest := k.At(p, p)+noise/float64(count[p]), 0.0
	for _, l := range s.Data[p*s.Stride : p*s.Stride+p] {
		pivot -= l * l
	}
	for i, c := range count {
		largest = max(largest, k.At(i, i)+noise/float64(c))
	}
	return newPivotError(p, pivot, largest, s.N)
}

// tile is the side of the square blocks in which mirror transposes.
const tile = 64

// copyToScratch copies K into the lower scratch triangle, block by block and in
// parallel: rows of K become columns of the triangle.
func copyToScratch(k *linalg.Sym) {
	blocks := (k.N() + tile - 1) / tile
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), blocks) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for b := int(next.Add(1)) - 1; b < blocks; b = int(next.Add(1)) - 1 {
				mirrorRows(k, (blocks-1-b)*tile)
			}
		}()
	}
	wg.Wait()
}

// mirrorRows fills rows first to first+tile-1 of the scratch triangle.
func mirrorRows(k *linalg.Sym, first int) {
	from, to := k.Raw(), k.Scratch()
	end := min(first+tile, k.N())
	for c := 0; c < end; c += tile {
		for i := first; i < end; i++ {
			row := to.Data[i*to.Stride : i*to.Stride+i+1]
			for j := c; j < min(c+tile, i+1); j++ {
				row[j] = from.Data[j*from.Stride+i]
			}
		}
	}
}

// PredictAt writes the fit at P new inputs into f (length P), as
// Trainer.PredictAt does.
func (full *Full) PredictAt(trans gonum.Transpose, cross blas64.General, f []float64) error {
	return predictAt(trans, cross, full.Alpha, f)
}
