package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is one that the user has named for a command's files. The names of the
// files are the program's, and links among them lead nowhere: they are not read
// through, and what is written takes their place. So a folder from elsewhere cannot
// make the program touch a file outside of it.
type Folder struct{ path string }

// OpenFolder makes the folder if it is not there, and refuses one that takes no files.
func OpenFolder(path string) (Folder, error) {
	f := Folder{path}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return f, err
	}
	return f, holdsFiles(path)
}

// ReadFolder is a folder to read from.
func ReadFolder(path string) Folder { return Folder{path} }

// Path is the folder's name, empty for the zero Folder.
func (f Folder) Path() string { return f.path }

// Sub is a folder within, made if it is not there.
func (f Folder) Sub(name string) (Folder, error) {
	path := filepath.Join(f.path, name)
	if err := os.Mkdir(path, 0o755); err != nil && !os.IsExist(err) {
		return Folder{}, err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return Folder{}, err
	}
	if !info.IsDir() {
		return Folder{}, fmt.Errorf("%s is no folder, and links are not followed", path)
	}
	return Folder{path}, nil
}

// Write replaces a file.
func (f Folder) Write(name string, write func(io.Writer) error) error {
	return put(filepath.Join(f.path, name), write, rename)
}

// WriteDurably replaces a file by one that outlasts a failure of the machine.
func (f Folder) WriteDurably(name string, content []byte) error {
	return ReplaceDurably(filepath.Join(f.path, name), content)
}

// inventory is the file that lists those that a command has left in a folder.
const inventory = "files.txt"

// Sweep notes the files that a command has written, and removes those that the last one
// has left there and this one has not: its answer is not this one's.
func (f Folder) Sweep(written []string) error {
	const most = 1 << 20
	if before, err := f.Read(inventory, most); err == nil {
		for _, name := range strings.Fields(string(before)) {
			info, err := os.Lstat(filepath.Join(f.path, name))
			if err != nil || !info.Mode().IsRegular() || filepath.Base(name) != name ||
				slices.Contains(written, name) || !slices.Contains(ownKinds, filepath.Ext(name)) {
				continue
			}
			if err := os.Remove(filepath.Join(f.path, name)); err != nil {
				return err
			}
		}
	}
	return f.Write(inventory, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(written, "\n")+"\n")
		return err
	})
}

// ownKinds are the extensions of what commands write.
var ownKinds = []string{".html", ".json", ".csv", ".svg", ".png"}

// Create writes a file that must not be there yet; the error is fs.ErrExist if it is.
func (f Folder) Create(name string, write func(io.Writer) error) error {
	return create(filepath.Join(f.path, name), write)
}

// Read reads a regular file of at most limit bytes.
func (f Folder) Read(name string, limit int64) (content []byte, err error) {
	path := filepath.Join(f.path, name)
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file, and links are not followed", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that can be", path, info.Size(), limit)
	}
	err = attempt(readStep, path, func() error { content, err = os.ReadFile(path); return err })
	return content, err
}
