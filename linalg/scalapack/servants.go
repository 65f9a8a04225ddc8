package scalapack

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"sync"

	"bootbench/linalg"
)

// Servants are the other ranks of a grid. Rank 0 runs the program; the servants wait in Serve for orders on
// the one matrix in use and its engine. A nil *Servants means a program built or started without MPI.
type Servants struct {
	grid    Grid
	one     sync.Mutex // one order at a time
	current *BlockCyclic
}

// NewServants returns the servants of a grid, on rank 0.
func NewServants(g Grid) *Servants { return &Servants{grid: g} }

// operation is the kind of an order.
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

// order is an operation that rank 0 sends before all ranks perform it.
type order struct {
	Op      operation
	Ints    []int
	Text    []byte
	Numbers []float64
}

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

// End releases the servants. It is called once, when the program ends.
func (s *Servants) End() {
	s.give(order{Op: opEnd})
	s.grid.End()
}

// Serve carries out rank 0's orders, on every other rank, until End. source makes the matrix that a text
// describes: see Servants.Matrix.
func Serve(g Grid, source func(text []byte) (linalg.Blocks, error)) {
	var k *BlockCyclic
	for {
		var o order
		if err := gob.NewDecoder(bytes.NewReader(g.Broadcast(nil, 0))).Decode(&o); err != nil {
			panic(fmt.Errorf("an order from rank 0: %w", err))
		}
		switch o.Op {
		case opEnd:
			g.End()
			return
		case opMatrix:
			k = nil
			made, err := source(o.Text)
			k, _ = newBlockCyclic(g, made, err, o.Ints[0], int64(o.Ints[1]), int64(o.Ints[2]))
		default:
			k.perform(o, make([]float64, len(o.Numbers))) // failures occur on rank 0 too, which handles them
		}
	}
}

// perform does this rank's part of an order on its matrix or the newest engine. Rank 0 gets a product in dst.
func (k *BlockCyclic) perform(o order, dst []float64) error {
	switch o.Op {
	case opCheck:
		return k.fill(make([]float64, k.n))
	case opEngine:
		k.engine = newEngine(k)
	case opFactorize:
		return k.engine.factorize(o.Numbers)
	case opForm:
		k.engine.formG()
	case opProduct:
		k.engine.product(dst, o.Numbers)
	case opSquares:
		k.engine.squares(dst, o.Numbers)
	}
	return nil
}

// ErrServants: there are no servants.
var ErrServants = errors.New("the scalapack engine needs a program built with MPI: " +
	"go build -tags openblas,mpi (doc/cluster.md), run by mpirun")

// Matrix distributes the matrix of source over the ranks in blocks of the given edge (0: DefaultBlock). The
// servants make the same source from text. It replaces the previous matrix, whose engine becomes invalid.
// besides is a rank's memory in addition to Bytes, and limit the memory of all ranks of one machine, see
// linalg.CheckMemory. If the matrix does not fit, or its parts are too large for ScaLAPACK, the error wraps
// linalg.ErrMemory and nothing is allocated.
func (s *Servants) Matrix(source linalg.Blocks, text []byte, block int, besides, limit int64) (
	*BlockCyclic, error) {
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

// Bytes is the memory of a rank for a matrix of order n in blocks of the given edge (0: DefaultBlock): its
// part and the engine.
func (s *Servants) Bytes(n, block int) int64 { return blockCyclicBytes(s.grid, n, block) }

// together sends an order to the servants and performs rank 0's part.
func (k *BlockCyclic) together(o order, dst []float64) error {
	k.servants.one.Lock()
	defer k.servants.one.Unlock()
	if k.servants.current != k {
		panic("linalg/scalapack: the matrix has been replaced by another")
	}
	k.servants.give(o)
	return k.perform(o, dst)
}
