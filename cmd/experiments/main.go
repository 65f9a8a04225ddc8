// Command experiments computes studies of the method: the papers' figures, and a survey of the theory's
// accuracy. Each prints a table, and with -out writes CSV and figures into a folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/report"
)

// study is one of the experiments.
type study struct {
	name, about string
	// prepare adds the study's flags, and returns a function that runs it.
	prepare func(f *flag.FlagSet) func(ctx context.Context, o *output)
}

var studies = []study{
	{"paper", "the figures of Malzahn and Opper 2003 and 2004, recomputed", paperStudy},
	{"accuracy", "theory against retraining over data sets, losses, kernels and ratios", accuracyStudy},
	{"choice", "chosen models and a grid search by refitting, on new rows of data sets", choiceStudy},
	{"coverage", "how often stated intervals hold the truth, over simulated tables", coverageStudy},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program; its exit status is 0, 1 (a study failed) or 2 (bad usage).
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	at := slices.IndexFunc(studies, func(s study) bool { return len(args) > 0 && s.name == args[0] })
	if at < 0 {
		fmt.Fprintln(stderr, "usage: experiments STUDY [flags]; -h after STUDY lists its flags")
		for _, s := range studies {
			fmt.Fprintf(stderr, "  %-11s %s\n", s.name, s.about)
		}
		return 2
	}
	s := studies[at]
	f := flag.NewFlagSet("experiments "+s.name, flag.ContinueOnError)
	f.SetOutput(stderr)
	folder := f.String("out", "", "`folder` for CSV and pictures; default: none are written")
	do := s.prepare(f)
	if err := f.Parse(args[1:]); err != nil {
		return 2
	}
	if err := steps.Run(func() {
		if *folder != "" {
			steps.Check(os.MkdirAll(*folder, 0o777))
		}
		do(ctx, &output{stdout, *folder})
	}); err != nil {
		fmt.Fprintf(stderr, "experiments %s: %v\n", s.name, err)
		return 1
	}
	return 0
}

// pick has the values of a flag, separated by commas, of all that it takes, by their names; "" are all.
func pick[T any](flag, values string, all []T, name func(T) string) (chosen []T) {
	var names []string
	missing := strings.FieldsFunc(values, func(r rune) bool { return r == ',' })
	for _, one := range all {
		names = append(names, name(one))
		if k := slices.Index(missing, name(one)); k >= 0 || values == "" {
			chosen, missing = append(chosen, one), slices.Delete(missing, max(k, 0), k+1)
		}
	}
	if len(missing) > 0 {
		steps.Check(fmt.Errorf("-%s: there are %s, no %s", flag, strings.Join(names, ", "), missing[0]))
	}
	return chosen
}

// output is the destination of a study: a stream for tables and text, a folder for files.
type output struct {
	io.Writer
	folder string // "": no files
}

// file writes a file of the folder.
func (o *output) file(name string, write func(io.Writer) error) {
	if o.folder == "" {
		return
	}
	f := steps.Must(os.Create(filepath.Join(o.folder, name)))
	defer f.Close()
	steps.Check(errors.Join(write(f), f.Close()))
}

// writeCSV writes structs as lines of a file.
func writeCSV[R any](o *output, name string, rows []R) {
	o.file(name, report.TableOf(rows).WriteCSV)
}

// show prints the last of some structs as a line of a table, after its head if it is the first, and writes
// all into a file.
func show[R any](o *output, name string, rows []R) {
	t := report.TableOf(rows)
	if len(rows) == 1 {
		for _, h := range t.Heads {
			fmt.Fprintf(o, "| %s ", h.Name())
		}
		fmt.Fprintf(o, "|\n%s|\n", strings.Repeat("|---", len(t.Heads)))
	}
	for _, cell := range t.Rows[len(rows)-1] {
		if v, err := strconv.ParseFloat(cell, 64); err == nil {
			cell = strconv.FormatFloat(v, 'g', 4, 64)
		}
		fmt.Fprintf(o, "| %s ", cell)
	}
	fmt.Fprintln(o, "|")
	writeCSV(o, name+".csv", rows)
}

// figures writes figures and their numbers.
func (o *output) figures(all ...*report.Figure) {
	for _, f := range all {
		o.file(f.Name+".svg", f.WriteSVG)
		o.file(f.Name+"-figure.csv", f.WriteCSV)
		fmt.Fprintf(o, "%s.svg\n  %s\n", f.Name, f.Caption)
	}
}
