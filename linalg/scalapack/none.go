//go:build !mpi || !openblas

package scalapack

// Join returns no grid, and UnderMPI is false: this program was built without MPI.
func Join() (Grid, error) { return nil, nil }
func UnderMPI() bool      { return false }
