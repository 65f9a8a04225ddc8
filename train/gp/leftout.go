package gp

import (
	"fmt"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg"
	"bootbench/train"
)

// LeftOut is the regression on all rows together with the regressions without each row, or without each group
// of rows, in closed form. With Q = (K + diag(noise/weight))^-1 over the rows, k = k(x) and a unit u that is
// left out, a row or a group, the means and variances of a target at x are
//
//	m(x) = k'Q y,   m_{-u}(x) = m(x) - w_u' e_u,   w = Q k,   e_u = (Q_uu)^-1 (Q y)_u = y_u - m_{-u}(x_u),
//	V_{-u}(x) = K(x, x) + noise - k'Q k + w_u'(Q_uu)^-1 w_u
//
// (Rasmussen and Williams 2006, 5.12, for single rows), with a bias the limits of a kernel with a large
// constant. In terms of G at d = weight/noise: w = D t with D = diag(weight)/noise and t(x)' = k'(I + diag(d)
// K)^-1, and Q = D - D G D. So any form of K serves, and rows may share a site.
type LeftOut struct {
	Unit []int // of each row: the number of its group; without groups its own number
	// Error and SD are, for each row, its target minus the mean without its unit, and the standard deviation
	// of a target there without it.
	Error, SD []float64

	engine linalg.Engine
	noise  float64
	force  []float64 // of the sites: m(x) = t(x)'force
	units  []leftOut
}

// leftOut is a unit of m rows.
type leftOut struct {
	site   []int     // of its rows
	root   []float64 // D^1/2
	push   []float64 // D e
	factor []float64 // m x m, lower: the Cholesky factor of I - D^1/2 G D^1/2
}

// NewLeftOut takes the kernel matrix over M sites, in any form, with a bias or without, the site of each row
// (nil: row i is site i), targets, weights (nil: 1), the group of each row, from 0 (nil: every row is left
// out by itself), and noise > 0. The caller reserves k (linalg.Reserve) for as long as it uses the result: G
// is in k's scratch triangle.
func NewLeftOut(k linalg.Kernel, site train.Sites, y, weights []float64, group []int,
	noise float64) (*LeftOut, error) {
	if k == nil {
		return nil, errNoKernel
	}
	if !(noise > 0) {
		return nil, fmt.Errorf("left-out predictions need a positive noise variance, got %v", noise)
	}
	if err := site.Check(len(y), k.N()); err != nil {
		return nil, err
	}
	if weights == nil {
		weights = slices.Repeat([]float64{1}, len(y))
	}
	count, mean := make([]float64, k.N()), make([]float64, k.N())
	site.Merge(y, weights, count, mean)
	l := &LeftOut{Unit: group, Error: make([]float64, len(y)), SD: make([]float64, len(y)), noise: noise,
		engine: k.Engine()}
	fitted, force, err := meansBy(l.engine, noise, count, mean)
	if err != nil {
		return nil, err
	}
	l.force = force
	_, b := l.engine.Diag()
	if l.Unit == nil {
		l.Unit = upTo(len(y))
	}
	var rows [][]int // of each unit
	for i, u := range l.Unit {
		for len(rows) <= u {
			rows = append(rows, nil)
		}
		rows[u] = append(rows[u], i)
	}
	l.units = make([]leftOut, len(rows))
	singular := make([]bool, len(rows))
	linalg.Parallel(len(rows), func(u int) {
		singular[u] = !l.leaveOut(u, rows[u], site, weights, func(i int) (share, residual float64) {
			s, w := site.At(i), weights[i]
			// the share of its site, and 1 - D_ii chi, of which nothing cancels
			return (count[s] - w + w*b[s]) / count[s], y[i] - fitted[s]
		})
	})
	for u, failed := range singular {
		if failed {
			return nil, fmt.Errorf("without group %d nothing is left to train on", u+1)
		}
	}
	return l, nil
}

// leaveOut fills unit u. It reports whether the other rows determine predictions.
func (l *LeftOut) leaveOut(u int, rows []int, site train.Sites, weights []float64,
	at func(row int) (left, residual float64)) bool {
	m := len(rows)
	if m == 0 {
		return true
	}
	own := leftOut{make([]int, m), make([]float64, m), make([]float64, m), make([]float64, m*m)}
	g := blas64.General{Rows: 1, Cols: len(l.force), Stride: len(l.force)}
	if m > 1 {
		g.Data = make([]float64, len(l.force))
	}
	for k, i := range rows {
		own.site[k], own.root[k] = site.At(i), math.Sqrt(weights[i]/l.noise)
		left, residual := at(i)
		own.push[k] = own.root[k] * residual
		if own.factor[k*m+k] = left; k > 0 {
			l.engine.Rows(g, own.site[k])
		}
		for j := range k {
			own.factor[k*m+j] = -own.root[k] * own.root[j] * g.Data[own.site[j]]
		}
	}
	if m == 1 && !(own.factor[0] > 0) || blas.Bound().Potrf(gonum.Lower, m, own.factor, m) != 0 {
		return false
	}
	own.solve(gonum.NoTrans, own.push)
	own.solve(gonum.Trans, own.push)
	unit := make([]float64, m)
	for k, i := range rows {
		clear(unit)
		unit[k] = 1
		own.solve(gonum.NoTrans, unit)
		w := own.root[k] * own.root[k]
		l.Error[i] = own.push[k] / own.root[k]
		// (Q_uu)^-1 has the variance noise/weight of the row on its diagonal, a new target has noise
		l.SD[i] = math.Sqrt(math.Max(0, blas64.Dot(vector(unit), vector(unit))-1)/w + l.noise)
		own.push[k] *= own.root[k]
	}
	l.units[u] = own
	return true
}

// solve overwrites x with L^-1 x, or with L'^-1 x.
func (o *leftOut) solve(t gonum.Transpose, x []float64) {
	m := len(x)
	switch m {
	case 0:
		return
	case 1:
		x[0] /= o.factor[0]
		return
	}
	blas64.Trsv(t, blas64.Triangular{Uplo: gonum.Lower, Diag: gonum.NonUnit, N: m, Stride: m, Data: o.factor},
		vector(x))
}

// upTo is 0, 1, ..., n-1.
func upTo(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = i
	}
	return v
}

func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// Engine is the engine whose responses At takes, and Units the number of units.
func (l *LeftOut) Engine() linalg.Engine { return l.engine }
func (l *LeftOut) Units() int            { return len(l.units) }

// leastPosterior is the least posterior variance, relative to the prior's, above rounding.
const leastPosterior = 1e-12

// At returns the mean and the standard deviation of a target at a new input with kernel vector k over the
// sites, response t (linalg.Responses) and prior variance K(x, x), and writes those without each unit into
// means and deviations. It may be called concurrently.
func (l *LeftOut) At(k, t []float64, prior float64, means, deviations []float64) (mean, deviation float64) {
	variance := prior + linalg.BiasVariance(l.engine, k)
	d := l.engine.Precisions()
	for s, v := range t {
		mean += v * l.force[s]
		variance -= v * d[s] * k[s]
	}
	variance = math.Max(variance, leastPosterior*prior) + l.noise
	var z []float64
	for u := range l.units {
		own := &l.units[u]
		z = z[:0]
		means[u] = mean
		for j, s := range own.site {
			z = append(z, own.root[j]*t[s])
			means[u] -= t[s] * own.push[j]
		}
		own.solve(gonum.NoTrans, z)
		deviations[u] = math.Sqrt(variance + blas64.Dot(vector(z), vector(z)))
	}
	return mean, math.Sqrt(variance)
}
