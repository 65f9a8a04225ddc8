package linalg

import (
	"sync"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg/internal/core"
)

// Functions of any engine.

// MulVecOffDiag is dst_i = sum_{j != i} G_ij x_j.
func MulVecOffDiag(e Engine, dst, x []float64) { e.MulOffDiag(rowOf(dst), rowOf(x)) }

// rowOf is x as a matrix of one row.
func rowOf(x []float64) blas64.General {
	return blas64.General{Rows: 1, Cols: len(x), Stride: max(1, len(x)), Data: x}
}

// Row copies row i of G into dst.
func Row(e Engine, dst []float64, i int) { e.Rows(rowOf(dst), i) }

// Responses is t(x)' = k(x)'(I + diag(d)K)^-1, P x N, for new inputs with the given kernel vectors, P x N;
// with a bias its limit.
func Responses(e Engine, k blas64.General) blas64.General {
	t := contiguous(k.Rows, k.Cols)
	for r := range k.Rows {
		copy(core.Row(t, r), core.Row(k, r))
	}
	respond(e, t)
	return t
}

// respond overwrites kernel vectors k, rows of t, with
//
//	k'(I + diag(d)K)^-1 = k - G(d o k) = b o k - (G - diag(G))(d o k),
//
// to which a bias adds z/w.
func respond(e Engine, t blas64.General) {
	const block = 256
	weighted, product := newGeneral(min(block, t.Rows), t.Cols), newGeneral(min(block, t.Rows), t.Cols)
	_, b := e.Diag()
	bias := biasOf(e)
	for first := 0; first < t.Rows; first += block {
		part := core.Rows(t, first, min(first+block, t.Rows))
		weighted.Rows, product.Rows = part.Rows, part.Rows
		scaleColumns(weighted, part, e.Precisions())
		e.MulOffDiag(product, weighted)
		for r := range part.Rows {
			row := core.Row(part, r)
			floats.Mul(row, b)
			floats.Sub(row, core.Row(product, r))
			if bias != nil {
				floats.AddScaled(row, 1/bias.w, bias.z)
			}
		}
	}
}

// Predictor reads averages at new inputs off an engine and two vectors over the sites, field and scatter. For
// P new inputs described by rows (P x InputDim of the kernel, row-major, overwritten) it writes, with t(x) =
// k(x)'(I + diag(d)K)^-1, the mean t(x)'field and the variance sum_j t_j(x)^2 scatter_j (M03-48).
type Predictor func(rows, mean, variance []float64)

// NewPredictor is valid until the engine's next Factorize or RankUpdate, or a change of field or scatter. It
// needs all of G.
func NewPredictor(e Engine, field, scatter []float64) Predictor {
	if low, bias := lowRankOf(e); low != nil {
		return low.predictor(bias, field, scatter)
	}
	return func(rows, mean, variance []float64) {
		n := len(field)
		t := blas64.General{Rows: len(mean), Cols: n, Stride: max(1, n), Data: rows}
		respond(e, t)
		for i := range mean {
			mean[i], variance[i] = 0, 0
			for j, v := range core.Row(t, i) {
				mean[i] += v * field[j]
				variance[i] += v * v * scatter[j]
			}
		}
	}
}

// InputDim is the length of the row of numbers that describes a new input to a Predictor: its kernel with
// every site, or its coordinates in the basis of a factor (see LowRankPlusDiag.Coordinates), at least 1.
func InputDim(k Kernel) int {
	if f := FactorOf(k); f != nil {
		return max(1, f.rank)
	}
	return k.N()
}

// Product32 is dst = x (G - diag(G)) in single precision for the B rows of x, both B x N. It is safe for
// concurrent use, unless it is a distributed engine's.
type Product32 func(dst, x blas32.General)

// NewProduct32 multiplies by a copy of G - diag(G), 4 N^2 bytes, whose error is 2^-24 of every element; later
// changes of d do not affect it. An engine on a factor, which would take half of its memory again, or a
// distributed one makes no copy: the product converts x and dst, follows d, and runs in parallel.
func NewProduct32(e Engine) Product32 {
	if _, dense := e.(Dense); dense {
		g := copy32(e)
		return func(dst, x blas32.General) {
			if x.Rows > 0 && x.Cols > 0 {
				blas32.Gemm(gblas.NoTrans, gblas.NoTrans, 1, x, g, 0, dst)
			}
		}
	}
	var rooms sync.Pool // of pairs of matrices
	return func(dst, x blas32.General) {
		room, _ := rooms.Get().(*[2]blas64.General)
		if room == nil || room[0].Rows < x.Rows {
			room = &[2]blas64.General{newGeneral(x.Rows, x.Cols), newGeneral(x.Rows, x.Cols)}
		}
		defer rooms.Put(room)
		in, out := core.Rows(room[0], 0, x.Rows), core.Rows(room[1], 0, x.Rows)
		core.Parallel(x.Rows, func(r int) { convert(core.Row(in, r), x.Data[r*x.Stride:]) })
		e.MulOffDiag(out, in)
		core.Parallel(x.Rows, func(r int) {
			convert(dst.Data[r*dst.Stride:r*dst.Stride+x.Cols], out.Data[r*out.Stride:])
		})
	}
}

// copy32 is G with a diagonal of zeros.
func copy32(e Engine) blas32.General {
	n := len(e.Precisions())
	g := newGeneral32(n, n)
	core.Parallel(core.Blocks(n, tile), func(block int) {
		first := block * tile
		rows := newGeneral(min(tile, n-first), n)
		e.Rows(rows, first)
		for r := range rows.Rows {
			to := g.Data[(first+r)*g.Stride:][:n]
			convert(to, rows.Data[r*rows.Stride:])
			to[first+r] = 0
		}
	})
	return g
}

// convert writes len(dst) numbers of x into dst in the precision of dst.
func convert[T, S number](dst []T, x []S) {
	for i, v := range x[:len(dst)] {
		dst[i] = T(v)
	}
}

// scaleColumns writes a, column i times scale_i, into dst, which may be a.
func scaleColumns(dst, a blas64.General, scale []float64) {
	for r := range a.Rows {
		floats.MulTo(core.Row(dst, r), core.Row(a, r), scale)
	}
}
