package main

import (
	"strings"
	"testing"

	"bootbench/cmd/bootbench/internal/help"
)

// TestHelpPages: a page of help fits into 80 columns, and every flag is in a group of it
// (internal/help/help.go).
func TestHelpPages(t *testing.T) {
	for _, c := range commands() {
		args := strings.Fields(c.CommandPath())[1:]
		for line := range strings.Lines(must(t, append(args, "--help")...)) {
			if len(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%s: %q", c.Name(), line)
			}
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
		{boston("--nosuch"), "unknown flag: --nosuch; bootbench estimate --help lists the flags"},
		{boston("--kernel", "rfb"), "rbf"},
		{boston("--gama", "1"), "did you mean gamma?"},
		{boston("--c", "1"), "did you mean C"},
		{boston("--alpha", "1"), "it is called --noise here"},
		{boston("-json", "x"), "-json; flags begin with two dashes"},
		{[]string{"info", "--loss", "hinge"}, "it is one of compare, not of info"},
		{boston("--gamma", "scale"), "1/d for d standardised features"},
		{boston("--gamma", "0.1,0.2"), "grid DATA --over gamma=0.1,0.2 computes all"},
		{boston("--ratio", "1,2"), "curve DATA --ratio 1,2 computes all"},
		{boston("--noise", "5x"),
			`--noise takes a number, or a share of the target's variance such as 10%, not "5x"`},
		{boston("--target", "medv"), "datasets --export boston FILE"},
		{boston("--max-memory", "1KiB"), " MiB, 1 KiB are available"},
		{[]string{"estimate", "pima", "--loss", "hard", "--kernel", "linear"},
			"--loss hinge --C 1, --kernel rbf, which separates more than linear"},
	} {
		o := drive(t, "", c.args...)
		if !strings.Contains(o.stderr, c.says) || strings.Count(o.stderr, "\n") != 1 || o.stdout != "" ||
			o.status != exitUsage && o.status != exitFailed {
			t.Errorf("%v: status %d, %q", c.args, o.status, o.stderr)
		}
	}
}
