package kernel

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"bootbench/linalg"
)

// SparseInputs are sparse training inputs prepared for one covariance function.
// It gives what Inputs gives on the same matrix, up to rounding. Its methods may
// be called from several goroutines at once.
//
// Inner products come from the columns: row i meets only the rows that share a
// feature with it, so that all products cost sum_c n_c^2/2 multiplications for
// features that occur in n_c rows, where pairs of rows would cost M/2 sum_c n_c.
// The features are not centred, which would fill the matrix; distances that are
// small beside the norms are summed from the rows themselves.
type SparseInputs struct {
	prepared
	scale   scales
	train   sparsePoints
	columns columns // of the scaled training rows
}

// sparsePoints are sparse rows and what distances need besides.
type sparsePoints struct {
	raw    CSR
	scaled []float64 // the values over their length scale; the raw ones without a distance
	norm   []float64 // |scaled row|^2
}

// scales are the factors 1/L of the features: one for all, or one for each.
type scales []float64

func (w scales) of(c int32) float64 {
	if len(w) == 1 {
		return w[0]
	}
	return w[c]
}

// PrepareSparse checks s and the M x d inputs x, M >= 1, and readies them for
// Gram, Row, Cross and Diag. Beside x it takes 12 to 20 bytes an entry and 8 a
// row and a feature. It keeps a view of x, which must not change afterwards.
func (s Spec) PrepareSparse(x CSR) (*SparseInputs, error) {
	if s.Kind == Precomputed {
		return nil, errors.New("a precomputed kernel has no inputs")
	}
	if err := s.Validate(x.Cols); err != nil {
		return nil, err
	}
	if err := x.Check(); err != nil {
		return nil, err
	}
	if x.Rows < 1 {
		return nil, errors.New("there are no inputs")
	}
	if x.Rows > math.MaxInt32 || x.Cols > math.MaxInt32 {
		return nil, fmt.Errorf("%d x %d is too large for a sparse matrix", x.Rows, x.Cols)
	}
	in := &SparseInputs{prepared: prepared{spec: s, m: x.Rows, d: x.Cols}}
	if s.Kind.radial() {
		in.scale = s.inverseScales(x.Cols)
		if len(s.LengthScale) < 2 {
			in.scale = in.scale[:1]
		}
	}
	in.train = in.points(x)
	in.columns = transpose(x, in.train.scaled)
	return in, nil
}

// Gram returns the M x M matrix of covariances between the training inputs,
// with the jitter on its diagonal. A covariance that is not finite is an error
// that names the pair of rows.
func (in *SparseInputs) Gram() (*linalg.Sym, error) {
	s := linalg.NewSym(in.M())
	return in.gram(s, func(i int) int { return in.covariances(s.Row(i), &in.train, i, i) })
}

// GramDiagonal writes the diagonal of Gram into dst (length M).
func (in *SparseInputs) GramDiagonal(dst []float64) error {
	return in.addJitter(dst, in.Diagonal(dst))
}

// Cross writes the covariances between P new inputs z and the M training inputs
// into the rows of dst, row-major P x M. No jitter enters. New inputs may have
// fewer features than the training inputs, or more: what one side lacks is zero
// there. Only with a length scale for each feature must their number agree.
// P = 0 does nothing.
func (in *SparseInputs) Cross(z CSR, dst []float64) error {
	if err := in.checkNew(z); err != nil {
		return err
	}
	m := in.M()
	if len(dst) != z.Rows*m {
		return fmt.Errorf("room for %d covariances of %d x %d", len(dst), z.Rows, m)
	}
	fresh := in.points(z)
	return eachRow(z.Rows, func(p int) int { return in.covariances(dst[p*m:(p+1)*m], &fresh, p, 0) },
		in.newNotFinite)
}

// checkNew checks new inputs against the training inputs.
func (in *SparseInputs) checkNew(z CSR) error {
	if len(in.scale) > 1 && z.Cols != in.D() {
		return fmt.Errorf("the new inputs have %d features, the training inputs %d, each with its length scale",
			z.Cols, in.D())
	}
	return z.Check()
}

// points prepares x.
func (in *SparseInputs) points(x CSR) sparsePoints {
	p := sparsePoints{raw: x, scaled: x.Value}
	if !in.spec.Kind.radial() {
		return p
	}
	p.scaled, p.norm = make([]float64, len(x.Value)), make([]float64, x.Rows)
	for k, v := range x.Value {
		p.scaled[k] = v * in.scale.of(x.Index[k])
	}
	for i := range p.norm {
		row := p.scaled[x.Start[i]:x.Start[i+1]]
		p.norm[i] = squaredNorm(row)
	}
	return p
}

// covariances writes the covariances of row i of a with the training rows from, from+1,
// ... into k. It returns the first place where one is not finite, or -1.
func (in *SparseInputs) covariances(k []float64, a *sparsePoints, i, from int) int {
	first, end := a.raw.Start[i], a.raw.Start[i+1]
	in.columns.products(k, from, a.raw.Index[first:end], a.scaled[first:end])
	var p pairs
	if in.spec.Kind.radial() {
		index, value := a.raw.Row(i)
		p = pairs{norm: a.norm[i], norms: in.train.norm[from:], direct: func(j int) float64 {
			others, values := in.train.raw.Row(from + j)
			return sparseDistance(index, value, others, values, in.scale)
		}}
	}
	return in.spec.covariances(k, in.D(), p)
}

// products writes the inner products of a sparse row with the rows from,
// from+1, ... of the matrix into dst, as many as it holds. Each sum runs over the shared features in
// ascending order, so a product does not depend on which of its rows is asked.
func (t columns) products(dst []float64, from int, index []int32, value []float64) {
	clear(dst)
	for k, c := range index {
		if int(c) >= len(t.start)-1 {
			return
		}
		first, end := t.start[c], t.start[c+1]
		rows, values := t.row[first:end], t.value[first:end]
		if from > 0 {
			skip := sort.Search(len(rows), func(p int) bool { return int(rows[p]) >= from })
			rows, values = rows[skip:], values[skip:]
		}
		if n := len(rows); n > 0 && int(rows[n-1]) >= from+len(dst) {
			rows = rows[:sort.Search(n, func(p int) bool { return int(rows[p]) >= from+len(dst) })]
		}
		v := value[k]
		for p, r := range rows {
			dst[int(r)-from] += v * values[p]
		}
	}
}

// sparseDistance is sum_j ((x_j - z_j) w_j)^2, or NaN where that overflows.
func sparseDistance(xi []int32, x []float64, zi []int32, z []float64, w scales) float64 {
	sum := 0.0
	for len(xi) > 0 || len(zi) > 0 {
		var t float64
		switch {
		case len(zi) == 0 || len(xi) > 0 && xi[0] < zi[0]:
			t = x[0] * w.of(xi[0])
			xi, x = xi[1:], x[1:]
		case len(xi) == 0 || zi[0] < xi[0]:
			t = z[0] * w.of(zi[0])
			zi, z = zi[1:], z[1:]
		default:
			t = (x[0] - z[0]) * w.of(xi[0])
			xi, x, zi, z = xi[1:], x[1:], zi[1:], z[1:]
		}
		sum += t * t
	}
	if sum > math.MaxFloat64 {
		return math.NaN()
	}
	return sum
}
