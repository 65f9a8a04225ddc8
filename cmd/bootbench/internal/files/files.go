// Package files writes files atomically: readers find the old content or all of the new, even if the writer
// is stopped.
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

// Replace writes a file named by the user. Links are followed, and devices are written directly.
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

// put writes a temporary file next to path and renames it. If that fails, the temporary file is removed.
func put(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bootbench-*.partial")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the rename
	buffer := bufio.NewWriter(f)
	if err := cmp.Or(write(buffer), buffer.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Same reports whether two paths name the same file, existing or not.
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
	case err != nil && !errors.Is(err, fs.ErrNotExist): // e.g. a name that is too long
		return err
	}
	return holdsFiles(filepath.Dir(path))
}

// holdsFiles checks whether a file can be created in a folder.
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

// OpenFolder makes a folder for a command's files unless it exists, and refuses one in which no file can be
// created.
func OpenFolder(path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return holdsFiles(path)
}

// ReplaceIn replaces a file of such a folder. Links are not followed, but replaced.
func ReplaceIn(folder, name string, write func(io.Writer) error) error {
	return put(filepath.Join(folder, name), write)
}
