//go:build !mpi || !openblas

package scalapack

// Available says whether this binary was built with MPI.
const Available = false
