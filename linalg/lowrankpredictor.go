package linalg

import (
	"math"

	gblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// InputDim is the length of the row of numbers that describes a new input to a Predictor: its kernel with
// every site, or its coordinates in the basis of a factor (see LowRankPlusDiag.Coordinates), at least 1.
func InputDim(k Kernel) int {
	if f := FactorOf(k); f != nil {
		return max(1, f.rank)
	}
	return k.N()
}

// Predictor reads off at coordinates phi, where the kernel vector is R phi,
//
//	mean = phi' R' (field - d o G field),   t = (R phi)'(I + diag(d)K~)^-1 = (1/e) o R M^-1 phi,
//	variance = phi' S phi,    S = M^-1 R' diag(scatter/e^2) R M^-1,
//
// in O(rank^2). The new input has no share in any site's residual.
func (e *lowRankEngine) Predictor(field, scatter []float64) Predictor {
	p := &projection{form: newGeneral(e.k.rank, e.k.rank), weights: e.coefficients(field)}
	e.quadraticForm(scatter)
	e.bothSides(e.toPivots)
	copy(p.form.Data, e.ws.form.Data)
	return p
}

// coefficients are v with phi'v = (R phi)'(I + diag(d)K~)^-1 field.
func (e *lowRankEngine) coefficients(field []float64) []float64 {
	v := make([]float64, e.k.rank)
	e.k.MulTrans(v, dualWeights(e, field))
	return v
}

// projection predicts from coordinates.
type projection struct {
	weights []float64
	form    blas64.General
}

// Predict writes mean and variance of P new inputs from rows, P x rank.
func (p *projection) Predict(rows, mean, variance []float64) {
	r := len(p.weights)
	if r == 0 {
		clear(mean)
		clear(variance)
		return
	}
	at := blas64.General{Rows: len(mean), Cols: r, Stride: r, Data: rows}
	formed := newGeneral(len(mean), r)
	if len(mean) > 0 {
		blas64.Gemm(gblas.NoTrans, gblas.NoTrans, 1, at, p.form, 0, formed)
	}
	for i := range mean {
		mean[i], variance[i] = 0, 0
		for q, v := range rows[i*r : (i+1)*r] {
			mean[i] += v * p.weights[q]
			variance[i] += v * formed.Data[i*formed.Stride+q]
		}
		variance[i] = math.Max(0, variance[i])
	}
}
