package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/internal/gp"
	"bootbench/internal/model"
	"bootbench/linalg"
	"bootbench/solver"
)

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newApp(ctx, args, stdin, stdout, stderr).run()
}

// run runs the command line.
func (a *app) run() (status int) {
	defer a.close()
	defer func() {
		if p := recover(); p != nil {
			status = a.panicked(p)
		}
	}()
	root := newRoot(a)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.start(cmd) }
	root.SetArgs(append([]string{}, a.args...)) // never nil, which means os.Args
	root.SetIn(a.console.In)
	root.SetOut(a.console.Out)
	root.SetErr(a.console.Err)
	command, err := root.ExecuteContextC(a.ctx)
	a.console.Clear()
	if err == nil {
		err = a.finish()
	}
	if err == nil {
		return a.status
	}
	status = a.statusOf(err)
	if status == exitInterrupted {
		err = errors.New("interrupted before anything was finished")
		if a.tasks.Journal != nil && a.tasks.Kept() > 0 {
			err = fmt.Errorf("interrupted: %d tasks were finished and are kept in %s", a.tasks.Kept(), a.tasks.folder)
		}
	}
	fmt.Fprintf(a.console.Err, "bootbench: %s%s\n", oneLine(err.Error()), cure(command, err))
	return status
}

// panicked says what went wrong inside, on one line, and returns the exit status.
func (a *app) panicked(p any) int {
	a.console.Clear()
	fmt.Fprintf(a.console.Err, "bootbench: internal error: %s; please report it with the command line "+
		"(BOOTBENCH_DEBUG=1 shows where)\n", oneLine(fmt.Sprint(p)))
	if os.Getenv("BOOTBENCH_DEBUG") != "" {
		stack := debug.Stack()
		if fault, ok := p.(*linalg.Fault); ok {
			stack = fault.Stack
		}
		a.console.Err.Write(stack)
	}
	return exitFailed
}

// finish writes the profiles and says whether the answer has arrived.
func (a *app) finish() error {
	if err := a.process.end(); err != nil {
		return err
	}
	return a.console.Lost()
}

// close undoes what the run did to the process, for the next run in it.
func (a *app) close() {
	a.console.Clear()
	a.tasks.Close()
	a.process.end()
	a.process.undo()
}

// statusOf is the exit status for an error.
func (a *app) statusOf(err error) int {
	var (
		data  *dataset.Error
		fit   *gp.PivotError
		pivot *linalg.PivotError
	)
	switch {
	case a.isInterrupt(err):
		return exitInterrupted
	case a.status == exitFailed:
		return exitFailed
	case !a.started, usage.Is(err), errors.As(err, &data), errors.As(err, &fit), errors.As(err, &pivot),
		errors.Is(err, model.ErrInput), errors.Is(err, solver.ErrProblem), errors.Is(err, linalg.ErrMemory):
		return exitUsage
	}
	return exitFailed
}
