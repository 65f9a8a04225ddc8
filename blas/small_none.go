//go:build !openblas || !amd64

package blas

import "gonum.org/v1/gonum/blas/blas64"

func hasSmall() bool { return false }

func smallWork(int) int { panic("blas: this binary has no kernels for small orders, see Usable") }

func (*Small) invert(blas64.Symmetric, []float64) int                        { return smallWork(0) }
func (*Small) OffDiagonal([]float64, blas64.Symmetric)                       { smallWork(0) }
func (*Small) Couple(blas64.Symmetric, []float64, []float64, blas64.General) { smallWork(0) }
func (*Small) MulSquared(blas64.Symmetric, []float64, []float64)             { smallWork(0) }
func (*Small) MulCoupled(_ blas64.Symmetric, _ blas64.General, d, u, f []float64, y *[4][]float64) {
	smallWork(0)
}
