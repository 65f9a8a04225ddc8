package study

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/need"
)

// TestParsePart reads parts from the flag and from schedulers.
func TestParsePart(t *testing.T) {
	for _, c := range []struct {
		text        string
		shards      int
		environment map[string]string
		index       int
		count       int // 0: refused
	}{
		{"0/1", 0, nil, 0, 1},
		{"4/5", 0, nil, 4, 5},
		{"5/5", 0, nil, 0, 0},
		{"-1/5", 0, nil, 0, 0},
		{"1", 0, nil, 0, 0},
		{"a/b", 0, nil, 0, 0},
		{"1/2", 2, nil, 0, 0},
		{"auto", 0, nil, 0, 0},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "3", "SLURM_ARRAY_TASK_COUNT": "4"}, 3, 4},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "1",
			"SLURM_ARRAY_TASK_COUNT": "4"}, 3, 4},
		{"auto", 0, map[string]string{"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_COUNT": "4"}, 0, 0},
		// With the number of parts given, some of them in an array of their own.
		{"auto", 16, map[string]string{"SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_MIN": "5",
			"SLURM_ARRAY_TASK_COUNT": "2"}, 11, 16},
		{"auto", 16, map[string]string{"SLURM_ARRAY_TASK_ID": "16", "SLURM_ARRAY_TASK_MIN": "1",
			"SLURM_ARRAY_TASK_COUNT": "16"}, 0, 0},
		{"auto", 0, map[string]string{"JOB_COMPLETION_INDEX": "2"}, 0, 0},
		{"auto", 8, map[string]string{"JOB_COMPLETION_INDEX": "2"}, 2, 8},
		{"auto", 0, map[string]string{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2},
		{"auto", 0, map[string]string{"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "2"}, 0, 0},
	} {
		index, count, err := ParsePart(c.text, c.shards, func(name string) (string, bool) {
			v, ok := c.environment[name]
			return v, ok
		})
		if index != c.index || count != c.count || (err == nil) != (c.count > 0) {
			t.Errorf("%+v: %d of %d, %v", c, index, count, err)
		}
	}
}

// TestStudyStarts: of parts that start at the same time all with the same command
// go on and all others are refused; the note is whole whenever it can be seen.
func TestStudyStarts(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		wrote := make(chan error)
		const parts = 8
		for i := range parts {
			go func() {
				r := Record{Command: "curve", Data: []string{strings.Repeat("x", 1+i%2*5000)}, Folder: "/", Parts: parts}
				wrote <- r.write(files.ReadFolder(dir))
			}()
		}
		refused := 0
		for range parts {
			err := <-wrote
			if err == nil {
				continue
			}
			if !strings.Contains(err.Error(), "belongs to another study") {
				t.Fatal(err)
			}
			refused++
		}
		if refused != parts/2 {
			t.Fatalf("%d of %d parts are refused", refused, parts)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Fatalf("left behind: %v, %v", left, err)
		}
	}
}

// TestDamagedFile: a part's file cut short anywhere, or with any byte changed, and the
// file that a killed part was still writing, are no results.
func TestDamagedFile(t *testing.T) {
	folder := files.ReadFolder(t.TempDir())
	s := store{folder, "v1"}
	want := [][]float64{{1, 2}, {3, 4}}
	if err := s.save("a", want); err != nil {
		t.Fatal(err)
	}
	var got [][]float64
	if err := s.load("a", &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%v, %v", err, got)
	}
	path := filepath.Join(folder.Path(), s.name("a"))
	whole := need.One(os.ReadFile(path))(t)
	refuse := func(what string, at int, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		var got [][]float64
		if err := s.load("a", &got); err == nil || isMissing(err) || got != nil {
			t.Errorf("%s byte %d: %v, %v", what, at, err, got)
		}
	}
	for i := range whole {
		refuse("cut at", i, whole[:i])
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 1
		refuse("changed", i, damaged)
	}
	if err := os.Rename(path, filepath.Join(folder.Path(), "."+s.name("a")+"-123.partial")); err != nil {
		t.Fatal(err)
	}
	if err := s.load("a", &got); !isMissing(err) {
		t.Errorf("a partial file is taken: %v", err)
	}
}

// TestRefusedPart: what was kept under the key, but is of another version, of another
// shape or not finite, is computed again by a part, and refused with the reason by
// merge.
func TestRefusedPart(t *testing.T) {
	folder := files.ReadFolder(t.TempDir())
	task := func(result *[]float64) Task {
		return Task{Name: "the task", Key: "a", Compute: func() error { *result = []float64{1, 2}; return nil },
			Check: func() error { return CheckNumbers("it", *result, 2) }}
	}
	for want, keep := range map[string]func() error{
		"of version old":   func() error { return keepPart(folder, "old", []float64{1, 2}) },
		"has 1 numbers":    func() error { return keepPart(folder, "v1", []float64{1}) },
		"number 2 is +Inf": func() error { return keepPart(folder, "v1", []float64{1, math.Inf(1)}) },
		"another build":    func() error { return keepPart(folder, "v1", "text") },
	} {
		if err := keep(); err != nil {
			t.Fatal(err)
		}
		merge := need.One(Merge(folder, &Record{Version: "v1", Parts: 1}, "v1", nil))(t)
		var result []float64
		if filled, err := merge.Do(task(&result), &result); filled || err != nil {
			t.Errorf("%s: %v, %v", want, filled, err)
		}
		if err := merge.Complete(); err == nil || !strings.Contains(err.Error(), "the task (refused: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		part := need.One(Keep(folder, "v1"))(t)
		result = nil
		if filled, err := part.Do(task(&result), &result); !filled || err != nil ||
			!reflect.DeepEqual(result, []float64{1, 2}) {
			t.Errorf("%s: done again %v, %v, %v", want, filled, err, result)
		}
	}
}

// keepPart keeps a result under the key "a".
func keepPart(folder files.Folder, version string, result any) error {
	parts, err := folder.Sub("parts")
	if err != nil {
		return err
	}
	return store{parts, version}.save("a", result)
}

// TestLinks: links in a folder lead nowhere: none is read or written through.
func TestLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "parts")); err != nil {
		t.Skip(err)
	}
	if _, err := Keep(files.ReadFolder(dir), "v1"); !usage.Is(err) {
		t.Errorf("parts elsewhere: %v", err)
	}
	s := store{files.ReadFolder(dir), "v1"}
	target := filepath.Join(outside, "target")
	if err := os.WriteFile(target, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, s.name("a"))); err != nil {
		t.Fatal(err)
	}
	var got []float64
	if err := s.load("a", &got); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link is read: %v", err)
	}
	if err := s.save("a", []float64{1}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "mine" {
		t.Errorf("a link is written through: %q, %v", text, err)
	}
	if err := os.Symlink(target, filepath.Join(dir, recordName)); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRecord(files.ReadFolder(dir)); !usage.Is(err) || !strings.Contains(err.Error(),
		"links are not followed") {
		t.Errorf("the record of a link: %v", err)
	}
}
