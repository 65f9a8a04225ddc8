package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Error is bad input: what is wrong and where. Every error of this package is
// one; a command line answers it with its exit status for bad input.
type Error struct {
	// File is the file, the data set or the specification.
	File string
	// Line is the line of a text file and Row the row of an array, both from 1;
	// 0 where neither applies.
	Line, Row int
	// Column is the name of the column, "" where none applies.
	Column string
	// Err says what is wrong.
	Err error
}

// Error is one line: file, place and reason.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s: ", printable(e.File))
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Row > 0 {
		fmt.Fprintf(&b, "row %d: ", e.Row)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %s: ", quote(e.Column))
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

// Unwrap is the reason alone.
func (e *Error) Unwrap() error { return e.Err }

// Reasons that a caller may want to tell from the others.
var (
	// ErrLabels: the targets are not the two labels -1 and +1.
	ErrLabels = errors.New("labels must be -1 and +1")
	// ErrMemory: the data would not fit in the memory allowed.
	ErrMemory = errors.New("too large")

	errOneExample = errors.New("only one example: at least two are needed")
)

// inFile adds the name of the file to an error.
func inFile(name string, err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: reason(err)}
	}
	if e.File == "" {
		e.File = name
	}
	return e
}

// quote quotes a piece of input for a message and cuts it if it is long.
func quote(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		return fmt.Sprintf("%q...", string(r[:longest]))
	}
	return fmt.Sprintf("%q", s)
}

// reason strips from an error of the file system what Error says anyway: the
// operation and the path.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
