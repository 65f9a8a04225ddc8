//go:build !mpi || !openblas

package main

import "bootbench/linalg/scalapack"

// joinServants returns none: this program was built without MPI.
func joinServants() (*scalapack.Servants, error) { return nil, nil }

func underMPI() bool { return false }
