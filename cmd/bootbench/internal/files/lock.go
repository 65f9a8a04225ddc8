package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrHeld marks a file that another run holds.
var ErrHeld = errors.New("is in use by another run")

// Hold keeps a file for this run until release is called or the process ends, however it
// ends: the lock is one of the system (flock), on a file .NAME.lock beside it that release
// removes. Where the file system has no locks nothing is held.
func Hold(path string) (release func(), err error) {
	name := filepath.Join(filepath.Dir(path), beside(path)+".lock")
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, err
		}
		err = lock(f)
		if errors.Is(err, ErrHeld) {
			holder, _ := io.ReadAll(io.LimitReader(f, 20))
			f.Close()
			return nil, fmt.Errorf("%w (process %s)", err, holder)
		}
		if err == nil && !isAt(f, name) { // its last holder has just removed it
			f.Close()
			continue
		}
		if err == nil && f.Truncate(0) == nil {
			fmt.Fprint(f, os.Getpid())
		}
		return func() {
			os.Remove(name) // before others can lock it
			f.Close()
		}, nil
	}
}

// isAt reports whether an open file is the one of that name.
func isAt(f *os.File, name string) bool {
	opened, err1 := f.Stat()
	named, err2 := os.Stat(name)
	return err1 == nil && err2 == nil && os.SameFile(opened, named)
}
