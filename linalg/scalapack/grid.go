// Package scalapack has an engine whose matrix is distributed over processes: MPI connects them, and
// ScaLAPACK computes the Cholesky factor, its inverse and their product. Programs with MPI are built with the
// tags openblas and mpi; others have no processes to Join. pkg-config finds the libraries as ompi-c,
// scalapack-openmpi and openblas (Debian: libopenmpi-dev, libscalapack-openmpi-dev, libopenblas-dev).
package scalapack

import "errors"

// Grid is a group of processes, the ranks, that hold one matrix together: rank 0, which runs the program, and
// its servants. Ranks form rows and columns, numbered by rows. All call the same methods in one order.
//
// A matrix of order n is divided into square blocks, and block (I, J) belongs to the rank in row I mod rows
// and column J mod cols. A rank keeps its blocks as one column-major matrix with the given stride, its rows
// and columns in the order of the matrix: the block-cyclic layout of ScaLAPACK.
type Grid interface {
	// Rank is the number of this process, from 0 on, and Shape the number of rows and columns of ranks.
	Rank() int
	Shape() (rows, cols int)
	// PerNode is the largest number of ranks that share a machine.
	PerNode() int

	// Most is the maximum of value over the ranks, on all ranks.
	Most(value int64) int64
	// Reduce sums x over the ranks. Rank 0 gets the sum; x is undefined on the others.
	Reduce(x []float64)
	// Broadcast returns rank from's text on all ranks.
	Broadcast(text []byte, from int) []byte

	// Potrf, Trtri and Lauum do what blas.Backend's do, for the lower triangle of a matrix of order n >= 1. a
	// is this rank's part of it. All ranks get the same number of a failed minor. The rest of the matrix is
	// neither read nor written.
	Potrf(n, block int, a []float64, stride int) (minor int)
	Trtri(n, block int, a []float64, stride int) (zero int)
	Lauum(n, block int, a []float64, stride int)

	// End leaves the grid, when all ranks do.
	End()
}

func size(g Grid) int {
	rows, cols := g.Shape()
	return rows * cols
}

// agree is nil on all ranks if err is, and otherwise an error on all: the rank's, or the text of the lowest
// rank with one, of the given kind.
func agree(g Grid, err, kind error) error {
	own, text := int64(0), []byte(nil)
	if err != nil {
		own, text = int64(size(g)-g.Rank()), []byte(err.Error())
	}
	lowest := g.Most(own)
	if lowest == 0 {
		return nil
	}
	text = g.Broadcast(text, size(g)-int(lowest))
	if err == nil {
		err = &servantError{string(text), kind}
	}
	return err
}

// servantError is an error on another rank.
type servantError struct {
	text string
	kind error // for errors.Is, or nil
}

func (e *servantError) Error() string        { return e.text }
func (e *servantError) Is(target error) bool { return e.kind != nil && errors.Is(e.kind, target) }
