package dataset

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
)

// Options of the readers. The zero value holds the defaults.
type Options struct {
	// MaxBytes bounds the memory of the inputs; 0 means 2 GiB, or a third of the memory limit of the Go runtime
	// (GOMEMLIMIT) if that is less: reading takes twice the inputs. A dense matrix takes 8 bytes an entry; a
	// sparse one 12 for an entry that is not zero and 16 for a row and for a feature.
	MaxBytes int64
	// Stdin is what the path "-" reads; nil means that "-" is refused.
	Stdin io.Reader

	// Columns are given by name or number from 1. Target may be several, separated by commas; "" is the last one
	// that is not dropped.
	Target string
	// Drop lists columns to leave out, Categorical those whose numbers name categories, which become indicators.
	Drop, Categorical []string
	// Groups, Strata and Folds number the parts of examples; they are no features.
	Groups, Strata, Folds string
	// Weights are importance weights, Counts the equal rows that a row stands for; rows of 0 are left out.
	Weights, Counts string
	// MaxLevels bounds the indicators of a column of texts, of which the rarest share one; 0: DefaultMaxLevels.
	MaxLevels int
	// NoHeader takes the first line for an example; false means that it is detected.
	NoHeader bool
	// Missing says what to do about cells without a value; "" is MissingError.
	Missing Missing
	// Positive is the label that becomes +1, and says that targets are labels; all others become -1. "" means
	// the larger of two numbers or the later of two texts, in order.
	Positive string
	// Task says that targets are numbers, Regression, or classes, Classification; "" leaves it to the targets.
	Task Task
	// UnseenZero sets all indicators to 0 for texts that the training set lacks; false refuses them.
	UnseenZero bool
	// ZeroBased says that the indices of a sparse file count from 0.
	ZeroBased bool
}

// DefaultMaxLevels is the MaxLevels of zero Options.
const DefaultMaxLevels = 20

// Missing says what to do about cells without a value: empty, NA, N/A, NaN, null or ?.
type Missing string

const (
	// MissingError refuses them, with their number and the place of the first.
	MissingError Missing = "error"
	// MissingDrop leaves out their rows.
	MissingDrop Missing = "drop"
	// MissingMean puts the mean of the training set's other cells of the column there; for texts the fraction of
	// each text. Rows without target are left out.
	MissingMean Missing = "mean"
	// MissingIndicator does that, and adds a feature that says so.
	MissingIndicator Missing = "indicator"
)

// complete are the options with their defaults.
func (o Options) complete() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = min(2<<30, debug.SetMemoryLimit(-1)/3) // a negative number asks for the limit
	}
	o.MaxLevels, o.Missing = cmp.Or(o.MaxLevels, DefaultMaxLevels), cmp.Or(o.Missing, MissingError)
	return o
}

// fits refuses what takes more bytes than the memory allowed.
func (o Options) fits(bytes float64, what string, args ...any) error {
	limit := float64(o.MaxBytes)
	if bytes <= limit {
		return nil
	}
	return fmt.Errorf("%w: %s take %s, the limit is %s (--max-memory sets another)", errMemory,
		fmt.Sprintf(what, args...), humanBytes(bytes), humanBytes(limit))
}

func (o Options) fitsDense(rows, cols int) error {
	return o.fits(8*float64(rows)*float64(cols), "%d rows of %d columns as a dense matrix", rows, cols)
}

// fitsSparse refuses a sparse matrix, with what a kernel needs to find its columns.
func (o Options) fitsSparse(rows, cols, entries int) error {
	return o.fits(16*(float64(rows)+float64(cols))+12*float64(entries),
		"%d rows with %d entries in %d columns as a sparse matrix", rows, entries, cols)
}

// humanBytes writes a number of bytes with a binary unit.
func humanBytes(b float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	k := 0
	for b >= 1024 && k < len(units)-1 {
		b /= 1024
		k++
	}
	return fmt.Sprintf("%.4g %s", b, units[k])
}
