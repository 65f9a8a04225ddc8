package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"bootbench/cmd/bootbench/internal/files"
	"bootbench/solver"
)

// trace keeps what a solve did, sweep by sweep, and writes it as a table of
// values between tabs. It is written anew after every sweep, so that a run that
// is stopped leaves what it has done.
type trace struct {
	path  string // "": nothing is kept
	lines strings.Builder
}

func (t *trace) register(f *pflag.FlagSet) {
	f.StringVar(&t.path, "trace", "",
		"write what each sweep did, its residual and its seconds to `FILE`, between tabs; default: none")
}

// note adds a sweep of the solve with that label.
func (t *trace) note(label string, s solver.Sweep) error {
	if t.path == "" {
		return nil
	}
	if t.lines.Len() == 0 {
		t.lines.WriteString("solve\tsweep\tkind\tmoved\tresidual\tstep_seconds\tseconds\n")
	}
	fmt.Fprintf(&t.lines, "%s\t%d\t%s\t%d\t%.6g\t%.6f\t%.6f\n", label, s.Number, s.Kind, s.Moved, s.Residual,
		s.Step.Seconds(), s.Elapsed.Seconds())
	return files.Replace(t.path, func(w io.Writer) error {
		_, err := io.WriteString(w, t.lines.String())
		return err
	})
}
