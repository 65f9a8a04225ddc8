package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplace: a file has its old content or all of the new, and nothing is left beside it.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	put := func(text string, failure error) error {
		return Replace(path, func(w io.Writer) error {
			io.WriteString(w, text)
			return failure
		})
	}
	if err := put("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("new", errors.New("failed")); err == nil {
		t.Error("a failure passes")
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("after a failure the file holds %q", text)
	}
	if err := put("new", nil); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file holds %q", text)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left", len(files))
	}
	if err := Replace(filepath.Join(dir, "no", "x"), func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder that is not there passes")
	}
}

// TestFolder: a folder's own files are replaced; a link, a changed file and a file of another are left.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	put := func(name, content string) error {
		f, err := OpenFolder(folder)
		if err != nil {
			return err
		}
		return f.Replace(name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err })
	}
	if err := errors.Join(put("own", "old"), put("changed", "old"), os.WriteFile(path("changed"), nil, 0o600),
		os.WriteFile(path("theirs"), nil, 0o600), os.Symlink(path("theirs"), path("link"))); err != nil {
		t.Fatal(err)
	}
	for name, replaced := range map[string]bool{"own": true, "changed": false, "theirs": false, "link": false,
		"new": true} {
		err := put(name, "new")
		text, _ := os.ReadFile(path(name))
		if (err == nil) != replaced || (string(text) == "new") != replaced {
			t.Errorf("%s: %v, it holds %q", name, err, text)
		}
	}
	if err := os.WriteFile(path(manifest), []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := put("own", "newer"); err == nil {
		t.Error("a file of another with the name of the manifest passes")
	}
}

// TestLongNames: a name of 255 bytes can be written, one of 256 is refused.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 255))
	if err := Replace(path, func(io.Writer) error { return nil }); err != nil {
		t.Error(err)
	}
	if err := CheckWritable(path + "n"); err == nil {
		t.Error("a name of 256 bytes passes")
	}
}
