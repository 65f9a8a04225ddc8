package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Follower is an engine that can move G by little at a fraction of the cost of
// a refresh.
type Follower interface {
	Engine

	// Follow moves d by e, where no |e_i| is more than a fiftieth of d_i. The
	// diagonals are exact up to terms of the fourth order in e/d, the rest of G up
	// to a part of the second order, some 0.2 to 0.8 times the mean of (e/d)^2;
	// Defect says how far off it is. MulVecOffDiag and Respond make up for that, at
	// several times their cost. Follow refuses with ErrUpdate, G untouched, other
	// moves, and all where the backend has no single precision or N is above 8192.
	// It needs all of G, expands it when necessary, and keeps it. It costs N^3
	// flops in single precision and 2N^2 bytes.
	Follow(e []float64) error

	// Defect is the relative error of G x for a random x, measured in double
	// precision by what (I + K diag(d)) G x = K x leaves, at the cost of four
	// products. Needs all of G.
	Defect() float64
}

// Limits of Follow.
const (
	followReach = 2e-2 // |e_i|/d_i
	followWidth = 256  // columns of a panel
	followOrder = 8192 // above it the memory of a refresh is all that there should be
	refinements = 2    // of a product with G; each gains several digits
	shareOfMove = 0.1  // of the first order, that the second may have to be a correction to it
)

// Follow uses that, with F = D^-1/2 E D^-1/2 and H = D^1/2 G D^1/2, whose
// elements are at most 1,
//
//	H(d+e) = H - T + T F H - T F T + ...,   T = H F H.
//
// T is small, so that its own relative error is of no account: it is computed in
// single precision. The diagonals of the next two terms are sums over rows,
// O(N^2). What they add to T_ii scales the other elements of T too.
func (e *CholeskyEngine) Follow(move []float64) error {
	bound, ok := blas.Bound().(blas.Single)
	if !ok || !e.within(move) {
		return ErrUpdate
	}
	e.FormG()
	n := e.N()
	first, share := make([]float64, n), make([]float64, n)
	e.MulVecSquaredOffDiag(first, move)
	for i, v := range move {
		first[i] += e.chi[i] * e.chi[i] * v
		share[i] = v / e.d[i]
	}
	h := e.normalised()
	e.subtractProduct(bound, h, share)
	further := e.furtherTerms(h, share, first)
	scale := make([]float64, n)
	for i, v := range move {
		scale[i] = 0.5
		if math.Abs(further[i]) <= shareOfMove*math.Abs(first[i]) && first[i] != 0 {
			scale[i] = 0.5 * (1 - further[i]/first[i])
		}
		fall := first[i] - further[i]
		e.chi[i] -= fall
		e.b[i] += e.d[i]*fall - v*e.chi[i]
	}
	e.rescale(h, scale)
	e.held, e.followed = false, true
	for i, v := range move {
		e.d[i] += v
		e.root[i] = math.Max(math.Sqrt(e.d[i]), smallestRoot)
		e.inverse[i] = 1 / e.root[i]
	}
	return nil
}

// within reports whether a move is small enough to follow.
func (e *CholeskyEngine) within(move []float64) bool {
	if n := e.N(); n == 0 || n > followOrder || e.single {
		return false
	}
	for i, v := range move {
		if !(math.Abs(v) <= followReach*e.d[i]) || e.d[i]*e.kdiag[i] < leastShare || !(e.chi[i] > 0) {
			return false
		}
	}
	return true
}

// normalised is the lower triangle of H in single precision.
func (e *CholeskyEngine) normalised() triangle[float32] {
	n := e.N()
	if len(e.copied) < n*n {
		e.copied = make([]float32, n*n)
	}
	h, g := triangle[float32]{n, n, e.copied}, double(e.k)
	overTriangle(n, blocks(n, tile), func(block int) {
		for i := block * tile; i < min(n, (block+1)*tile); i++ {
			row, from := h.row(i), g.row(i)
			for j, v := range from[:i] {
				row[j] = float32(e.root[i] * e.root[j] * v)
			}
			row[i] = float32(e.d[i] * e.chi[i])
		}
	})
	return h
}

