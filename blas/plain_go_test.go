//go:build !openblas

package blas

func plainOf(Backend) plain { return tiles{} }
