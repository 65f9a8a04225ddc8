package dataset

import (
	"fmt"
	"io"
)

// Options of the readers. The zero value holds the defaults.
type Options struct {
	// MaxBytes bounds the memory of the inputs held as a dense matrix, 8 bytes
	// an entry; 0 means 2 GiB.
	MaxBytes int64
	// Stdin is what the path "-" reads; nil means that "-" is refused.
	Stdin io.Reader
}

func (o Options) maxBytes() int64 {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return 2 << 30
}

// checkSize refuses a dense matrix of rows x cols that exceeds the memory
// allowed. It survives counts whose product overflows.
func (o Options) checkSize(rows, cols int) error {
	bytes := 8 * float64(rows) * float64(cols)
	if bytes <= float64(o.maxBytes()) {
		return nil
	}
	return fmt.Errorf("%w: %d rows of %d columns take %s as a dense matrix, the limit is %s",
		ErrMemory, rows, cols, humanBytes(bytes), humanBytes(float64(o.maxBytes())))
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
