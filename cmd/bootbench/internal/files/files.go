// Package files writes files whole: whoever reads one finds the old content or all
// of the new, whenever the writer is stopped.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
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
	return put(path, write, rename)
}

// rename moves a partial file to its place.
func rename(partial, path string) error {
	return attempt(renameStep, path, func() error { return os.Rename(partial, path) })
}

// ReplaceDurably writes a file that must outlast a failure of the machine, too. A
// link in its place is replaced.
func ReplaceDurably(path string, content []byte) error {
	write := func(w io.Writer) error { _, err := w.Write(content); return err }
	sync := func(f *os.File) error { return attempt(syncStep, path, f.Sync) }
	if err := put(path, write, rename, sync); err != nil {
		return err
	}
	// The rename itself: not every file system can, and the file is in its place all
	// the same, so that there is no error.
	if folder, err := os.Open(filepath.Dir(path)); err == nil {
		folder.Sync()
		folder.Close()
	}
	return nil
}

// create writes a file that must not be there yet; the error is fs.ErrExist if it is.
func create(path string, write func(io.Writer) error) error {
	return put(path, write, func(partial, path string) error {
		err := attempt(linkStep, path, func() error { return os.Link(partial, path) })
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
		// A file system without links: should another process get between this look
		// and the renaming, the later one stays.
		if _, err := os.Lstat(path); err == nil {
			return fs.ErrExist
		}
		return rename(partial, path)
	})
}

// put writes a partial file beside path, finishes it, and moves it to its place.
// Nothing is left of it where that fails.
func put(path string, write func(io.Writer) error, move func(partial, path string) error,
	finish ...func(*os.File) error) error {
	var f *os.File
	err := attempt(makeStep, path, func() (err error) {
		f, err = os.CreateTemp(filepath.Dir(path), partialPrefix(path)+"*"+partialSuffix)
		return err
	})
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already where it was renamed
	buffer := bufio.NewWriter(faultyWriter{f})
	if err := fill(f, buffer, write, finish); err != nil {
		f.Close()
		return err
	}
	if err := attempt(closeStep, path, f.Close); err != nil {
		f.Close()
		return err
	}
	return move(f.Name(), path)
}

// fill writes the content and sets the usual permissions.
func fill(f *os.File, buffer *bufio.Writer, write func(io.Writer) error,
	finish []func(*os.File) error) error {
	if err := write(buffer); err != nil {
		return err
	}
	if err := buffer.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	for _, step := range finish {
		if err := step(f); err != nil {
			return err
		}
	}
	return nil
}

// Names of partial files, beside the file to be.
func partialPrefix(path string) string { return beside(path) + "-" }

// beside begins the names of this package's own files beside one. Of a name that leaves no
// room for more in the 255 bytes of a name it takes the beginning and a checksum.
func beside(path string) string {
	const most = 200
	name := filepath.Base(path)
	if len(name) > most {
		name = fmt.Sprintf("%s-%08x", name[:most-9], crc32.ChecksumIEEE([]byte(name)))
	}
	return "." + name
}

const partialSuffix = ".partial"

// Sweep removes what writers of a file that were killed have left.
func Sweep(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, partialPrefix(path)) &&
			strings.HasSuffix(name, partialSuffix) {
			os.Remove(filepath.Join(filepath.Dir(path), name))
		}
	}
	return nil
}

// Same reports whether two paths lead to one file, there or not. An empty path is no
// file.
func Same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return os.SameFile(one, other)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// CheckWritable refuses the value of a flag that names a file which cannot be written.
func CheckWritable(flag, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usage.Errorf("--%s: %s is a directory", flag, path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) { // a name that is too long
		return usage.Errorf("--%s: %w", flag, err)
	}
	if err := holdsFiles(filepath.Dir(path)); err != nil {
		return usage.Errorf("--%s: %w", flag, err)
	}
	return nil
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
