package kernel

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
)

// Inputs are training inputs, dense or sparse, prepared for one covariance function; Prepare makes them. Its
// methods are safe for concurrent use.
type Inputs struct {
	spec  Spec
	train *points
}

// Prepare checks s and the M x d inputs x, M >= 1, and prepares them for Gram, Cross and Diagonal. For the
// kinds that depend on distance it takes 8 M (d + 1) bytes, for sparse inputs 12 to 20 per entry and 8 per
// row and feature. It keeps a view of x, which must not change afterwards.
func (s Spec) Prepare(x linalg.Design) (*Inputs, error) {
	if s.Kind == Precomputed {
		return nil, errors.New("a precomputed kernel has no inputs")
	}
	if err := s.Validate(x.D()); err != nil {
		return nil, err
	}
	if err := x.Check(); err != nil {
		return nil, err
	}
	if x.N() < 1 {
		return nil, errors.New("there are no inputs")
	}
	in := &Inputs{spec: s.WithDefaults(x.D())}
	var scale scaling
	if s.Kind.radial() {
		scale.inverse = in.spec.inverseScales()
		if x.Sparse == nil {
			scale.centre = centres(x.X)
		}
	}
	in.train = scale.points(x, true)
	return in, nil
}

// N is the number M of training inputs, the order of their Gram matrix, and D the number of features.
func (in *Inputs) N() int { return in.train.raw.N() }
func (in *Inputs) D() int { return in.train.raw.D() }

// Gram returns the M x M matrix of covariances between the training inputs, with the jitter on its diagonal.
// The inner products are put into the upper triangle, which is then mapped to covariances in place. A
// covariance that is not finite is an error that names the pair of rows; so is the end of ctx, which is
// looked at before every row.
func (in *Inputs) Gram(ctx context.Context) (*linalg.Sym, error) {
	k := linalg.ZeroSym(in.N())
	in.train.gram(k.Raw())
	err := eachRow(k.N(), func(i int) int {
		if ctx.Err() != nil {
			return -1
		}
		return in.covariances(k.Row(i), in.train, i, i)
	}, func(i, j int) error { return in.notFinite(i, i+j) })
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	k.AddDiag(in.spec.Jitter)
	return k, nil
}

// Cross writes the covariances between P new inputs z (P x d) and the M training inputs into dst (P x M): row
// p is the kernel vector of new input p. There is no jitter, even if a new input equals a training input. dst
// must not overlap z or the training inputs. It takes 8 P (d + 1) bytes in addition to dst: pass long lists
// of new inputs in batches of a few hundred rows. P = 0 does nothing.
//
// For sparse training inputs new inputs may have more or fewer features: missing ones are zero. Only with a
// length scale for each feature must their number agree.
func (in *Inputs) Cross(z linalg.Design, dst blas64.General) error {
	sparse := in.train.raw.Sparse != nil
	switch {
	case z.Sparse != nil && !sparse:
		return errors.New("they are sparse, the data set is not")
	case z.D() != in.D() && !sparse:
		return fmt.Errorf("the new inputs have %d features, the training inputs %d", z.D(), in.D())
	case z.D() != in.D() && len(in.train.inverse) > 1:
		return fmt.Errorf("the new inputs have %d features, the training inputs %d, each with its length "+
			"scale", z.D(), in.D())
	}
	if err := z.Check(); err != nil {
		return err
	}
	if sparse && z.Sparse == nil {
		z = linalg.Design{Sparse: linalg.NewCSR(z.X)}
	}
	if err := linalg.Matrix(dst).Check(); err != nil {
		return fmt.Errorf("the matrix of covariances: %w", err)
	}
	if dst.Rows != z.N() || dst.Cols != in.N() {
		return fmt.Errorf("the matrix of covariances is %d x %d, not %d x %d",
			dst.Rows, dst.Cols, z.N(), in.N())
	}
	return in.fill(dst, in.train.scaling.points(z, false), func(p, i int) error {
		return fmt.Errorf("kernel %v of new row %d and training row %d is not finite", in.spec.Kind, p+1, i+1)
	})
}

// fill writes the covariances of points with the training inputs into dst.
func (in *Inputs) fill(dst blas64.General, of *points, failure func(p, j int) error) error {
	if dst.Rows == 0 || dst.Cols == 0 {
		return nil
	}
	in.train.products(dst, of)
	return eachRow(dst.Rows, func(p int) int { return in.covariances(row(dst, p), of, p, 0) }, failure)
}

