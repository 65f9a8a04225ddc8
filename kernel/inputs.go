package kernel

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// Inputs are training inputs prepared for one covariance function. Its methods
// may be called from several goroutines at once.
type Inputs struct {
	prepared
	centre  []float64 // of each feature; nil for kinds without a distance
	inverse []float64 // 1/L_j of each feature; nil for kinds without a distance
	train   points
}

// points are inputs in two forms. The products of the scaled rows give all
// squared distances fast; the raw rows give single ones without cancellation.
type points struct {
	raw    Rows
	scaled blas64.General // (raw - centre) / L for distances, else the raw rows
	norm   []float64      // |scaled row|^2 for distances, else nil
}

// Prepare checks s and the M x d inputs x, M >= 1, and readies them for Gram,
// Cross and Diag. It takes 8 M (d + 1) bytes for the kinds that depend on
// distance. It keeps a view of x, which must not change afterwards.
func (s Spec) Prepare(x blas64.General) (*Inputs, error) {
	return s.PrepareRows(matrixRows(x))
}

// PrepareRows is Prepare for inputs in another form, which it keeps.
func (s Spec) PrepareRows(x Rows) (*Inputs, error) {
	if s.Kind == Precomputed {
		return nil, errors.New("a precomputed kernel has no inputs")
	}
	m, d := x.Dims()
	if err := s.Validate(d); err != nil {
		return nil, err
	}
	if m < 1 {
		return nil, errors.New("there are no inputs")
	}
	if x, ok := x.(matrixRows); ok {
		if err := checkMatrix("inputs", blas64.General(x)); err != nil {
			return nil, err
		}
	}
	in := &Inputs{prepared: prepared{spec: s, m: m, d: d}}
	z := in.held(x)
	if err := checkFinite(z); err != nil {
		return nil, err
	}
	if s.Kind.radial() {
		in.centre = centres(z)
		in.inverse = s.inverseScales(d)
	}
	in.train = in.scale(x, z)
	return in, nil
}

// Gram is Prepare followed by Inputs.Gram, for callers without new inputs.
func (s Spec) Gram(x blas64.General) (*linalg.Sym, error) {
	in, err := s.Prepare(x)
	if err != nil {
		return nil, err
	}
	return in.Gram()
}

// Gram returns the M x M matrix of covariances between the training inputs,
// with the jitter on its diagonal. One symmetric rank-d update (syrk) puts all
// inner products into the upper triangle, which is then mapped to covariances in
// place. A covariance that is not finite is an error that names the pair of rows.
func (in *Inputs) Gram() (*linalg.Sym, error) {
	s := linalg.NewSym(in.M())
	blas64.Syrk(blas.NoTrans, 1, in.train.scaled, 0, s.Raw())
	return in.gram(s, func(i int) int { return in.covariances(s.Row(i), &in.train, i, i) })
}

// Cross writes the covariances between P new inputs z (P x d) and the M
// training inputs into dst (P x M): row p is the kernel vector of new input p.
// No jitter enters, even where a new input equals a training input. dst must
// not overlap z or the training inputs. Beside dst it takes 8 P (d + 1) bytes,
// so long lists of new inputs are best passed in batches of a few hundred
// rows. P = 0 does nothing.
func (in *Inputs) Cross(z, dst blas64.General) error {
	if err := in.checkNew(z); err != nil {
		return err
	}
	if err := checkMatrix("the matrix of covariances", dst); err != nil {
		return err
	}
	if dst.Rows != z.Rows || dst.Cols != in.M() {
		return fmt.Errorf("the matrix of covariances is %d x %d, not %d x %d", dst.Rows, dst.Cols, z.Rows, in.M())
	}
	if z.Rows == 0 {
		return nil
	}
	fresh := in.points(matrixRows(z))
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, fresh.scaled, in.train.scaled, 0, dst)
	return eachRow(z.Rows, func(p int) int { return in.covariances(row(dst, p), &fresh, p, 0) }, in.newNotFinite)
}

// Diagonal writes the prior variances A k(x, x) + B of the training inputs into
// dst (length M), without jitter.
func (in *Inputs) Diagonal(dst []float64) error {
	x := in.train.scaled // raw where it counts
	return in.variances(dst, func(i int) float64 { return squaredNorm(row(x, i)) })
}

// GramDiagonal writes the diagonal of Gram into dst (length M), up to rounding.
func (in *Inputs) GramDiagonal(dst []float64) error { return in.addJitter(dst, in.Diagonal(dst)) }

