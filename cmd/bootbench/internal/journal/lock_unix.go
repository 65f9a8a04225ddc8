//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"errors"
	"os"
	"syscall"
)

// noFollow has a link in the place of a file refused.
const noFollow = syscall.O_NOFOLLOW

var errHeld = errors.New("held by another process")

// lock takes the system's lock on an open file, which ends with the process, or says
// errHeld. A file system without locks gives another error.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