// subtractProduct takes D^-1/2 T D^-1/2 from G, panel of columns by panel. Rows
// from j0 on of the columns j0 to j1 of T are
//
//	H[j0:, :j0] (H F)[j0:j1, :j0]' + H[j0:, j0:] (F H)[j0:, j0:j1].
func (e *CholeskyEngine) subtractProduct(bound blas.Single, h triangle[float32], share []float64) {
	n := h.n
	panel := make([]float32, n*min(n, followWidth))
	right := make([]float32, n*min(n, followWidth))
	g := double(e.k)
	for j0 := 0; j0 < n; j0 += followWidth {
		w, rows := min(followWidth, n-j0), n-j0
		Parallel(blocks(rows, tile), func(block int) {
			for i := block * tile; i < min(rows, (block+1)*tile); i++ {
				f := float32(share[j0+i])
				for j := range w {
					right[i*w+j] = f * h.data[(j0+max(i, j))*h.stride+j0+min(i, j)]
				}
			}
		})
		corner := h.data[j0*h.stride+j0:]
		bound.Ssymm(gblas.Left, gblas.Lower, rows, w, 1, corner, h.stride, right, w, 0, panel, w)
		if j0 > 0 {
			for j := range w {
				from := h.data[(j0+j)*h.stride:][:j0]
				for k, v := range from {
					right[j*j0+k] = float32(share[k]) * v
				}
			}
			bound.Sgemm(gblas.NoTrans, gblas.Trans, rows, w, j0, 1, h.data[j0*h.stride:], h.stride, right, j0, 1, panel, w)
		}
		Parallel(blocks(rows, tile), func(block int) {
			for i := block * tile; i < min(rows, (block+1)*tile); i++ {
				row := g.data[(j0+i)*g.stride+j0:][:min(i, w)]
				for j := range row {
					row[j] -= e.inverse[j0+i] * e.inverse[j0+j] * float64(panel[i*w+j])
				}
			}
		})
	}
}

// furtherTerms are the diagonal elements of D^-1/2 (T F H - T F T) D^-1/2. What
// T was follows from H and from the G that it was taken from.
func (e *CholeskyEngine) furtherTerms(h triangle[float32], share, first []float64) []float64 {
	n := h.n
	g := double(e.k)
	count := blocks(n, tile)
	overTriangle(n, lanes, func(lane int) {
		sum := e.lanes[lane]
		clear(sum)
		for block := lane; block < count; block += lanes {
			for i := block * tile; i < min(n, (block+1)*tile); i++ {
				row, was := g.row(i)[:i], h.row(i)
				for j, v := range row {
					now := e.root[i] * e.root[j] * v // H - T
					term := (float64(was[j]) - now) * now
					sum[i] += term * share[j]
					sum[j] += term * share[i]
				}
			}
		}
	})
	terms := make([]float64, n)
	for i := range terms {
		for _, sum := range e.lanes {
			terms[i] += sum[i] / e.d[i]
		}
		terms[i] += first[i] * (e.chi[i] - first[i]) * share[i] * e.d[i]
	}
	return terms
}

// rescale multiplies T_ij by scale_i + scale_j, and sets the zero diagonal.
func (e *CholeskyEngine) rescale(h triangle[float32], scale []float64) {
	g := double(e.k)
	overTriangle(h.n, blocks(h.n, tile), func(block int) {
		for i := block * tile; i < min(h.n, (block+1)*tile); i++ {
			row, was := g.row(i), h.row(i)
			for j, v := range row[:i] {
				t := e.inverse[i]*e.inverse[j]*float64(was[j]) - v
				row[j] += (1 - scale[i] - scale[j]) * t
			}
			row[i] = 0
		}
	})
}

// refine corrects y, which is (G - diag(G)) x but for what Follow has left out,
// by the error that belongs to r = K x - y - K D y with the whole y = G x.
func (e *CholeskyEngine) refine(y, x []float64) {
	for range refinements {
		for i, v := range e.correction(y, x) {
			y[i] += v
		}
	}
}

// correction is (I + K D)^-1 r = r - G D r, r = K x - y - K D y, where the y
// handed in lacks diag(G) x.
func (e *CholeskyEngine) correction(y, x []float64) []float64 {
	n := e.N()
	weighted, r, z := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range x {
		weighted[i] = v - e.d[i]*(y[i]+e.chi[i]*v)
	}
	blas64.Symv(1, e.k.Raw(), vector(weighted), 0, vector(r))
	for i, v := range x {
		r[i] -= y[i] + e.chi[i]*v
		weighted[i] = e.d[i] * r[i]
	}
	blas64.Symv(1, e.k.Scratch(), vector(weighted), 0, vector(z))
	for i, v := range weighted {
		r[i] -= z[i] + e.chi[i]*v
	}
	return r
}

// Defect takes x_i = +-d_i^1/2 and returns the size of what G x lacks relative to
// that of G x, both weighted by d_i^1/2.
func (e *CholeskyEngine) Defect() float64 {
	e.mustBeExpanded()
	n := e.N()
	x, y := make([]float64, n), make([]float64, n)
	state := uint32(1)
	for i := range x {
		state = state*1664525 + 1013904223 // signs without a pattern
		x[i] = math.Copysign(e.root[i], float64(int32(state)))
	}
	if n == 0 {
		return 0
	}
	blas64.Symv(1, e.k.Scratch(), vector(x), 0, vector(y))
	wrong, size := 0.0, 0.0
	for i, v := range e.correction(y, x) {
		whole := y[i] + e.chi[i]*x[i]
		wrong += e.d[i] * v * v
		size += e.d[i] * whole * whole
	}
	if wrong == 0 {
		return 0
	}
	return math.Sqrt(wrong / size)
}
