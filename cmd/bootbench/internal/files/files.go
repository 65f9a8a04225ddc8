// Package files writes files whole: whoever reads one finds the old content or all
// of the new, whenever the writer is stopped.
package files

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace writes a file that the user has named. A link is followed, and what is no
// regular file, a device, is written directly.
func Replace(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	return put(path, write)
}

// put writes a partial file beside path and moves it to its place. Nothing is left of it where that fails.
func put(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bootbench-*.partial")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already where it was renamed
	buffer := bufio.NewWriter(f)
	if err := cmp.Or(write(buffer), buffer.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Same reports whether two paths lead to one file, there or not.
func Same(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(one, other)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// CheckWritable refuses a file that cannot be written.
func CheckWritable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist): // a name that is too long
		return err
	}
	return holdsFiles(filepath.Dir(path))
}

// holdsFiles tries whether a file can be made in a folder.
func holdsFiles(folder string) error {
	f, err := os.CreateTemp(folder, ".bootbench-*")
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			return fmt.Errorf("%s: %w", folder, path.Err)
		}
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// OpenFolder makes a folder that the user has named for a command's files if it is not there, and refuses one
// that takes no files.
func OpenFolder(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return holdsFiles(path)
}

// ReplaceIn replaces a file of such a folder. Its name is the program's, and a link there leads nowhere: what
// is written takes its place.
func ReplaceIn(folder, name string, write func(io.Writer) error) error {
	return put(filepath.Join(folder, name), write)
}
