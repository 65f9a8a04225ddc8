package main

import (
	"strings"
	"testing"

	"bootbench/cmd/bootbench/internal/help"
)

// TestHelpPages: a page of help fits into 80 columns and a screen of 80 lines, and every flag is in a group
// of --help-all (internal/help/help.go).
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
		if loose := help.Ungrouped(c); len(loose) > 0 {
			t.Errorf("%s: no group of the help has --%s", c.Name(), strings.Join(loose, ", --"))
		}
	}
}

// TestTeaching: a refusal leads to what is right.
func TestTeaching(t *testing.T) {
	boston := func(flags ...string) []string { return append([]string{"estimate", "boston"}, flags...) }
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"estimat", "boston"}, "did you mean estimate?"},
		{[]string{"estimate", "bosto"}, "did you mean boston?"},
		{boston("--nosuch"), "unknown flag: --nosuch; bootbench estimate --help-all lists the flags"},
		{boston("--kernel", "rfb"), "rbf"},
		{boston("--gama", "1"), "did you mean gamma?"},
		{boston("--c", "1"), "did you mean C"},
		{boston("--alpha", "1"), "it is called --noise here"},
		{boston("-json", "x"), "flags begin with two dashes"},
		{boston("--gamma", "0.1,0.2"), `--gamma takes a number, not "0.1,0.2"`},
		{boston("--noise", "5x"),
			`--noise takes a number, or a share of the target's variance such as 10%, not "5x"`},
		{boston("--target", "medv"), "datasets --export boston FILE"},
		{boston("--max-memory", "1KiB"), " MiB, 1 KiB are available"},
		{[]string{"estimate", "pima", "--loss", "hard", "--kernel", "linear"},
			"--loss hinge --C 1, a kernel that separates more, or --jitter"},
	} {
		o := drive(t, "", c.args...)
		if !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 || o.stdout != "" ||
			o.status != exitUsage && o.status != exitFailed {
			t.Errorf("%v: status %d, %q", c.args, o.status, o.stderr)
		}
	}
}
