//go:build !mpi || !openblas

package main

import "bootbench/linalg/dist"

// joinServants has none to join: this program was built without MPI.
func joinServants() (*dist.Servants, error) { return nil, nil }

func underMPI() bool { return false }
