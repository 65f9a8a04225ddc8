package files

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// inventory is the file that lists those that a command has left in a folder.
const inventory = "files.txt"

// Sweep notes the files that a command has written, and removes those that the last one
// has left there and this one has not: its answer is not this one's.
func (f Folder) Sweep(written []string) error {
	for _, name := range f.before() {
		if filepath.Base(name) == name && !slices.Contains(written, name) &&
			slices.Contains(ownKinds, filepath.Ext(name)) && f.isRegular(name) {
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

// before lists what the last command has left.
func (f Folder) before() []string {
	if !f.isRegular(inventory) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(f.path, inventory))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

func (f Folder) isRegular(name string) bool {
	info, err := os.Lstat(filepath.Join(f.path, name))
	return err == nil && info.Mode().IsRegular()
}

// ownKinds are the extensions of what commands write.
var ownKinds = []string{".html", ".json", ".csv", ".svg", ".png"}