// Complete turns a precomputed matrix k into A k + B with the jitter on its
// diagonal, in place. An entry that is not finite afterwards is an error that
// names it, and k is then of no use.
func (s Spec) Complete(k *linalg.Sym) error {
	if s.Kind != Precomputed {
		return fmt.Errorf("kernel %v is not precomputed", s.Kind)
	}
	if err := s.Validate(0); err != nil {
		return err
	}
	err := eachRow(k.N(), func(i int) int { return s.affine(k.Row(i)) }, func(i, j int) error {
		return fmt.Errorf("kernel entry (%d, %d) is not finite", i+1, i+j+1)
	})
	if err == nil {
		k.AddDiag(s.Jitter)
	}
	return err
}

// covariances turns the products of scaled row i of a with the scaled training
// rows from..from+len(k)-1 into covariances, in place. It returns the first
// place in k where the result is not finite, or -1.
func (in *Inputs) covariances(k []float64, a *points, i, from int) int {
	var p pairs
	if in.spec.Kind.radial() {
		p = in.pairsWith(a, i, from)
	}
	return in.spec.covariances(k, in.D(), p)
}

// pairsWith pairs row i of a with the training rows from, from+1, ...
func (in *Inputs) pairsWith(a *points, i, from int) pairs {
	room := roomFor(a.raw, in.train.raw)
	return pairs{norm: a.norm[i], norms: in.train.norm[from:], direct: func(j int) float64 {
		x, z := room.rows(a.raw, i, in.train.raw, from+j)
		return squaredDistance(x, z, in.inverse)
	}}
}

// points prepares x: a scaled copy and its squared norms where distances are
// wanted, its rows as they are otherwise.
func (in *Inputs) points(x Rows) points { return in.scale(x, in.held(x)) }

// held is x as a matrix, a copy where distances are wanted.
func (in *Inputs) held(x Rows) blas64.General {
	if m, ok := x.(matrixRows); ok && !in.spec.Kind.radial() {
		return blas64.General(m)
	}
	return gather(x, nil)
}

// scale makes points of x, and of a copy, which becomes their scaled form.
func (in *Inputs) scale(x Rows, z blas64.General) points {
	if !in.spec.Kind.radial() {
		return points{raw: matrixRows(z), scaled: z}
	}
	p := points{raw: x, scaled: z, norm: make([]float64, z.Rows)}
	for i := range p.norm {
		scaled := row(z, i)
		for j, v := range scaled {
			scaled[j] = (v - in.centre[j]) * in.inverse[j]
		}
		p.norm[i] = squaredNorm(scaled)
	}
	return p
}

// checkNew checks new inputs against the training inputs.
func (in *Inputs) checkNew(z blas64.General) error {
	if z.Cols != in.D() {
		return fmt.Errorf("the new inputs have %d features, the training inputs %d", z.Cols, in.D())
	}
	if err := checkMatrix("new inputs", z); err != nil {
		return err
	}
	return checkFinite(z)
}

// centres returns the mean of each column of x, reached from the first row so
// that a constant column is centred to zero exactly.
func centres(x blas64.General) []float64 {
	first := row(x, 0)
	c := make([]float64, x.Cols)
	for i := 1; i < x.Rows; i++ {
		for j, v := range row(x, i) {
			c[j] += v - first[j]
		}
	}
	for j := range c {
		c[j] = first[j] + c[j]/float64(x.Rows)
	}
	return c
}

// checkMatrix reports a shape that does not fit its data.
func checkMatrix(what string, x blas64.General) error {
	if x.Rows < 0 || x.Cols < 0 || x.Stride < max(1, x.Cols) ||
		x.Rows > 0 && x.Cols > 0 && len(x.Data) < (x.Rows-1)*x.Stride+x.Cols {
		return fmt.Errorf("%s: %d numbers do not hold %d x %d with stride %d", what, len(x.Data), x.Rows, x.Cols,
			x.Stride)
	}
	return nil
}

// checkFinite reports the first entry of x that is not a finite number.
func checkFinite(x blas64.General) error {
	for i := 0; i < x.Rows; i++ {
		for j, v := range row(x, i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("input row %d, feature %d is %v", i+1, j+1, v)
			}
		}
	}
	return nil
}

// row is row i of x, a view.
func row(x blas64.General, i int) []float64 {
	return x.Data[i*x.Stride : i*x.Stride+x.Cols]
}

// squaredNorm is |x|^2, summed in the order of the elements.
func squaredNorm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return sum
}
