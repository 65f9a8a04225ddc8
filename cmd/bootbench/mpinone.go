//go:build !mpi || !openblas

package main

// startRanks is nil: this program was built without MPI.
func startRanks() (ranks, error) { return nil, nil }
