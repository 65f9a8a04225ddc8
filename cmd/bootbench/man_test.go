package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestManual: every command has a manual page with all its flags, and lists keep their lines.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	must(t, "man", dir)
	pages := 0
	for _, cmd := range commands() {
		if !cmd.IsAvailableCommand() || cmd.IsAdditionalHelpTopicCommand() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		pages++
		page := strings.ReplaceAll(string(text), `\-`, "-")
		if !strings.Contains(page, ".TH ") || !strings.Contains(page, "bootbench "+version()) {
			t.Errorf("%s: %.300s", cmd.Name(), page)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(page, "--"+f.Name) {
				t.Errorf("%s: no --%s", cmd.Name(), f.Name)
			}
		})
	}
	if loo, _ := os.ReadFile(filepath.Join(dir, "bootbench-loo.1")); pages < 12 || !strings.Contains(string(loo),
		"\n  fast     the same answer") && !strings.Contains(string(loo), "\nfast     the same answer") {
		t.Errorf("%d pages, a list without its lines: %.900s", pages, loo)
	}
	// what is required comes first
	for page, flag := range map[string]string{"grid": "over", "predict": "test"} {
		text, _ := os.ReadFile(filepath.Join(dir, "bootbench-"+page+".1"))
		if _, flags, _ := strings.Cut(string(text),
			".SH OPTIONS"); !strings.HasPrefix(strings.ReplaceAll(strings.TrimLeft(flags, "\n"), `\-`, "-"),
			`\fB--`+flag) {
			t.Errorf("%s: --%s is not the first of %.200q", page, flag, flags)
		}
	}
	if o := drive(t, "", "man"); o.status != exitUsage {
		t.Errorf("without a folder: %+v", o)
	}
}
