package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"bootbench/linalg"
)

// sparse holds the examples of files of the sparse text format of LIBSVM and SVMlight, one a line:
//
//	label index:value index:value ...   # comment
//
// Indices count features from 1, or from 0 if there is an index 0, and ascend within a line; other features
// are zero. New inputs count as the training set does. A field qid:... after the label is ignored, as are
// empty lines and comments. The number of features is that up to the largest index. Either all examples have
// labels or none.
type sparse struct {
	name          string
	opt           Options
	train         *Encoding  // of the training set, for new inputs; nil for a training set
	x             linalg.CSR // features count from 0 as long as lines are read; Start begins with 0
	labels        []float64
	labelled      bool
	zero          *place // of the first index 0; nil: none
	first, widest place  // of the first example, and of that with the largest index
}

func (s *sparse) readFile(f *source) error {
	lines := newLines(f.text, s.opt)
	for {
		line, err := lines.next()
		if err == io.EOF {
			return nil
		}
		at := place{f.name, "line", lines.number}
		if err == nil {
			line, _, _ = bytes.Cut(line, []byte{'#'})
			err = s.add(strings.Fields(string(line)), at)
		}
		if err != nil {
			return at.error("", err)
		}
	}
}

// add appends the example of one line, if it holds one.
func (s *sparse) add(fields []string, at place) error {
	if len(fields) == 0 {
		return nil
	}
	labelled := !strings.Contains(fields[0], ":")
	if s.x.Rows == 0 {
		s.labelled, s.first = labelled, at
	}
	if labelled != s.labelled {
		return errors.New("either every line starts with a label or none does")
	}
	if labelled {
		v, err := parseNumber(fields[0])
		if err != nil {
			return &Error{Column: "label", Err: err}
		}
		s.labels = append(s.labels, v)
		fields = fields[1:]
	}
	if len(fields) > 0 && strings.HasPrefix(fields[0], "qid:") {
		fields = fields[1:]
	}
	previous := -1
	for _, field := range fields {
		index, value, err := parseEntry(field, previous)
		if err != nil {
			return err
		}
		if index == 0 && s.zero == nil {
			s.zero = &at
		}
		previous = index
		if index >= s.x.Cols {
			if err := s.opt.fitsSparse(1, index, 0); err != nil {
				return fmt.Errorf("feature %d: %w", index, err)
			}
			s.x.Cols, s.widest = index+1, at
		}
		if value != 0 {
			s.x.Index = append(s.x.Index, int32(index))
			s.x.Value = append(s.x.Value, value)
		}
	}
	s.x.Rows++
	s.x.Start = append(s.x.Start, len(s.x.Index))
	return s.opt.fitsSparse(2*s.x.Rows, s.x.Cols, 2*len(s.x.Index)) // copied as they grow
}

// parseEntry reads index:value. The index must exceed previous.
func parseEntry(field string, previous int) (index int, value float64, err error) {
	left, right, ok := strings.Cut(field, ":")
	if !ok {
		return 0, 0, fmt.Errorf("%s is not index:value", quote(field))
	}
	index, err = strconv.Atoi(left)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && index >= math.MaxInt32:
		return 0, 0, fmt.Errorf("feature index in %s is out of range: %w", quote(field), errMemory)
	case err != nil:
		return 0, 0, fmt.Errorf("feature index in %s is not a whole number", quote(field))
	case index < 0:
		return 0, 0, fmt.Errorf("feature index %d: indices start at 1, or at 0", index)
	case index <= previous:
		return 0, 0, fmt.Errorf("feature index %d follows %d: indices must ascend", index, previous)
	}
	value, err = parseNumber(right)
	if err != nil {
		return 0, 0, &Error{Column: "x" + strconv.Itoa(index), Err: err}
	}
	return index, value, nil
}

// count makes features count from 0 if the lines' count from 1.
func (s *sparse) count(from int) {
	if from == 1 && s.x.Cols > 0 {
		s.x.Cols--
		for i := range s.x.Index {
			s.x.Index[i]--
		}
	}
}

// set is a training set, sparse or dense with features x1, x2, ..., or new inputs for one.
func (s *sparse) set() (*Set, error) {
	if s.train == nil && s.zero == nil {
		s.count(1)
	}
	switch {
	case s.x.Rows == 0:
		return nil, errors.New("the file holds no examples")
	case s.train != nil:
		return s.inputs(s.train)
	case !s.labelled:
		return nil, s.first.error("", errors.New("the label is missing: a line is \"label index:value ...\""))
	case s.x.Cols == 0:
		return nil, errors.New("no example has a feature")
	case s.x.Rows < 2:
		return nil, errOneExample
	case s.opt.Target != "" || len(s.opt.Drop)+len(s.opt.Categorical)+len(s.opt.NA) > 0 ||
		s.opt.Groups+s.opt.Strata+s.opt.Folds+s.opt.Weights+s.opt.Counts != "":
		return nil, errors.New("sparse lines have no columns that ReadOptions.Target, ReadOptions.Drop, " +
			"ReadOptions.Categorical or ReadOptions.NA could name")
	}
	set := &Set{Name: s.name, Source: s.name, Columns: []Column{{Name: "y", Y: s.labels}},
		zeroBased: s.zero != nil}
	// Inputs stay sparse if a dense matrix would be large and its products slower.
	const wide, thin = 1000, 1.0 / 20
	if s.x.Cols >= wide && float64(len(s.x.Index)) <= thin*float64(s.x.Rows)*float64(s.x.Cols) {
		set.Sparse = &s.x
		return set, set.decide(s.opt)
	}
	if err := s.opt.fitsDense(s.x.Rows, s.x.Cols); err != nil {
		return nil, err
	}
	set.X, set.Features = s.x.Dense(), numbered("x", s.x.Cols)
	return set, set.decide(s.opt)
}

// inputs are new inputs, dense or sparse as the training set. Sparse ones may have features that are zero
// there.
func (s *sparse) inputs(e *Encoding) (in *Inputs, err error) {
	in = &Inputs{Name: s.name}
	if e.FirstIndex == 1 && s.zero != nil {
		return nil, s.zero.error("", fmt.Errorf("feature index 0, but features of %s count from 1", e.name()))
	}
	s.count(e.FirstIndex)
	if s.labelled {
		if c := e.Targets[0]; c.Texts {
			return nil, s.first.error("", fmt.Errorf("targets are numbers, not %s", listTexts(c.Levels)))
		}
		if in.Columns, err = e.encodeTargets([]Column{{Y: s.labels}}); err != nil {
			return nil, err
		}
	}
	switch {
	case e.Sparse():
		in.Sparse = &s.x
		return in, nil
	case s.x.Cols > e.Features:
		return nil, s.widest.error("", fmt.Errorf("feature index %d, but %s has %d features", s.x.Cols,
			e.name(), e.Features))
	}
	s.x.Cols = e.Features
	if err := s.opt.fitsDense(s.x.Rows, s.x.Cols); err != nil {
		return nil, err
	}
	in.X = s.x.Dense()
	return in, nil
}
