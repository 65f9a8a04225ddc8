package gp

import (
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"
)

// Inverse is P = (K + diag(noise/weight))^-1, with a bias P - P 1 1'P/1'P1, from which Downdate removes
// examples.
type Inverse struct {
	p      blas64.General
	weight []float64

	// For criteria, set by NewInverse.
	ridge          []float64 // noise/weight
	logDeterminant float64   // of K + diag(ridge)
}

// NewInverse takes n^3 operations and 8 n^2 bytes. Nil weights are 1.
func NewInverse(k *linalg.Sym, noise float64, weights []float64, biased bool) (*Inverse, error) {
	if k == nil {
		return nil, errNoKernel
	}
	n := k.N()
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	l, v := &system{kernel: k}, &Inverse{weight: weights, ridge: ridges(noise, weights)}
	l.gather(upTo(n), n)
	if err := l.factorise(nil, v.ridge); err != nil {
		return nil, err
	}
	for i := range n {
		v.logDeterminant += 2 * math.Log(l.a[i*l.stride+i])
	}
	v.p = l.invert()
	if biased {
		p1 := make([]float64, n)
		for i := range n {
			p1[i] = floats.Sum(v.p.Data[i*v.p.Stride:][:n])
		}
		blas64.Ger(-1/floats.Sum(p1), vector(p1), vector(p1), v.p)
	}
	return v, nil
}

// LeaveOut predicts the examples F that are left out together, by fits to all others: a column for each
// column of targets y, of all examples,
//
//	f_F = y_F - (P_FF)^-1 (P y)_F,
//
// by |F|^3/3 operations instead of (n - |F|)^3/3 (M03-65; one example: Rasmussen and Williams 2006, 5.12).
func (v *Inverse) LeaveOut(out []int, y blas64.General) (f blas64.General, err error) {
	m, n := len(out), v.p.Cols
	rows := blas64.General{Rows: m, Cols: n, Stride: n, Data: make([]float64, m*n)}
	f = blas64.General{Rows: m, Cols: y.Cols, Stride: y.Cols, Data: make([]float64, m*y.Cols)}
	a := blas64.Triangular{Uplo: gonum.Upper, Diag: gonum.NonUnit, N: m, Stride: max(1, m),
		Data: make([]float64, m*m)}
	for k, i := range out {
		copy(rows.Data[k*n:], v.p.Data[i*v.p.Stride:][:n])
		for l, j := range out {
			a.Data[k*m+l] = rows.Data[k*n+j]
		}
	}
	if m == 0 {
		return f, nil
	}
	blas64.Gemm(gonum.NoTrans, gonum.NoTrans, -1, rows, y, 0, f)
	if blas.Bound().Potrf(gonum.Upper, m, a.Data, m) != 0 {
		return f, fmt.Errorf("without %d of %d examples the inverse of the kernel matrix is not positive "+
			"definite: a larger Square.Noise or Kernel.Jitter helps", m, n)
	}
	blas64.Trsm(gonum.Left, gonum.Trans, 1, a, f)
	blas64.Trsm(gonum.Left, gonum.NoTrans, 1, a, f)
	for k, i := range out {
		floats.Add(f.Data[k*f.Stride:][:f.Cols], y.Data[i*y.Stride:][:y.Cols])
	}
	return f, nil
}

// Downdate is a train.Trainer of the square loss, with one example per site. Each weight is 0 or the
// inverse's. It predicts only the examples of weight 0, by Inverse.LeaveOut.
type Downdate struct{ *Inverse }

// Fit is train.Trainer.Fit; f is NaN where the weight is not 0.
func (d *Downdate) Fit(set train.Set, f []float64) error {
	var out []int
	for i, w := range set.Weight {
		switch f[i] = math.NaN(); w {
		case 0:
			out = append(out, i)
		case d.weight[i]:
		default:
			return fmt.Errorf("a fit that leaves examples out has weights 0 and %v, not %v", d.weight[i], w)
		}
	}
	left, err := d.LeaveOut(out, blas64.General{Rows: len(set.Y), Cols: 1, Stride: 1, Data: set.Y})
	if err != nil {
		return err
	}
	for k, i := range out {
		f[i] = left.Data[k]
	}
	return nil
}

// Append adds examples: k is the kernel matrix of the old and then the new ones, weights are the new ones'.
// With C the kernel between old and new examples, and S = K_new + diag(noise/weight) - C'P C, the inverse of
// all is (M03-65)
//
//	P + P C S^-1 C'P   -P C S^-1
//	    -S^-1 C'P         S^-1    :
//
// at n^2 operations for each. The inverse must have no bias. After an error it is unchanged.
func (v *Inverse) Append(k *linalg.Sym, noise float64, weights []float64) error {
	n, all := len(v.weight), k.N()
	r := all - n
	if r != len(weights) || r == 0 {
		return fmt.Errorf("a kernel matrix of order %d adds no %d examples to %d", all, len(weights), n)
	}
	var old, cross, pc, reduced, q mat.Dense
	raw := k.Raw()
	old.SetRawMatrix(v.p)
	cross.SetRawMatrix(blas64.General{Rows: n, Cols: r, Stride: raw.Stride, Data: raw.Data[n:]})
	pc.Mul(&old, &cross)
	reduced.Mul(cross.T(), &pc)
	s := mat.NewSymDense(r, nil)
	for j, w := range weights {
		for i := range j + 1 {
			s.SetSym(i, j, k.At(n+i, n+j)-reduced.At(i, j))
		}
		s.SetSym(j, j, s.At(j, j)+noise/w)
	}
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(s) {
		return fmt.Errorf("%d more examples leave the kernel matrix not positive definite: a larger noise "+
			"helps", r)
	}
	if err := factor.InverseTo(&inverse); err != nil {
		return fmt.Errorf("the inverse for %d more examples: %w", r, err)
	}
	q.Mul(&pc, &inverse)
	p := mat.NewDense(all, all, nil)
	block := func(i, k, j, l int) *mat.Dense { return p.Slice(i, k, j, l).(*mat.Dense) }
	block(0, n, 0, n).Copy(&old)
	blas64.Gemm(gonum.NoTrans, gonum.Trans, 1, q.RawMatrix(), pc.RawMatrix(), 1,
		block(0, n, 0, n).RawMatrix())
	block(0, n, n, all).Scale(-1, &q)
	block(n, all, 0, n).Copy(block(0, n, n, all).T())
	block(n, all, n, all).Copy(&inverse)
	v.p, v.weight = p.RawMatrix(), append(slices.Clip(v.weight), weights...)
	return nil
}

// Weights returns the weights of the examples.
func (v *Inverse) Weights() []float64 { return slices.Clone(v.weight) }
