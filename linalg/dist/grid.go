package dist

import "fmt"

// Grid is a group of processes, the ranks, that hold one matrix together. They run
// the same program and call the same methods in the same order. Ranks form rows
// and columns, numbered by rows. blas/scalapack has a Grid over MPI.
//
// A matrix of order n is cut into square blocks, and block (I, J) belongs to the
// rank in row I mod rows and column J mod cols. A rank keeps its blocks as one
// matrix, column-major with columns stride apart, its rows and columns in the order
// that they have in the whole.
type Grid interface {
	// Rank is the number of this process, from 0 to Size-1.
	Rank() int
	Size() int
	// PerNode is the largest number of ranks that share a machine.
	PerNode() int
	// Shape is the number of rows and columns of ranks, Position this rank's.
	Shape() (rows, cols int)
	Position() (row, col int)

	// Barrier waits for the other ranks and returns the largest value that one
	// brings. If another has come to a different place in the program, it returns
	// an error to all.
	Barrier(place string, value int64) (most int64, err error)
	// Reduce adds x up over the ranks. Rank 0 gets the sum; what the others keep is
	// of no use.
	Reduce(x []float64)
	// Broadcast copies rank from's x to all ranks, and BroadcastBytes returns its
	// text on all.
	Broadcast(x []float64, from int)
	BroadcastBytes(text []byte, from int) []byte

	// Potrf, Trtri and Lauum are those of blas.Backend for the lower triangle of a
	// matrix of order n >= 1, a this rank's part of it; numbers of failed minors are
	// the same on all ranks. The rest of the matrix is neither read nor written.
	Potrf(n, block int, a []float64, stride int) (minor int)
	Trtri(n, block int, a []float64, stride int) (zero int)
	Lauum(n, block int, a []float64, stride int)
}

// DesyncError is what the methods of a BlockCyclic and an Engine panic with
// when ranks have come to different places in the program: one has failed alone, or
// the program is at fault. Nothing can be done then but end all ranks.
type DesyncError struct{ Err error }

func (e *DesyncError) Error() string { return e.Err.Error() }

// meet is Grid.Barrier where no rank can miss the others but by a fault.
func meet(g Grid, place string, value int64) int64 {
	most, err := g.Barrier(place, value)
	if err != nil {
		panic(&DesyncError{err})
	}
	return most
}

// PeerError is an error that another rank has met.
type PeerError struct {
	Rank int
	Text string
	Kind error // what errors.Is finds it to be, or nil
}

func (e *PeerError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// Unwrap is the kind of the error.
func (e *PeerError) Unwrap() error { return e.Kind }

// AllErr is nil on all ranks if err is, and otherwise an error on all: each rank's
// own, or that of the lowest rank that has one, which then is of the given kind.
func AllErr(g Grid, err, kind error) error {
	own := int64(0)
	if err != nil {
		own = int64(g.Size() - g.Rank())
	}
	lowest := meet(g, "agree", own)
	if lowest == 0 {
		return nil
	}
	from := g.Size() - int(lowest)
	var text []byte
	if g.Rank() == from {
		text = []byte(err.Error())
	}
	text = g.BroadcastBytes(text, from)
	if err == nil {
		err = &PeerError{Rank: from, Text: string(text), Kind: kind}
	}
	return err
}
