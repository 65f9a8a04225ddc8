package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
)

// Factored is an Exact that changes over to a factor R of K where d is so large
// that B = I + d^1/2 K d^1/2 loses its digits.
type Factored struct {
	*Exact
	ready  bool
	r      int
	rows   []float64 // R, N x r row-major: K = R R'
	z      []float64 // R L^-T, I + R'dR = L L'
	scaled []float64 // d^1/2 R, then d^1/2 z
	p, q   []float64 // r x r: L; L^-T
	direct bool      // G stands by the factor
}

// numericalRank is the share of the largest K_ii.
const pivotFloor = 8 * 0x1p-52

// PivotedCholesky returns R with K ~ R R', N x r row-major.
func PivotedCholesky(k *Sym, floor float64) (r int, rows []float64) {
	n := k.N()
	left := make([]float64, n)
	k.Diag(left)
	top := 0.0
	for _, v := range left {
		top = math.Max(top, v)
	}
	cols := make([][]float64, 0, n)
	taken := make([]bool, n)
	for len(cols) < n {
		best := -1
		for i, v := range left {
			if !taken[i] && (best < 0 || v > left[best]) {
				best = i
			}
		}
		if !(left[best] > floor*top) {
			break
		}
		taken[best] = true
		root := math.Sqrt(left[best])
		col := make([]float64, n)
		for i := range col {
			if !taken[i] {
				col[i] = k.At(i, best)
			}
		}
		for _, c := range cols {
			f := c[best]
			for i := range col {
				col[i] -= f * c[i]
			}
		}
		for i := range col {
			switch {
			case i == best:
				col[i] = root
			case taken[i]:
				col[i] = 0
			default:
				col[i] /= root
				left[i] -= col[i] * col[i]
			}
		}
		cols = append(cols, col)
	}
	r = len(cols)
	rows = make([]float64, n*r)
	for j, col := range cols {
		for i, v := range col {
			rows[i*r+j] = v
		}
	}
	return r, rows
}

// trusted is the sum of d K up to which B is factorised.
const trusted = 1e6

func NewFactored(e *Exact) *Factored { return &Factored{Exact: e} }

// Rank is the numerical rank of K, 0 if it was not needed.
func (f *Factored) Rank() int { return f.r }

func (f *Factored) prepare() {
	if f.ready {
		return
	}
	f.ready = true
	f.r, f.rows = PivotedCholesky(f.k, pivotFloor)
	f.z = make([]float64, len(f.rows))
	f.scaled = make([]float64, len(f.rows))
	f.p = make([]float64, f.r*f.r)
	f.q = make([]float64, f.r*f.r)
}

func (f *Factored) Refresh(d []float64) error {
	if err := checkSites(d, f.N()); err != nil {
		return err
	}
	f.k.Diag(f.kdiag)
	sum := 0.0
	for i, v := range d {
		sum += v * f.kdiag[i]
	}
	f.direct = false
	if sum > trusted {
		f.prepare()
		f.direct = f.r < f.N()
	}
	if !f.direct {
		return f.Exact.Refresh(d)
	}
	f.expanded = false
	copy(f.d, d)
	n, r := f.N(), f.r
	for i, v := range d {
		f.root[i] = math.Max(math.Sqrt(v), smallestRoot)
		f.inverse[i] = 1 / f.root[i]
	}
	copy(f.z, f.rows)
	for i := range f.q {
		f.q[i] = 0
	}
	for j := range r {
		f.q[j*r+j] = 1
	}
	for range 2 {
		if err := f.orthogonalise(); err != nil {
			return err
		}
	}
	for i := range n {
		sum := 0.0
		for _, v := range f.z[i*r : (i+1)*r] {
			sum += v * v
		}
		f.chi[i] = sum
		f.b[i] = 1 - d[i]*sum
	}
	f.smallB()
	return nil
}

// orthogonalise z, q: S = z'dz + q'q.
func (f *Factored) orthogonalise() error {
	n, r := f.N(), f.r
	for i := range n {
		for j, x := range f.z[i*r : (i+1)*r] {
			f.scaled[i*r+j] = f.root[i] * x
		}
	}
	p := blas64.Symmetric{Uplo: gblas.Lower, N: r, Stride: r, Data: f.p}
	blas64.Syrk(gblas.Trans, 1, blas64.General{Rows: n, Cols: r, Stride: r, Data: f.scaled}, 0, p)
	blas64.Syrk(gblas.Trans, 1, blas64.General{Rows: r, Cols: r, Stride: r, Data: f.q}, 1, p)
	if minor := blas.Bound().Potrf(gblas.Lower, r, f.p, r); minor != 0 {
		return &PivotError{Minor: minor, N: r}
	}
	l := blas64.Triangular{Uplo: gblas.Lower, Diag: gblas.NonUnit, N: r, Stride: r, Data: f.p}
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, blas64.General{Rows: n, Cols: r, Stride: r, Data: f.z})
	blas64.Trsm(gblas.Right, gblas.Trans, 1, l, blas64.General{Rows: r, Cols: r, Stride: r, Data: f.q})
	return nil
}

// smallB: b (1-b) = sum_{j != i} d_i d_j G_ij^2 + d_i |P^-1 r_i|^2.
func (f *Factored) smallB() {
	n, r := f.N(), f.r
	f.Expand()
	s := f.k.Scratch()
	sum := make([]float64, n)
	for i := range n {
		row := s.Data[i*s.Stride : i*s.Stride+i]
		for j, g := range row {
			g *= f.root[i] * f.root[j]
			sum[i] += g * g
			sum[j] += g * g
		}
	}
	// P^-1 r_i = q z_i
	for i := range n {
		if f.b[i] > 0.1 {
			continue
		}
		z := f.z[i*r : (i+1)*r]
		for a := range r {
			v := 0.0
			for j, x := range f.q[a*r : (a+1)*r] {
				v += x * z[j]
			}
			v *= f.root[i]
			sum[i] += v * v
		}
		f.b[i] = 2 * sum[i] / (1 + math.Sqrt(math.Max(0, 1-4*sum[i])))
	}
}

func (f *Factored) Expand() {
	if !f.direct {
		f.Exact.Expand()
		return
	}
	if f.expanded {
		return
	}
	s := f.k.Scratch()
	blas64.Syrk(gblas.NoTrans, 1, blas64.General{Rows: s.N, Cols: f.r, Stride: f.r, Data: f.z}, 0, s)
	for i := range s.N {
		s.Data[i*s.Stride+i] = 0
	}
	f.expanded = true
}

// Update moves G by a refresh.
func (f *Factored) Update(sites []int, delta []float64) error {
	if f.direct {
		return ErrUpdate
	}
	return f.Exact.Update(sites, delta)
}
