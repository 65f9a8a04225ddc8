// Package usage marks errors of the user: in the command line, or a file that it names. They end the program
// with status 2, before anything is computed.
package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// fault is an error marked by this package.
type fault struct{ error }

// Unwrap returns the marked error.
func (f fault) Unwrap() error { return f.error }

// Errorf is fmt.Errorf for an error of the user.
func Errorf(format string, args ...any) error { return fault{fmt.Errorf(format, args...)} }

// Wrap marks an error; nil stays nil.
func Wrap(err error) error {
	if err == nil {
		return nil
	}
	return fault{err}
}

// Is reports whether an error is marked.
func Is(err error) bool {
	var f fault
	return errors.As(err, &f)
}

// OneOf refuses a value of a flag that is not among the available ones.
func OneOf(flag, value string, available ...string) error {
	if slices.Contains(available, value) {
		return nil
	}
	return Errorf("--%s %q is not available (there is %s)", flag, value, strings.Join(available, ", "))
}

// Nearest is a suffix of an error with words similar to a wrong one, by cobra's measure for commands; ""
// without any.
func Nearest(word string, among ...string) string {
	near := &cobra.Command{SuggestionsMinimumDistance: min(2, (len(word)+1)/2)}
	for _, name := range among {
		near.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	found := near.SuggestionsFor(word)
	if len(found) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(found[:min(3, len(found))], " or ") + "?"
}
