package gp

import (
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/blas"
	"bootbench/linalg"
)

// Inverse is P = (K + diag(noise/weight))^-1, with a bias P - P 1 1'P/1'P1, from which a predictor forgets
// examples.
type Inverse struct {
	p      blas64.General
	weight []float64
}

// NewInverse takes n^3 operations and 8 n^2 bytes. Weights nil are 1.
func NewInverse(k *linalg.Sym, noise float64, weights []float64, biased bool) (*Inverse, error) {
	n := k.N()
	if weights == nil {
		weights = slices.Repeat([]float64{1}, n)
	}
	l, all, ridge := system{kernel: k}, make([]int, n), make([]float64, n)
	for i, w := range weights {
		all[i], ridge[i] = i, noise/w
	}
	l.gather(all, n)
	if err := l.factorise(all, ridge); err != nil {
		return nil, err
	}
	blas.Bound().Trtri(gonum.Upper, n, l.a, l.stride)
	blas.Bound().Lauum(gonum.Upper, n, l.a, l.stride)
	p := blas64.General{Rows: n, Cols: n, Stride: l.stride, Data: l.a}
	for i := range n {
		for j := range i {
			p.Data[i*p.Stride+j] = p.Data[j*p.Stride+i]
		}
	}
	if biased {
		of := make([]float64, n) // P 1
		for i := range n {
			of[i] = floats.Sum(p.Data[i*p.Stride:][:n])
		}
		v := blas64.Vector{N: n, Inc: 1, Data: of}
		blas64.Ger(-1/floats.Sum(of), v, v, p)
	}
	return &Inverse{p, weights}, nil
}

// Downdate is a train.Trainer of the square loss, one example a site, whose sets have weights 0, or those
// of the inverse, and which predicts where they are 0 alone: without the examples F
//
//	f_F = y_F - (P_FF)^-1 (P y)_F,
//
// by |F|^3/3 operations instead of (n - |F|)^3/3 (M03-65; one example: Rasmussen and Williams 2006, 5.12).
type Downdate struct {
	*Inverse
	out []int
	a   []float64
}

// Fit is train.Trainer.Fit; f is NaN where the weight is not 0.
func (d *Downdate) Fit(weight, target, f []float64) error {
	d.out = d.out[:0]
	for i, w := range weight {
		switch f[i] = math.NaN(); w {
		case 0:
			d.out = append(d.out, i)
		case d.weight[i]:
		default:
			return fmt.Errorf("a fit that leaves examples out has weights 0 and %v, not %v", d.weight[i], w)
		}
	}
	m := len(d.out)
	d.a = append(d.a[:0], make([]float64, m*(m+1))...)
	a, r := d.a[:m*m], d.a[m*m:]
	for k, i := range d.out {
		row := d.p.Data[i*d.p.Stride:][:d.p.Cols]
		for l, j := range d.out[:k+1] {
			a[l*m+k] = row[j]
		}
		r[k] = floats.Dot(row, target)
	}
	if blas.Bound().Potrf(gonum.Upper, m, a, m) != 0 {
		return fmt.Errorf("without %d of %d examples the inverse of the kernel matrix is not positive definite: "+
			"a larger --noise or --jitter helps", m, len(weight))
	}
	(&system{uplo: gonum.Upper, n: m, stride: m, a: a}).substitute(r)
	for k, i := range d.out {
		f[i] = target[i] - r[k]
	}
	return nil
}
