// Package dataset holds the data: a set of examples (inputs and targets), readers of tables, sparse lines and
// NumPy arrays, a few embedded sets, synthetic generators of any size, and what is done to inputs before a
// kernel sees them (standardising, finding repeated inputs).
//
// Data flow from a source (load.go opens and decompresses it and detects its format) through rows of cells
// (text in a dialect, arrays, Parquet) into a table of typed columns with roles. An encoding, learnt from the
// training set, turns it into features and targets, also for new inputs. Sparse lines (libsvm.go) have no
// columns. Every error is an *Error with its place, except errors of the destination of Write. Memory grows
// with the contents of a file, not with the size in its header.
//
// The dialect of a text table is detected. The separator is the first of tab, semicolon, comma and blanks
// that splits all lines alike; the first line names the columns unless it holds only numbers, or texts that
// recur below. Texts become indicators, and missing cells are refused unless Options.Missing says otherwise.
// Set.Notes reports what was detected, left out or encoded.
//
// Inputs are a dense matrix, or a sparse one if a LIBSVM file or the text generator has many features, most
// of them zero. Sparse inputs are never standardised: subtracting the means would fill the matrix, and text
// is scaled by rows (to length 1), not by columns.
package dataset

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"bootbench/linalg"
)

// Set is a set of N examples with D features: the data of a model, or new inputs for it.
type Set struct {
	// Name is an embedded name, a file as given, or a synthetic specification.
	Name string
	// Source says where the data come from.
	Source string
	// Features are the D names of the columns of X, nil for sparse inputs.
	Features []string
	// X holds the inputs, N x D, all finite.
	X linalg.Matrix
	// Columns are what is predicted, none for new inputs without targets. Two or more are numbers.
	Columns []Column
	// Sparse holds the inputs instead of X, which is empty then, if most entries are zero; nil for dense
	// inputs. New inputs may have more or fewer columns than the training set: missing ones are zero.
	Sparse *linalg.CSR
	// RowNames are the names of the examples if the file has them, else nil.
	RowNames []string
	// Groups, Strata and Folds are the parts of the examples, numbered from 0 in order of appearance, or nil.
	Groups, Strata, Folds []int
	// Weights are importance weights above 0 of the examples in training and in errors, nil for 1.
	Weights []float64
	// Notes report what a reader detected, left out, ignored or encoded, a sentence each.
	Notes []string
	// Doubts report what a reader found on which a user may act.
	Doubts []Doubt

	counts    []float64 // numbers of equal rows, before repeat
	encoding  *Encoding // of the columns; nil: features are columns
	zeroBased bool      // features of its sparse lines count from 0
}

// Inputs are new inputs for a model, with targets or without. They need no names.
type Inputs = Set

// New makes a set of copies of N x D inputs and N targets. The features are called x1, x2, ..., the target y.
// Targets that are all -1 or +1 are classes; Classify makes classes of other values. At least two examples
// and one feature are needed, all finite.
func New(x mat.Matrix, y []float64) (*Set, error) {
	s, err := NewInputs(x)
	if err != nil {
		return nil, err
	}
	switch n := s.N(); {
	case n != len(y):
		return nil, errorIn(s.Name, "%d targets for %d examples", len(y), n)
	case n < 2:
		return nil, inFile(s.Name, errOneExample)
	}
	for i, v := range y {
		if err := checkFinite(v); err != nil {
			return nil, place{s.Name, "row", i + 1}.error("y", err)
		}
	}
	s.Source, s.Features = s.Name, numbered("x", s.D())
	s.Columns = []Column{Column{Name: "y", Y: slices.Clone(y)}.guessed()}
	return s, nil
}

// NewInputs copies new inputs from a matrix, one per row, with the training features in their order.
func NewInputs(x mat.Matrix) (*Inputs, error) {
	const name = "data in memory"
	if x == nil {
		return nil, errorIn(name, "there is no matrix")
	}
	rows, cols := x.Dims()
	if rows < 1 || cols < 1 {
		return nil, errorIn(name, "a matrix of %d x %d holds no inputs", rows, cols)
	}
	in := &Inputs{Name: name, X: linalg.NewMatrix(rows, cols)}
	for i := range rows {
		for j := range cols {
			v := x.At(i, j)
			if err := checkFinite(v); err != nil {
				return nil, place{name, "row", i + 1}.error(fmt.Sprintf("x%d", j+1), err)
			}
			in.X.Row(i)[j] = v
		}
	}
	return in, nil
}

