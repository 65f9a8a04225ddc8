package dist

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"

	"bootbench/linalg"
)

// Servants are the ranks of a grid as rank 0 sees them. Rank 0 runs the program; the others wait in Serve
// and do their part of what the one matrix in use and its engine are asked for. A nil *Servants stands for
// a program that was built or started without them.
type Servants struct {
	grid    Grid
	one     sync.Mutex // one order at a time
	current *BlockCyclic
}

// NewServants are those of a grid, for rank 0.
func NewServants(g Grid) *Servants { return &Servants{grid: g} }

// operation is what servants can be asked for.
type operation int

const (
	opEnd       operation = iota
	opMatrix              // Text describes its source; Ints: block, besides, limit
	opCheck               // BlockCyclic.fill
	opEngine              // a new engine on the matrix
	opFactorize           // Numbers: d
	opForm                // all of G
	opProduct             // Numbers: vectors
	opSquares             // Numbers: a vector
)

// order is what rank 0 sends before all ranks do it.
type order struct {
	Op      operation
	Ints    []int
	Text    []byte
	Numbers []float64
}

// give sends an order to the servants.
func (s *Servants) give(o order) {
	if size(s.grid) == 1 {
		return
	}
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(o); err != nil {
		panic(fmt.Errorf("an order to the servants: %w", err))
	}
	s.grid.Broadcast(text.Bytes(), 0)
}

// End lets the servants go. It is called once, when the program ends.
func (s *Servants) End() {
	s.give(order{Op: opEnd})
	s.grid.End()
}

// Serve does what rank 0 orders, on every other rank, until it ends. source makes the matrix that a text
// describes: see Servants.Matrix.
func Serve(g Grid, source func(text []byte) (linalg.Blocks, error)) error {
	var k *BlockCyclic
	var e *Engine
	for {
		var o order
		if err := gob.NewDecoder(bytes.NewReader(g.Broadcast(nil, 0))).Decode(&o); err != nil {
			return fmt.Errorf("an order from rank 0: %w", err)
		}
		// What fails here fails on rank 0, too, which deals with it.
		switch o.Op {
		case opEnd:
			g.End()
			return nil
		case opMatrix:
			k, e = nil, nil
			made, err := source(o.Text)
			k, _ = newBlockCyclic(g, made, err, o.Ints[0], int64(o.Ints[1]), int64(o.Ints[2]))
		case opCheck:
			k.fill(make([]float64, k.n))
		case opEngine:
			e = newEngine(k)
		case opFactorize:
			e.factorize(o.Numbers)
		case opForm:
			e.formG()
		case opProduct:
			e.product(make([]float64, len(o.Numbers)), o.Numbers)
		case opSquares:
			e.squares(make([]float64, len(o.Numbers)), o.Numbers)
		}
	}
}

// ErrServants says that there are none.
var ErrServants = errors.New(
	"the scalapack engine needs a program built with MPI: go build -tags openblas,mpi (doc/cluster.md), run " +
		"by mpirun")

// Matrix spreads the matrix of source over the ranks in blocks of the given edge (0: DefaultBlock). text is
// what the servants make the same source from. It takes the place of the matrix before it, whose engine is no
// longer valid. besides is what a rank needs apart from what Bytes counts, and limit the memory that the
// ranks of one machine may take together, see linalg.CheckMemory. A matrix that does not fit, or whose parts
// are too large for ScaLAPACK, is an error that wraps linalg.ErrMemory, before any of it is allocated.
func (s *Servants) Matrix(source linalg.Blocks, text []byte, block int, besides, limit int64) (*BlockCyclic,
	error) {
	if s == nil {
		return nil, ErrServants
	}
	s.one.Lock()
	defer s.one.Unlock()
	s.give(order{Op: opMatrix, Ints: []int{block, int(besides), int(limit)}, Text: text})
	k, err := newBlockCyclic(s.grid, source, nil, block, besides, limit)
	if err != nil {
		return nil, err
	}
	k.servants, s.current = s, k
	return k, nil
}

// Bytes is the memory that a rank takes for a matrix of order n in blocks of the given edge (0:
// DefaultBlock): its part and the engine.
func (s *Servants) Bytes(n, block int) int64 { return blockCyclicBytes(s.grid, n, block) }

// together runs f, rank 0's part of an order, after the servants have got it.
func (k *BlockCyclic) together(o order, f func()) {
	k.servants.one.Lock()
	defer k.servants.one.Unlock()
	if k.servants.current != k {
		panic("linalg/dist: the matrix has been replaced by another")
	}
	k.servants.give(o)
	f()
}
