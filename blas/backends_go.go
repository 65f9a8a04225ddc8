//go:build !openblas

package blas

// backends lists the backends of this binary, the default first.
func backends() []Backend { return []Backend{pureGo{}} }
