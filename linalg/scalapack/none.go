//go:build !mpi || !openblas

package scalapack

// Join returns no grid: this program was built without MPI.
func Join() (Grid, error) { return nil, nil }

// UnderMPI is false: this program was built without MPI.
func UnderMPI() bool { return false }
