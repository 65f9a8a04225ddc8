//go:build !openblas

package blas

// backends lists what this binary can bind, the default first.
func backends() []Backend { return []Backend{pureGo{}} }
