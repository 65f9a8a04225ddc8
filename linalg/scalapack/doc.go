// Package scalapack binds the parts of MPI, BLACS and ScaLAPACK for the distributed engine: a group of
// processes (ranks), sums and broadcasts between them, and the Cholesky factor, its inverse and their product
// of a distributed matrix.
//
// It exists in binaries built with the tags openblas and mpi; without them the package has only Available,
// and no MPI needs to be installed. The libraries are found by pkg-config, under the names ompi-c,
// scalapack-openmpi and openblas (Debian: libopenmpi-dev, libscalapack-openmpi-dev, libopenblas-dev).
//
// The matrix of order n is divided into square blocks, and block (I, J) belongs to the rank in row I mod p
// and column J mod q of a p x q grid of ranks, numbered by rows. A rank keeps its blocks as one matrix,
// column-major, rows and columns ascending: the block-cyclic layout of ScaLAPACK.
package scalapack
