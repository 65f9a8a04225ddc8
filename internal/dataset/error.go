package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Error describes bad input and its place. Every error of this package is one.
type Error struct {
	File   string // or data set, or specification
	Place  string // "line 3" of a text, "row 3" of an array, both from 1; "" if neither applies
	Column string // its name, "" if none applies
	Err    error  // what is wrong
}

// Error is one line: file, place and reason.
func (e *Error) Error() string {
	parts := []string{printable(e.File), e.Place, "", e.Err.Error()}
	if e.Column != "" {
		parts[2] = "column " + quote(e.Column)
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": ")
}

func (e *Error) Unwrap() error { return e.Err }

var (
	errMemory     = errors.New("too large")
	errOneExample = errors.New("only one example: at least two are needed")
)

func errorIn(file, format string, args ...any) *Error {
	return &Error{File: file, Err: fmt.Errorf(format, args...)}
}

func inFile(name string, err error) *Error { return place{file: name}.error("", err) }

// reason strips the operation and the path, which Error has, from an error of the file system.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// place is a line of a text file or a row of an array, from 1; 0 is neither.
type place struct {
	file, unit string
	number     int
}

// error is err at that place, unless err has a place.
func (p place) error(column string, err error) *Error {
	e, ok := err.(*Error)
	if !ok {
		e = &Error{Err: reason(err)}
	}
	e.File, e.Column = cmp.Or(e.File, p.file), cmp.Or(e.Column, column)
	if p.number > 0 {
		e.Place = fmt.Sprintf("%s %d", p.unit, p.number)
	}
	return e
}

// printable escapes control characters and invisible marks, which could control a terminal.
func printable(s string) string {
	marks := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
	if !strings.ContainsFunc(s, marks) {
		return s
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// quote quotes a piece of input for a message and cuts it if it is long.
func quote(s string) string {
	const longest = 40
	if r := []rune(s); len(r) > longest {
		return fmt.Sprintf("%q...", string(r[:longest]))
	}
	return fmt.Sprintf("%q", s)
}

// bare is a text, in quotes unless it is a plain word.
func bare(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == "" {
		return s
	}
	return quote(s)
}

func listTexts(texts []string) string {
	const most = 6
	var words []string
	for _, s := range texts[:min(most, len(texts))] {
		words = append(words, quote(s))
	}
	if len(texts) > most {
		words = append(words, "...")
	}
	return strings.Join(words, ", ")
}
