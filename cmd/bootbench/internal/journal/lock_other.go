//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

import (
	"errors"
	"os"
)

// noFollow is nothing: openRegular looks for links itself.
const noFollow = 0

var errHeld = errors.New("held by another process")

// lock takes no lock: this system has none that ends with the process.
func lock(*os.File) error { return errors.ErrUnsupported }
