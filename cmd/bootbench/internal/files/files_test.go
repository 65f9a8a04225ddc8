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

// TestFolder: a link in a folder is not written through.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	text := func(content string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, content); return err }
	}
	if err := Replace(target, text("mine")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(folder, "file")); err != nil {
		t.Skip(err)
	}
	if err := ReplaceIn(folder, "file", text("new")); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(target); err != nil || string(content) != "mine" {
		t.Errorf("outside of the folder there is %q, %v", content, err)
	}
	if content, err := os.ReadFile(filepath.Join(folder, "file")); err != nil || string(content) != "new" {
		t.Errorf("in the folder there is %q, %v", content, err)
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
