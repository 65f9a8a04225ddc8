// Package linear is the linear algebra of a sweep's derivative: its matrices, products with these, and GMRES.
package linear

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// GMRES solves a linear system A x = r (Saad and Schultz 1986): among all combinations of r, A r, A^2 r ...
// it takes the one of the least residual. There is no restart.
type GMRES struct {
	basis   [][]float64  // orthonormal, by Arnoldi's process
	image   []float64    // A times the newest
	columns [][]float64  // of the triangle R that Givens rotations make of the Hessenberg matrix
	givens  [][2]float64 // cosine and sine
	right   []float64    // right-hand side in the rotated basis; the last entry is the residual's norm
}

// NewGMRES is for systems of the given size, with at most depth products with A.
func NewGMRES(size, depth int) *GMRES {
	k := &GMRES{basis: make([][]float64, depth+1), image: make([]float64, size),
		columns: make([][]float64, depth), givens: make([][2]float64, depth), right: make([]float64, depth+1)}
	for i := range k.basis {
		k.basis[i] = make([]float64, size)
	}
	for i := range k.columns {
		k.columns[i] = make([]float64, i+2)
	}
	return k
}

// Solve computes x with |r - A x| <= tolerance |r|, or the best within the depth, and returns the number of
// products with A.
func (k *GMRES) Solve(x, r []float64, mul func(dst, x []float64), tolerance float64) int {
	size := Norm(r)
	clear(x)
	if !(size > 0) {
		return 0
	}
	floats.ScaleTo(k.basis[0], 1/size, r)
	k.right[0] = size
	steps := 0
	for steps < len(k.columns) && math.Abs(k.right[steps]) > tolerance*size {
		mul(k.image, k.basis[steps])
		if !k.extend(steps) {
			break
		}
		steps++
	}
	k.combine(x, steps)
	return steps
}

// extend adds to the basis the image of basis vector number step, orthogonalised (modified Gram-Schmidt,
// twice). It returns false if the image is NaN or linearly dependent.
func (k *GMRES) extend(step int) bool {
	column := k.columns[step]
	clear(column)
	for range 2 { // once more against rounding
		for j := range step + 1 {
			part := floats.Dot(k.image, k.basis[j])
			column[j] += part
			floats.AddScaled(k.image, -part, k.basis[j])
		}
	}
	rest := Norm(k.image)
	column[step+1] = rest
	floats.ScaleTo(k.basis[step+1], 1/math.Max(rest, math.SmallestNonzeroFloat64), k.image)
	for j, turn := range k.givens[:step] {
		a, b := column[j], column[j+1]
		column[j], column[j+1] = turn[0]*a+turn[1]*b, turn[0]*b-turn[1]*a
	}
	length := math.Hypot(column[step], rest)
	if !(length > 0) || math.IsInf(length, 1) {
		return false
	}
	turn := [2]float64{column[step] / length, rest / length}
	k.givens[step] = turn
	column[step] = length
	k.right[step], k.right[step+1] = turn[0]*k.right[step], -turn[1]*k.right[step]
	return true
}

// combine solves the triangular system and combines the basis.
func (k *GMRES) combine(x []float64, steps int) {
	for i := steps - 1; i >= 0; i-- {
		part := k.right[i]
		for j := i + 1; j < steps; j++ {
			part -= k.columns[j][i] * k.right[j]
		}
		k.right[i] = part / k.columns[i][i]
		floats.AddScaled(x, k.right[i], k.basis[i])
	}
}

// Norm is the Euclidean norm.
func Norm(x []float64) float64 { return math.Sqrt(floats.Dot(x, x)) }
