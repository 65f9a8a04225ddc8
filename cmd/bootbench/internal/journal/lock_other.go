//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package journal

import (
	"errors"
	"os"
)

// noFollow is 0: openRegular checks for links.
const noFollow = 0

var errHeld = errors.New("held by another process")

// lock takes no lock: this system has no locks that end with the process.
func lock(*os.File) error { return errors.ErrUnsupported }
