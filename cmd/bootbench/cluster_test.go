package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestClusterExamples: the files of doc/examples are those that doc/cluster.md shows.
func TestClusterExamples(t *testing.T) {
	page := need.One(os.ReadFile("../../doc/cluster.md"))(t)
	files, err := filepath.Glob("../../doc/examples/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := need.One(os.ReadFile(file))(t)
		shown := "    " + strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n", "\n    ") + "\n"
		if !strings.Contains(string(page), shown) {
			t.Errorf("doc/cluster.md does not show %s as it is", file)
		}
	}
}
