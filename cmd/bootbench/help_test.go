package main

import (
	"strings"
	"testing"
)

// TestHelpPages: a page of help fits into 80 columns and a screen of 80 lines.
func TestHelpPages(t *testing.T) {
	for _, c := range commands() {
		args := strings.Fields(c.CommandPath())[1:]
		page := must(t, append(args, "--help")...)
		for line := range strings.Lines(page + must(t, append(args, "--help-all")...)) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%s: %q", c.Name(), line)
			}
		}
		if lines, flags := strings.Count(page, "\n"), strings.Count(page, "\n      --"); lines > 80 || flags > 40 {
			t.Errorf("%s --help has %d lines and %d flags", c.Name(), lines, flags)
		}
	}
}
