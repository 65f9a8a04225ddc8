package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/console"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg/dist"
	"bootbench/solver"
)

// Exit statuses.
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2 // bad usage or bad input: nothing was computed
	exitNotConverged = 3 // the answer was printed, with its residual
	exitInterrupted  = 130
)

// app is one run of the program: what all commands share, and what has become of it.
type app struct {
	ctx      context.Context
	args     []string // the command line, without the program
	began    time.Time
	console  *console.Console
	process  process
	outputs  outputs
	tasks    tasks
	servants func() (*dist.Servants, error) // for --engine scalapack: joined when first asked for
	joined   bool
	started  bool // a command has begun: later errors are not of usage
	status   int  // exit status where there is an answer
}

func newApp(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{ctx: ctx, args: args, console: console.New(stdin, stdout, stderr), began: time.Now()}
	a.servants = sync.OnceValues(func() (*dist.Servants, error) {
		a.joined = true
		return joinServants()
	})
	return a
}

// isInterrupt reports whether an error is the end of the run's context.
func (a *app) isInterrupt(err error) bool {
	return err != nil && a.ctx.Err() != nil && errors.Is(err, a.ctx.Err())
}

// interrupted notes that an answer is what was finished before an interrupt.
func (a *app) interrupted() {
	a.status = exitInterrupted
	a.console.Warn("interrupted: this is what was finished")
}

// notConverged notes the status of a solve in the exit status.
func (a *app) notConverged(status string) {
	if status != solver.Converged.String() && status != report.Contradicted && a.status == exitDone {
		a.status = exitNotConverged
	}
}

// cost is what the answer has cost so far, times filled in but for their total.
func (a *app) cost(t report.Times) report.Cost {
	info := blas.Describe()
	t.Total = time.Since(a.began).Seconds()
	return report.Cost{
		Time:    t,
		Memory:  report.Memory{PeakBytes: peakBytes()},
		Backend: report.Backend{Name: info.Backend, Core: info.Core, Threads: info.Threads},
	}
}

// oneLine makes an error message a single line that begins with what is wrong.
func oneLine(text string) string {
	text = strings.TrimPrefix(text, model.ErrInput.Error()+": ")
	if before, names, ok := strings.Cut(text, "\n\nDid you mean this?"); ok {
		text = before + "; did you mean " + strings.Join(strings.Fields(names), " or ") + "?"
	}
	return console.OneLine(text)
}
