package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestReplace: a file has its old content or all of the new, and nothing is left
// beside it.
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

// TestFolder: a link in a folder is not written through, nor read, and a folder
// within that is a link is refused; Create leaves what is there.
func TestFolder(t *testing.T) {
	outside, f := t.TempDir(), ReadFolder(t.TempDir())
	target := filepath.Join(outside, "target")
	text := func(content string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, content); return err }
	}
	if err := Replace(target, text("mine")); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"file": target, "sub": outside} {
		if err := os.Symlink(to, filepath.Join(f.Path(), name)); err != nil {
			t.Skip(err)
		}
	}
	if _, err := f.Read("file", 100); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link is read: %v", err)
	}
	if _, err := f.Sub("sub"); err == nil {
		t.Error("a folder within is a link")
	}
	if err := f.Create("file", text("new")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link is created over: %v", err)
	}
	if err := f.Write("file", text("new")); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(target); err != nil || string(content) != "mine" {
		t.Errorf("outside of the folder there is %q, %v", content, err)
	}
	if content, err := f.Read("file", 100); err != nil || string(content) != "new" {
		t.Errorf("in the folder there is %q, %v", content, err)
	}
	if _, err := f.Read("file", 2); err == nil {
		t.Error("three bytes pass as two")
	}
}

// TestSweep: what the last answer left in a folder and this one does not write is removed;
// what is not on the list, or no file of ours, stays.
func TestSweep(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.csv")
	dir := t.TempDir()
	for _, path := range []string{outside, filepath.Join(dir, "old.csv"), filepath.Join(dir, "same.csv"),
		filepath.Join(dir, "mine.csv"), filepath.Join(dir, "notes.txt")} {
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := ReadFolder(dir)
	if err := f.Sweep([]string{"old.csv", "same.csv", "notes.txt", "../" + filepath.Base(filepath.Dir(outside)) +
		"/outside.csv"}); err != nil {
		t.Fatal(err)
	}
	if err := f.Sweep([]string{"same.csv"}); err != nil {
		t.Fatal(err)
	}
	for path, stays := range map[string]bool{outside: true, filepath.Join(dir, "old.csv"): false,
		filepath.Join(dir, "same.csv"): true, filepath.Join(dir, "mine.csv"): true,
		filepath.Join(dir, "notes.txt"): true} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestHold: a file is held by one run at a time, and by none after release; what a killed
// run leaves does not hold it. A name of 255 bytes can be held and written.
func TestHold(t *testing.T) {
	for _, name := range []string{"x", strings.Repeat("n", 255)} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, beside(path)+".lock"), []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		release, err := Hold(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, beside(path)+".lock"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if errors.Is(lock(f), errors.ErrUnsupported) {
			t.Skip("no locks here")
		}
		f.Close()
		if _, err := Hold(path); !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(),
			strconv.Itoa(os.Getpid())) {
			t.Errorf("held twice: %v", err)
		}
		if err := ReplaceDurably(path, []byte("x")); err != nil {
			t.Error(err)
		}
		release()
		if release, err = Hold(path); err != nil {
			t.Errorf("after release: %v", err)
		}
		release()
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("%d files are left", len(files))
		}
	}
	if err := CheckWritable("json", filepath.Join(t.TempDir(), strings.Repeat("n", 256))); err == nil {
		t.Error("a name of 256 bytes passes")
	}
}
