// Command experiments computes the studies of the method itself: the papers' figures, the
// survey of the theory's accuracy, and what estimates of a
// classifier's error are worth. Each prints a table and writes CSV and pictures into a folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// study is one of the experiments.
type study struct {
	name, about string
	// prepare adds the study's own flags, and returns what runs it on the other arguments.
	prepare func(f *flag.FlagSet) func(ctx context.Context, args []string, o *output) error
}

var studies = []study{
	{"paper", "the figures of Malzahn and Opper 2003 and 2004, computed anew", paperStudy},
	{"accuracy", "theory against retraining over data sets, losses, kernels and ratios", accuracyStudy},
	{"estimators", "estimators DATA: estimates of a classifier's error, judged by held-out data",
		estimatorStudy},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program; its exit status is 0, 1 (a study failed) or 2 (bad usage).
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		for _, s := range studies {
			if s.name == args[0] {
				return s.run(ctx, args[1:], stdout, stderr)
			}
		}
	}
	fmt.Fprintln(stderr, "usage: experiments STUDY [flags] [DATA...]; experiments STUDY -h lists its flags")
	for _, s := range studies {
		fmt.Fprintf(stderr, "  %-11s %s\n", s.name, s.about)
	}
	return 2
}

func (s study) run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("experiments "+s.name, flag.ContinueOnError)
	f.SetOutput(stderr)
	folder := f.String("out", s.name, "`folder` for CSV and pictures")
	do := s.prepare(f)
	if err := f.Parse(args); err != nil {
		return 2
	}
	o := &output{stdout, *folder}
	err := os.MkdirAll(*folder, 0o777)
	if err == nil {
		err = do(ctx, f.Args(), o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "experiments %s: %v\n", s.name, err)
		return 1
	}
	return 0
}
