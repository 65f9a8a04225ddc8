package dataset

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"

	"bootbench/linalg"
)

// Options of the readers. The zero value holds the defaults.
type Options struct {
	// MaxBytes bounds the memory of the inputs while they are read; 0 means 2 GiB, or a third of the memory
	// limit of the Go runtime (GOMEMLIMIT) if that is less. A dense matrix takes 8 bytes per entry; a sparse
	// one 12 per nonzero entry and 16 per row and per feature; twice that while they are read if nothing
	// tells the number of rows before, as in standard input.
	MaxBytes int64
	// Stdin is read for the path "-"; nil means that "-" is refused.
	Stdin io.Reader

	// Columns are given by name or number from 1. Target may be several, separated by commas; "" is the last
	// one that is not dropped.
	Target string
	// Drop lists columns to leave out, Categorical those whose numbers name categories, which become
	// indicators.
	Drop, Categorical []string
	// Groups, Strata and Folds number the parts of examples; they are no features.
	Groups, Strata, Folds string
	// Weights are importance weights, Counts the numbers of equal rows; rows of 0 are left out.
	Weights, Counts string
	// NoHeader: the first line is an example; false: detect it.
	NoHeader bool
	// Missing is the treatment of cells without a value; "" is MissingError.
	Missing Missing
	// NA are further texts or numbers of cells without a value.
	NA []string
	// Positive is the label that becomes +1; all others become -1, so that targets are labels. "" means the
	// larger of two numbers or the second of two texts in alphabetical order.
	Positive string
	// As says what targets are. Either detects it, and refuses few whole numbers in many rows, which may be
	// numbers or classes, unless TaskKnown says that a loss tells.
	As        As
	TaskKnown bool
	// UnseenZero sets all indicators to 0 for texts that the training set lacks; false refuses these.
	UnseenZero bool
}

// As is what targets are: numbers or classes.
type As string

const (
	Either  As = ""
	Numbers As = "regression"
	Classes As = "classification"
)

// Missing is a treatment of cells without a value: empty, NA, N/A, NaN, null or ?.
type Missing string

const (
	// MissingError refuses them and reports their number and the place of the first.
	MissingError Missing = "error"
	// MissingDrop leaves out their rows.
	MissingDrop Missing = "drop"
	// MissingMean replaces them by the mean of the column in the training set; for texts by the fraction of
	// each text. Rows without target are left out.
	MissingMean Missing = "mean"
	// MissingIndicator does that, and adds an indicator feature.
	MissingIndicator Missing = "indicator"
)

// complete are the options with their defaults.
func (o Options) complete() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = min(2<<30, debug.SetMemoryLimit(-1)/3) // a negative argument only reads the limit
	}
	o.Missing = cmp.Or(o.Missing, MissingError)
	return o
}

// fits reports an error if bytes exceed MaxBytes.
func (o Options) fits(bytes float64, what string, args ...any) error {
	limit := float64(o.MaxBytes)
	if bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s take %s, the limit is %s (ReadOptions.MaxBytes sets another)", errMemory,
		fmt.Sprintf(what, args...), linalg.FormatBytes(bytes), linalg.FormatBytes(limit))
}

func (o Options) fitsDense(rows, cols int) error {
	return o.fits(8*float64(rows)*float64(cols), "%d rows of %d columns as a dense matrix", rows, cols)
}

// fitsSparse is fits for a sparse matrix and the column index of its kernel.
func (o Options) fitsSparse(rows, cols, entries int) error {
	return o.fits(16*(float64(rows)+float64(cols))+12*float64(entries),
		"%d rows with %d entries in %d columns as a sparse matrix", rows, entries, cols)
}