// Columns writes columns of the Gram matrix without its jitter into the rows of dst, len(sites) x M
// row-major, and takes another 8 len(sites) (2d + 1) bytes. A covariance that is not finite is an error that
// names the pair of rows.
func (in *Inputs) Columns(dst []float64, sites []int) error {
	to := blas64.General{Rows: len(sites), Cols: in.N(), Stride: max(1, in.N()), Data: dst}
	return in.fill(to, in.train.subset(sites), func(p, i int) error { return in.notFinite(sites[p], i) })
}

// Block writes elements (rows[r], cols[c]) of Gram without its jitter into dst[r*stride+c], and takes another
// 8 (2d + 1) bytes for each row and column. The caller checks for elements that are not finite.
func (in *Inputs) Block(dst []float64, stride int, rows, cols []int) {
	to := blas64.General{Rows: len(rows), Cols: len(cols), Stride: stride, Data: dst}
	_ = in.Subset(cols).fill(to, in.train.subset(rows), in.notFinite)
}

// Subset is the covariance with the listed training inputs only: Cross gives kernel vectors with these.
func (in *Inputs) Subset(sites []int) *Inputs {
	some := *in
	some.train = in.train.subset(sites)
	return &some
}

// Diagonal writes the prior variances A k(x, x) + B of the training inputs into
// dst (length M), without jitter.
func (in *Inputs) Diagonal(dst []float64) error {
	if len(dst) != in.N() {
		return fmt.Errorf("room for %d variances of %d inputs", len(dst), in.N())
	}
	clear(dst) // the squared distance to itself
	if !in.spec.Kind.radial() {
		for i := range dst {
			dst[i] = squaredNorm(in.train.raw.Stored(i))
		}
	}
	if i := in.spec.covariances(dst); i >= 0 {
		return fmt.Errorf("kernel %v of row %d with itself is not finite", in.spec.Kind, i+1)
	}
	return nil
}

// GramDiagonal writes the diagonal of Gram into dst (length M), up to rounding.
func (in *Inputs) GramDiagonal(dst []float64) error {
	err := in.Diagonal(dst)
	if err == nil {
		floats.AddConst(in.spec.Jitter, dst)
	}
	return err
}

// covariances turns the products of point i of others with the training inputs from, from+1, ... into
// covariances, in place. It returns the index of the first result that is not finite, or -1.
func (in *Inputs) covariances(k []float64, others *points, i, from int) int {
	in.train.squaredDistances(k, others, i, from)
	return in.spec.covariances(k)
}

func (in *Inputs) notFinite(i, j int) error {
	return fmt.Errorf("kernel %v of rows %d and %d is not finite", in.spec.Kind, i+1, j+1)
}

// Complete replaces a precomputed matrix k by A k + B with the jitter on its diagonal. A resulting entry that
// is not finite is an error that names it; k is then undefined.
func (s Spec) Complete(k *linalg.Sym) error {
	if s.Kind != Precomputed {
		return fmt.Errorf("kernel %v is not precomputed", s.Kind)
	}
	if err := s.Validate(0); err != nil {
		return err
	}
	s = s.WithDefaults(0)
	err := eachRow(k.N(), func(i int) int { return s.covariances(k.Row(i)) }, func(i, j int) error {
		return fmt.Errorf("kernel entry (%d, %d) is not finite", i+1, i+j+1)
	})
	if err == nil {
		k.AddDiag(s.Jitter)
	}
	return err
}

// eachRow calls do(i) once for each row i < n, in parallel. do returns the column of an element that is not
// finite, or -1; eachRow returns the failure of the lowest row that has one.
func eachRow(n int, do func(i int) int, failure func(row, column int) error) error {
	bad := make([]int, n)
	linalg.Parallel(n, func(i int) { bad[i] = do(i) })
	if row := slices.IndexFunc(bad, func(column int) bool { return column >= 0 }); row >= 0 {
		return failure(row, bad[row])
	}
	return nil
}

// MarshalBinary encodes the covariance function and the inputs, for Unmarshal in another process.
func (in *Inputs) MarshalBinary() ([]byte, error) {
	var text bytes.Buffer
	to := gob.NewEncoder(&text)
	err := cmp.Or(to.Encode(in.spec), to.Encode(in.train.raw))
	return text.Bytes(), err
}

// Unmarshal prepares the inputs that MarshalBinary has encoded.
func Unmarshal(text []byte) (linalg.Blocks, error) {
	var spec Spec
	var x linalg.Design
	from := gob.NewDecoder(bytes.NewReader(text))
	if err := cmp.Or(from.Decode(&spec), from.Decode(&x)); err != nil {
		return nil, err
	}
	return spec.Prepare(x)
}
