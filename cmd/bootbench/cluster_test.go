package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestClusterExamples: the files of doc/examples are named in doc/cluster.md.
func TestClusterExamples(t *testing.T) {
	page := need.One(os.ReadFile("../../doc/cluster.md"))(t)
	files, err := filepath.Glob("../../doc/examples/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !strings.Contains(string(page), "doc/examples/"+filepath.Base(file)) {
			t.Errorf("doc/cluster.md does not name %s", file)
		}
	}
}
