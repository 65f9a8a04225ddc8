package solver

import "math"

// krylov solves a linear system by GMRES: of all combinations of r, A r, A^2 r ...
// it takes the one that leaves the least of the right side.
type krylov struct {
	basis    [][]float64 // orthonormal
	image    []float64   // of the newest
	columns  [][]float64 // of the triangle that rotations make of A in the basis
	rotation [][2]float64
	left     []float64
}

func newKrylov(size, depth int) *krylov {
	k := &krylov{image: make([]float64, size), columns: make([][]float64, depth), rotation: make([][2]float64, depth), left: make([]float64, depth+1)}
	for i := range depth + 1 {
		k.basis = append(k.basis, make([]float64, size))
		if i < depth {
			k.columns[i] = make([]float64, i+2)
		}
	}
	return k
}

// solve writes x with |r - A x| <= tolerance |r|, or the best there is within the
// depth, and returns the number of products with A that it took.
func (k *krylov) solve(x, r []float64, apply func(dst, x []float64), tolerance float64) int {
	size := math.Sqrt(dot(r, r))
	for i := range x {
		x[i] = 0
	}
	if !(size > 0) {
		return 0
	}
	for i, v := range r {
		k.basis[0][i] = v / size
	}
	k.left[0] = size
	steps := 0
	for steps < len(k.columns) && math.Abs(k.left[steps]) > tolerance*size {
		apply(k.image, k.basis[steps])
		if !k.extend(steps) {
			break
		}
		steps++
	}
	k.combine(x, steps)
	return steps
}

// extend takes the image of basis vector number step in. It reports false where
// that is not a number, or adds nothing.
func (k *krylov) extend(step int) bool {
	column := k.columns[step]
	for i := range column {
		column[i] = 0
	}
	for range 2 { // once more against rounding
		for j := range step + 1 {
			part := dot(k.image, k.basis[j])
			column[j] += part
			for i, v := range k.basis[j] {
				k.image[i] -= part * v
			}
		}
	}
	rest := math.Sqrt(dot(k.image, k.image))
	column[step+1] = rest
	for i, v := range k.image {
		k.basis[step+1][i] = v / math.Max(rest, math.SmallestNonzeroFloat64)
	}
	for j, turn := range k.rotation[:step] {
		a, b := column[j], column[j+1]
		column[j], column[j+1] = turn[0]*a+turn[1]*b, turn[0]*b-turn[1]*a
	}
	length := math.Hypot(column[step], rest)
	if !(length > 0) || math.IsInf(length, 1) {
		return false
	}
	turn := [2]float64{column[step] / length, rest / length}
	k.rotation[step] = turn
	column[step] = length
	k.left[step], k.left[step+1] = turn[0]*k.left[step], -turn[1]*k.left[step]
	return true
}

// combine solves the triangle and adds up the basis.
func (k *krylov) combine(x []float64, steps int) {
	for i := steps - 1; i >= 0; i-- {
		part := k.left[i]
		for j := i + 1; j < steps; j++ {
			part -= k.columns[j][i] * k.left[j]
		}
		part /= k.columns[i][i]
		k.left[i] = part
		for l, v := range k.basis[i] {
			x[l] += part * v
		}
	}
}
