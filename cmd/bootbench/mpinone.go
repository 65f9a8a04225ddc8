//go:build !mpi || !openblas

package main

import "bootbench/linalg/dist"

// joinServants returns none: this program was built without MPI.
func joinServants() (*dist.Servants, error) { return nil, nil }

func underMPI() bool { return false }
