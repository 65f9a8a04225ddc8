//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package journal

import (
	"errors"
	"os"
	"syscall"
)

// noFollow makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

var errHeld = errors.New("held by another process")

// lock locks an open file until the process ends, or returns errHeld. A file system without locks gives
// another error.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
