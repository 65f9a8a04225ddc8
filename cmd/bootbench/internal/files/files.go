// Package files writes files atomically: readers find the old content or all of the new, even if the writer
// is stopped.
package files

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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

// Same reports whether two paths name the same regular file, through links and other spellings too, or
// the same file that does not exist yet.
func Same(a, b string) bool {
	one, err1 := os.Stat(a)
	other, err2 := os.Stat(b)
	if err1 == nil && err2 == nil {
		return one.Mode().IsRegular() && os.SameFile(one, other)
	}
	return err1 != nil && err2 != nil && place(a) == place(b)
}

// place is the path of a file that may not exist, in its folder without links.
func place(path string) string {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err == nil {
		folder, err = filepath.Abs(folder)
	}
	if err != nil {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, filepath.Base(path))
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

// Folder is a folder with files of the program among others. A manifest holds their SHA-256 sums, in the
// format of sha256sum. A file that it does not have, or that was changed since, is never replaced.
type Folder struct {
	path string
	sums map[string]string // by name
}

const manifest = "bootbench.sha256"

var manifestLine = regexp.MustCompile(`^([0-9a-f]{64})  ([^/]+)$`)

// OpenFolder makes a folder for a command's files unless it exists, and refuses one in which no file can be
// created.
func OpenFolder(path string) (*Folder, error) {
	f := &Folder{path, map[string]string{}}
	if err := cmp.Or(os.MkdirAll(path, 0o755), holdsFiles(path)); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(path, manifest))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	for line := range strings.Lines(string(text)) {
		parts := manifestLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if parts == nil {
			return nil, f.foreign(manifest)
		}
		f.sums[parts[2]] = parts[1]
	}
	return f, err
}

// Paths are the paths of the files in the folder whose names match, and an error if any of them is not the
// program's.
func (f *Folder) Paths(names *regexp.Regexp) (paths []string, err error) {
	entries, err := os.ReadDir(f.path)
	for _, e := range entries {
		if names.MatchString(e.Name()) {
			paths, err = append(paths, filepath.Join(f.path, e.Name())), cmp.Or(err, f.check(e.Name()))
		}
	}
	return paths, err
}

// check refuses to replace a file that is not the program's.
func (f *Folder) check(name string) error {
	file, err := os.Open(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	sum := sha256.New()
	if err == nil {
		defer file.Close()
		_, err = io.Copy(sum, file)
	}
	if err != nil || hex.EncodeToString(sum.Sum(nil)) != f.sums[name] {
		return f.foreign(name)
	}
	return nil
}

func (f *Folder) foreign(name string) error {
	return fmt.Errorf("%s is no file of bootbench, or was changed, and is left as it is: name another "+
		"folder, or move the file", filepath.Join(f.path, name))
}

// Replace writes a file of the folder. Links are not followed, but replaced.
func (f *Folder) Replace(name string, write func(io.Writer) error) error {
	sum := sha256.New()
	summed := func(w io.Writer) error { return write(io.MultiWriter(w, sum)) }
	err := f.check(name)
	if err == nil {
		err = put(filepath.Join(f.path, name), summed)
	}
	if err != nil {
		return err
	}
	f.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return put(filepath.Join(f.path, manifest), func(w io.Writer) (err error) {
		for _, name := range slices.Sorted(maps.Keys(f.sums)) {
			_, failed := fmt.Fprintf(w, "%s  %s\n", f.sums[name], name)
			err = cmp.Or(err, failed)
		}
		return err
	})
}
