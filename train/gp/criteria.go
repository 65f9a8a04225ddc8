package gp

import (
	"fmt"
	"math"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/internal/workspace"
)

// Criterion is a criterion of model selection for Gaussian processes, with its derivatives.
type Criterion struct {
	Value  float64
	Kernel blas64.General // M x M, symmetric: derivatives with respect to K, dValue = sum_ij Kernel_ij dK_ij
	Noise  float64        // derivative with respect to the logarithm of the noise variance
}

// posterior holds the terms of criteria, from one fit to all data. Site i has n_i examples of mean target
// y_i, S_i = noise/n_i, P = (K + diag S)^-1 and alpha = P y.
type posterior struct {
	*Inverse
	y, alpha []float64
}

func newPosterior(k *linalg.Sym, noise float64, site train.Sites, y []float64) (*posterior, error) {
	if k == nil {
		return nil, errNoKernel
	}
	n := k.N()
	if !(noise > 0) {
		return nil, fmt.Errorf("evidence and leave-one-out need a positive noise variance, got %v", noise)
	}
	if err := site.Check(len(y), n); err != nil {
		return nil, err
	}
	var weight []float64
	q := &posterior{}
	workspace.ResizeAll(n, &weight, &q.y, &q.alpha)
	site.Merge(y, nil, weight, q.y)
	err := checkFull(n, noise, weight, q.y)
	if err == nil {
		q.Inverse, err = NewInverse(k, noise, weight, false)
	}
	if err != nil {
		return nil, err
	}
	q.mul(q.alpha, q.y)
	return q, nil
}

// mul is dst = P x.
func (q *posterior) mul(dst, x []float64) {
	blas64.Gemv(gonum.NoTrans, 1, q.p, vector(x), 0, vector(dst))
}

// own is P_ii.
func (q *posterior) own(i int) float64 { return q.p.Data[i*q.p.Stride+i] }

// Evidence is the negative log marginal likelihood of N examples, per example (Rasmussen and Williams 2006,
// 5.8 and 5.9). With v_i the sum of squares of the targets at site i about their mean,
//
//	N E = 1/2 y'alpha + 1/2 log|K + S| + M/2 log 2pi
//	      + sum_i ((n_i-1)/2 log(2pi noise) + 1/2 log n_i + v_i/(2 noise)),
//
// and its derivative with respect to K is (P - alpha alpha')/2.
func Evidence(k *linalg.Sym, noise float64, site train.Sites, y []float64) (*Criterion, error) {
	q, err := newPosterior(k, noise, site, y)
	if err != nil {
		return nil, err
	}
	examples, m := float64(len(y)), float64(k.N())
	within := 0.0
	for e, v := range y {
		off := v - q.y[site.At(e)]
		within += off * off
	}
	c := &Criterion{Kernel: q.p}
	c.Value = (floats.Dot(q.y, q.alpha)+q.logDeterminant+m*math.Log(2*math.Pi))/2 +
		(examples-m)/2*math.Log(2*math.Pi*noise) + within/(2*noise)
	c.Noise = (examples-m)/2 - within/(2*noise)
	for i, w := range q.weight {
		c.Value += math.Log(w) / 2
		row := q.p.Data[i*q.p.Stride : i*q.p.Stride+len(q.y)]
		floats.AddScaled(row, -q.alpha[i], q.alpha)
		floats.Scale(0.5/examples, row)
		c.Noise += examples * row[i] * q.ridge[i]
	}
	c.Value /= examples
	c.Noise /= examples
	return c, nil
}

// LeaveOneOut is the mean square of the left-out residuals, exact from one fit (derivatives: Sundararajan and
// Keerthi 2001). At a site of n examples with fit f_i = y_i - S_i alpha_i, each example has the leverage h_i
// = (1 - S_i P_ii)/n and the residual r = (y - f_i)/(1 - h_i). With a_i and p_i the derivatives with respect
// to alpha_i and P_ii, the derivative with respect to K is
//
//	-(P a alpha' + alpha (P a)')/2 - P diag(p) P.
func LeaveOneOut(k *linalg.Sym, noise float64, site train.Sites, y []float64) (*Criterion, error) {
	q, err := newPosterior(k, noise, site, y)
	if err != nil {
		return nil, err
	}
	n := k.N()
	c := &Criterion{}
	byFit, byLeverage := make([]float64, n), make([]float64, n)
	for e, v := range y {
		i := site.At(e)
		left := 1 - (1-q.ridge[i]*q.own(i))/q.weight[i]
		r := (v - q.y[i] + q.ridge[i]*q.alpha[i]) / left
		c.Value += r * r / float64(len(y))
		byFit[i] -= 2 * r / left / float64(len(y))
		byLeverage[i] += 2 * r * r / left / float64(len(y))
	}
	byAlpha, pushed := make([]float64, n), make([]float64, n)
	scaled := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)} // -diag(p) P
	for i, s := range q.ridge {
		byAlpha[i] = -s * byFit[i]
		own := s / q.weight[i] * byLeverage[i]
		floats.AddScaled(scaled.Data[i*n:(i+1)*n], own, q.p.Data[i*q.p.Stride:i*q.p.Stride+n])
	}
	q.mul(pushed, byAlpha)
	c.Kernel = blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	blas64.Gemm(gonum.NoTrans, gonum.NoTrans, 1, q.p, scaled, 0, c.Kernel)
	for i, s := range q.ridge {
		row := c.Kernel.Data[i*n : (i+1)*n]
		floats.AddScaled(row, -pushed[i]/2, q.alpha)
		floats.AddScaled(row, -q.alpha[i]/2, pushed)
		direct := -q.alpha[i]*byFit[i] - q.own(i)/q.weight[i]*byLeverage[i]
		c.Noise += s * (row[i] + direct)
	}
	return c, nil
}
