package kernel

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/blas"
	"bootbench/linalg"
)

// points are inputs in two forms. Products of the scaled ones give all squared distances fast; the raw ones
// give single distances without cancellation.
type points struct {
	scaling
	raw    linalg.Design
	scaled linalg.Design // (raw - centre) / L for distances, else raw
	norm   []float64     // |scaled|^2 for distances, else nil
	// columns is the transpose of scaled sparse training inputs, for products.
	columns *linalg.CSR
}

// scaling maps inputs to those with squared distances r^2. It is empty for kinds without a distance.
type scaling struct {
	centre  []float64 // of each feature of dense inputs; centring sparse ones would fill them
	inverse []float64 // 1/L of each feature, or one for all
}

// of is 1/L of a feature.
func (s scaling) of(feature int) float64 {
	if len(s.inverse) == 1 {
		return s.inverse[0]
	}
	return s.inverse[feature]
}

// apply scales inputs.
func (s scaling) apply(x linalg.Design) linalg.Design {
	if x.Sparse != nil {
		z := *x.Sparse
		z.Value = make([]float64, len(x.Sparse.Value))
		for k, v := range x.Sparse.Value {
			z.Value[k] = v * s.of(int(z.Index[k]))
		}
		return linalg.Design{Sparse: &z}
	}
	z := linalg.NewMatrix(x.X.Rows, x.X.Cols)
	for i := range z.Rows {
		to := z.Row(i)
		for j, v := range x.X.Row(i) {
			to[j] = (v - s.centre[j]) * s.of(j)
		}
	}
	return linalg.Design{X: z}
}

// points prepares x and keeps a view of it; train: others will be multiplied by it.
func (s scaling) points(x linalg.Design, train bool) *points {
	p := &points{scaling: s, raw: x, scaled: x}
	if s.inverse != nil {
		p.scaled, p.norm = s.apply(x), make([]float64, x.N())
		for i := range p.norm {
			p.norm[i] = squaredNorm(p.scaled.Stored(i))
		}
	}
	if train && x.Sparse != nil {
		p.columns = transpose(p.scaled.Sparse)
	}
	return p
}

func (p *points) subset(list []int) *points {
	return p.scaling.points(p.raw.Gather(list), true)
}

// gram writes the inner products of each point with itself and later ones into the upper triangle k.
func (p *points) gram(k blas64.Symmetric) {
	if p.raw.Sparse == nil {
		blas.Syrk(gblas.NoTrans, 1, blas64.General(p.scaled.X), 0, k)
		return
	}
	linalg.Parallel(k.N, func(i int) { p.multiply(k.Data[i*k.Stride+i:i*k.Stride+k.N], p, i, i) })
}

// products writes the inner products of other points, scaled as these are, with all of these into the rows of
// dst.
func (p *points) products(dst blas64.General, others *points) {
	if p.raw.Sparse != nil {
		linalg.Parallel(dst.Rows, func(r int) { p.multiply(row(dst, r), others, r, 0) })
		return
	}
	linalg.SideBySide(dst.Cols, func(from, to int) {
		part, columns := blas64.General(p.scaled.X), dst
		part.Rows, part.Data = to-from, part.Data[from*part.Stride:]
		columns.Cols, columns.Data = to-from, dst.Data[from:]
		blas64.Gemm(gblas.NoTrans, gblas.Trans, 1, blas64.General(others.scaled.X), part, 0, columns)
	})
}

// cancelled is the fraction of |x|^2 + |x'|^2 below which a squared distance is computed from the raw rows.
// Above it the relative rounding error of the fast form is a few 1e-14.
const cancelled = 1.0 / 64

// squaredDistances replaces the products of point i of others with points first, first+1, ... by squared
// distances, |x - x'|^2 = |x|^2 + |x'|^2 - 2 x . x'. If that cancels or overflows, the difference of the raw
// rows is summed instead; a further overflow gives NaN. Without a distance it does nothing.
func (p *points) squaredDistances(products []float64, others *points, i, first int) {
	if p.norm == nil {
		return
	}
	norm, norms := others.norm[i], p.norm[first:][:len(products)]
	for j, product := range products {
		sum := norm + norms[j]
		r2 := sum - 2*product
		if !(r2 > cancelled*sum && r2 <= math.MaxFloat64) {
			r2 = p.squaredDistance(others, i, first+j)
		}
		products[j] = r2
	}
}

// squaredDistance is sum_c ((x_c - z_c) / L_c)^2 between point i of others and j of these, without
// cancellation, or NaN if it overflows.
func (p *points) squaredDistance(others *points, i, j int) (sum float64) {
	if p.raw.Sparse != nil {
		sum = p.sparseDistance(others, i, j)
	} else {
		z := p.raw.X.Row(j)
		for c, v := range others.raw.X.Row(i) {
			t := (v - z[c]) * p.of(c)
			sum += t * t
		}
	}
	if sum > math.MaxFloat64 {
		return math.NaN()
	}
	return sum
}

// centres returns the mean of each column of x, relative to the first row so that a constant column is
// centred to exactly zero.
func centres(x linalg.Matrix) []float64 {
	first, c := x.Row(0), make([]float64, x.Cols)
	for i := 1; i < x.Rows; i++ {
		for j, v := range x.Row(i) {
			c[j] += v - first[j]
		}
	}
	for j := range c {
		c[j] = first[j] + c[j]/float64(x.Rows)
	}
	return c
}

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