// note appends to a copy of the notes, which sets may share.
func (s *Set) note(format string, args ...any) {
	s.Notes = append(slices.Clone(s.Notes), fmt.Sprintf(format, args...))
}

// Design is the inputs, a view; N is the number of examples, and D of features.
func (s *Set) Design() linalg.Design { return linalg.Design{X: s.X, Sparse: s.Sparse} }
func (s *Set) N() int                { return s.Design().N() }
func (s *Set) D() int                { return s.Design().D() }

// Varying is the number of features that are not the same in all examples, at least 1.
func (s *Set) Varying() (count int) {
	stored, last, varies := make([]int, s.D()), make([]float64, s.D()), make([]bool, s.D())
	for i := range s.N() {
		for j, v := range s.Design().Stored(i) {
			if s.Sparse != nil {
				j = int(s.Sparse.Index[s.Sparse.Start[i]+j])
			}
			varies[j] = varies[j] || stored[j] > 0 && v != last[j]
			stored[j], last[j] = stored[j]+1, v
		}
	}
	for j, n := range stored {
		if varies[j] || n < s.N() && last[j] != 0 { // other entries are zero
			count++
		}
	}
	return max(1, count)
}

// Subset copies the examples with the given row numbers (from 0), in that order and as often as given.
func (s *Set) Subset(rows []int) *Set { return s.with(s.Design().Gather(rows), rows) }

// with are the examples with the given row numbers and these features.
func (s *Set) with(x linalg.Design, rows []int) *Set {
	sub := *s
	sub.X, sub.Sparse = x.X, x.Sparse
	sub.RowNames, sub.Weights, sub.Columns = gather(s.RowNames, rows), gather(s.Weights, rows),
		slices.Clone(s.Columns)
	for k, c := range s.Columns {
		sub.Columns[k].Y = gather(c.Y, rows)
	}
	for _, part := range []*[]int{&sub.Groups, &sub.Strata, &sub.Folds} {
		*part = renumber(gather(*part, rows))
	}
	return &sub
}

// top is a view of the first n rows of the features.
func (s *Set) top(n int) linalg.Design {
	x := s.X
	x.Rows, x.Data = n, x.Data[:min(len(x.Data), n*x.Stride)]
	return linalg.Design{X: x}
}

// Split divides the examples by two lists of row numbers, which together are all. The dense
// features of the second take the place of this set's, which is lost.
func (s *Set) Split(rows, others []int) (some, rest *Set) {
	some = s.Subset(rows)
	if s.Sparse != nil {
		return some, s.Subset(others)
	}
	from, kept := slices.Concat(others, rows), make([]float64, s.D())
	for first := range from { // along the cycles of a permutation
		copy(kept, s.X.Row(first))
		at := first
		for from[at] >= 0 && from[at] != first {
			next := from[at]
			copy(s.X.Row(at), s.X.Row(next))
			at, from[at] = next, -1
		}
		copy(s.X.Row(at), kept)
		from[at] = -1
	}
	return some, s.with(s.top(len(others)), others)
}

// gather copies the elements of a list with the given numbers; nil stays nil.
func gather[T any](list []T, rows []int) []T {
	if list == nil {
		return nil
	}
	some := make([]T, len(rows))
	for k, i := range rows {
		some[k] = list[i]
	}
	return some
}

// repeat has counts[i] copies of example i.
func (s *Set) repeat(counts []float64) *Set {
	var rows []int
	for i, count := range counts {
		rows = append(rows, slices.Repeat([]int{i}, int(count))...)
	}
	all := s.Subset(rows)
	all.counts = nil
	all.Notes = append(all.Notes, fmt.Sprintf("%d rows stand for %d examples", s.N(), all.N()))
	return all
}

// renumber numbers parts from 0 in order of appearance; nil stays nil.
func renumber[T comparable](parts []T) (numbers []int) {
	number := map[T]int{}
	for _, p := range parts {
		if _, seen := number[p]; !seen {
			number[p] = len(number)
		}
		numbers = append(numbers, number[p])
	}
	return numbers
}

// Head is a view of the first n examples, or of all if there are fewer.
func (s *Set) Head(n int) *Set {
	rows := make([]int, max(0, min(n, s.N())))
	for i := range rows {
		rows[i] = i
	}
	if s.Sparse != nil {
		return s.Subset(rows)
	}
	return s.with(s.top(len(rows)), rows)
}

// numbered are n names: a prefix and the numbers from 1.
func numbered(prefix string, n int) []string {
	names := make([]string, n)
	for j := range names {
		names[j] = prefix + strconv.Itoa(j+1)
	}
	return names
}
