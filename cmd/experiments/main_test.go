package main

import (
	"bootbench/cmd/internal/steps"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStudies runs each study at its smallest: tables have their rows, CSV and pictures lie in
// the folder.
func TestStudies(t *testing.T) {
	for _, c := range []struct {
		args  []string
		text  []string
		files []string
	}{
		{[]string{"paper", "-figure", "m04-1-right", "-resamples", "1"},
			[]string{"held-out inputs, N = S = 188"},
			[]string{"m04-figure-1-right.svg", "m04-figure-1-right-figure.csv"}},
		{[]string{"accuracy", "-data", "crabs", "-resamples", "20"},
			[]string{"24 of 24 solves converged", "against 20 retrainings"},
			[]string{"accuracy.csv", "accuracy.svg"}},
		{[]string{"coverage", "-only", "coin,targets", "-tables", "2", "-sizes", "30"},
			[]string{"| flagless | coin | 30 | 2 | 0.5 |", "| given | targets | 30 | 2 |"},
			[]string{"coverage.csv"}},
		{[]string{"coverage", "-part", "p-values", "-only", "coin", "-tables", "2", "-sizes", "30",
			"-models", "given"}, []string{"| given | coin | 30 | 2 | 0.000 |"}, []string{"p-values.csv"}},
		{[]string{"coverage", "-part", "predictions", "-only", "sites", "-tables", "2", "-sizes", "40",
			"-models", "given"}, []string{"| given | sites | 40 | 2 |"}, []string{"predictions.csv"}},
	} {
		dir := t.TempDir()
		var stdout, stderr bytes.Buffer
		args := append([]string{c.args[0], "-out", dir}, c.args[1:]...)
		if status := run(t.Context(), args, &stdout, &stderr); status != 0 {
			t.Errorf("%v: status %d, %s", c.args, status, stderr.String())
		}
		for _, text := range c.text {
			if !strings.Contains(stdout.String(), text) {
				t.Errorf("%v: %q is missing in\n%s", c.args, text, stdout.String())
			}
		}
		for _, name := range c.files {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%v: %s: %v", c.args, name, err)
			}
		}
	}
}

// TestSurvey: no name means all sets, four of labels and three of numbers; each has four losses and two
// kernels.
func TestSurvey(t *testing.T) {
	if specs := accuracyModels([]string{}); len(specs) != (4+3)*4*2 {
		t.Errorf("%d models", len(specs))
	}
}

// TestNoFiles: without -out a study writes nothing.
func TestNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"coverage", "-only", "coin", "-tables", "2", "-sizes", "30", "-models", "given"}
	if status := run(t.Context(), args, io.Discard, io.Discard); status != 0 {
		t.Errorf("status %d", status)
	}
	if files := steps.Must(os.ReadDir(".")); len(files) > 0 {
		t.Errorf("files: %v", files)
	}
}

// TestRefusals: what cannot be run ends with a status and a reason.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		line   string
		status int
		text   string
	}{
		{"", 2, "usage"}, {"nosuch", 2, "usage"}, {"paper -figure nosuch", 1, "there are m03-1-left"},
		{"accuracy -data nosuch", 1, `no set "nosuch"`},
		{"coverage -only nosuch", 1, "there are linear, "},
		{"coverage -part nosuch", 1, "there are p-values, predictions, risk"},
		{"coverage -models nosuch", 1, "there are flagless"},
		{"accuracy -nosuch", 2, "not defined"},
	} {
		var stdout, stderr bytes.Buffer
		t.Chdir(t.TempDir())
		if status := run(t.Context(), strings.Fields(c.line), &stdout, &stderr); status != c.status ||
			!strings.Contains(stderr.String(), c.text) {
			t.Errorf("%q: status %d, %q", c.line, status, stderr.String())
		}
	}
}
