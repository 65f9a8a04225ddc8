//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import (
	"errors"
	"os"
)

// lock takes no lock: this system has none that ends with the process.
func lock(*os.File) error { return errors.ErrUnsupported }
