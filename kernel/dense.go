package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
)

// scaling takes inputs to those whose squared distances are r^2. It is empty for kinds without a distance.
type scaling struct {
	centre  []float64 // of each feature of dense inputs; sparse ones are not centred, which would fill them
	inverse []float64 // 1/L of each feature, or one for all features of sparse inputs
}

// densePoints are inputs in two forms. The products of the scaled rows give all
// squared distances fast; the raw rows give single ones without cancellation.
type densePoints struct {
	scaling
	raw    blas64.General
	scaled blas64.General // (raw - centre) / L for distances, else the raw rows
	norm   []float64      // |scaled row|^2 for distances, else nil
}

// dense prepares x, of which it keeps a view.
func (s scaling) dense(x blas64.General) *densePoints {
	p := &densePoints{scaling: s, raw: x, scaled: x}
	if s.inverse == nil {
		return p
	}
	p.scaled = blas64.General{Rows: x.Rows, Cols: x.Cols, Stride: max(1, x.Cols),
		Data: make([]float64, x.Rows*x.Cols)}
	p.norm = make([]float64, x.Rows)
	for i := range p.norm {
		scaled := row(p.scaled, i)
		for j, v := range row(x, i) {
			scaled[j] = (v - s.centre[j]) * s.inverse[j]
		}
		p.norm[i] = squaredNorm(scaled)
	}
	return p
}

func (p *densePoints) count() int { return p.raw.Rows }

func (p *densePoints) norms() []float64 { return p.norm }

// gram is one symmetric rank-d update.
func (p *densePoints) gram(k blas64.Symmetric) { blas64.Syrk(blas.NoTrans, 1, p.scaled, 0, k) }

func (p *densePoints) products(dst blas64.General, others points, first int) {
	some := others.(*densePoints).scaled
	linalg.SideBySide(dst.Cols, func(from, to int) {
		part := p.scaled
		part.Rows, part.Data = to-from, part.Data[(first+from)*part.Stride:]
		columns := dst
		columns.Cols, columns.Data = to-from, dst.Data[from:]
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, some, part, 0, columns)
	})
}

func (p *densePoints) distance(others points, i, j int) float64 {
	return squaredDistance(row(others.(*densePoints).raw, i), row(p.raw, j), p.inverse)
}

func (p *densePoints) square(i int) float64 { return squaredNorm(row(p.raw, i)) }

func (p *densePoints) subset(list []int) points {
	x := blas64.General{Rows: len(list), Cols: p.raw.Cols, Stride: max(1, p.raw.Cols),
		Data: make([]float64, len(list)*p.raw.Cols)}
	for r, i := range list {
		copy(row(x, r), row(p.raw, i))
	}
	return p.dense(x)
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

// squaredDistance is sum_j ((x_j - z_j) w_j)^2, or NaN where that overflows.
func squaredDistance(x, z, w []float64) float64 {
	sum := 0.0
	for j, v := range x {
		t := (v - z[j]) * w[j]
		sum += t * t
	}
	if sum > math.MaxFloat64 {
		return math.NaN()
	}
	return sum
}
