package files

import (
	"io"
	"os"
	"path/filepath"
)

// Folder is one that the user has named for a command's files. The names of the
// files are the program's, and links among them lead nowhere: what is written takes
// their place.
type Folder struct{ path string }

// OpenFolder makes the folder if it is not there, and refuses one that takes no files.
func OpenFolder(path string) (Folder, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return Folder{}, err
	}
	return Folder{path}, holdsFiles(path)
}

// Write replaces a file.
func (f Folder) Write(name string, write func(io.Writer) error) error {
	return put(filepath.Join(f.path, name), write)
}
