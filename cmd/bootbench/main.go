// Command bootbench computes bootstrap averages of a kernel machine without retraining, and compares them
// with retraining.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"bootbench/blas"
	"bootbench/cmd/bootbench/internal/console"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/linalg/scalapack"
	"bootbench/solver"
	"bootbench/train"
	"bootbench/train/gp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	a := newApp(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if !scalapack.UnderMPI() { // whose processes end together
		context.AfterFunc(ctx, func() { giveUp(a, time.After(stepLimit), os.Exit) })
	} else if _, err := a.servants(); err != nil { // all processes except one serve that one
		fmt.Fprintf(os.Stderr, "bootbench: %v\n", err)
		os.Exit(exitFailed)
	}
	status := a.run()
	if a.joined != nil {
		a.joined.End()
	}
	os.Exit(status)
}

// interrupts are the signals that end a run. A hangup that is ignored, as under nohup, stays ignored.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// Exit statuses.
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2 // bad usage or bad input: nothing was computed
	exitNotConverged = 3 // the answer was printed, with its residual
	exitInterrupted  = 130
)

// app is one run of the program: the state that all commands share.
type app struct {
	ctx     context.Context
	args    []string // the command line, without the program
	began   time.Time
	console *console.Console
	process process
	outputs outputs
	tasks   tasks
	joined  *scalapack.Servants // for --engine scalapack
	kernels answer.Kernels

	root    *cobra.Command
	command *command // the running command, with its flags and DATA
	options *options
	data    []string
	started bool            // the command has begun: later errors are not of usage
	status  int             // exit status if there is an answer
	found   report.Findings // in the data

	ending sync.Mutex
	parts  bool // some of the answer is finished or written
}

// stepLimit is how long an interrupted run may go on with a step that cannot be stopped, such as one large
// factorisation, if none of its answer is finished.
const stepLimit = 2 * time.Second

// mustFinish makes an interrupted run go on until its answer is written.
func (a *app) mustFinish() {
	a.ending.Lock()
	defer a.ending.Unlock()
	a.parts = true
}

// giveUp ends the program at the limit of an interrupted run, unless some of the answer is finished.
func giveUp(a *app, limit <-chan time.Time, exit func(status int)) {
	<-limit
	a.ending.Lock()
	defer a.ending.Unlock()
	if !a.parts {
		a.console.Clear()
		a.console.Fail(a.interrupted().Error())
		a.console.End(exitInterrupted, processorTime(), a.began)
		exit(exitInterrupted)
	}
}

// interrupted says what an interrupted run without an answer leaves.
func (a *app) interrupted() error {
	if s := &a.tasks; s.Journal != nil && s.Kept > 0 {
		return fmt.Errorf("interrupted: %d tasks were finished and are kept in %s", s.Kept, s.folder)
	}
	return errors.New("interrupted before anything was finished")
}

func newApp(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{ctx: ctx, args: args, console: console.New(stdin, stdout, stderr), began: time.Now()}
	a.console.Memory = peakBytes
	if f, is := stdout.(*os.File); is {
		a.outputs.written = []output{{path: f.Name()}}
	}
	return a
}

// servants joins the processes that mpirun has started, at the first call. On rank 0 it returns the others,
// which serve until the program ends; a program without MPI has none.
func (a *app) servants() (*scalapack.Servants, error) {
	if a.joined != nil {
		return a.joined, nil
	}
	grid, err := scalapack.Join()
	if grid == nil || err != nil {
		return nil, err
	}
	if grid.Rank() > 0 {
		signal.Ignore(interrupts()...) // rank 0 ends the run
		scalapack.Serve(grid, kernel.Unmarshal)
		os.Exit(exitDone)
	}
	a.joined = scalapack.NewServants(grid)
	return a.joined, nil
}

func (a *app) run() (status int) {
	defer func() { a.console.End(status, processorTime(), a.began) }()
	defer func() { a.tasks.Close() }()
	defer func() {
		if p := recover(); p != nil {
			status = panicked(a.console, p)
		}
	}()
	a.root = newRoot(a)
	a.root.SetArgs(append([]string{}, a.args...)) // never nil, which means os.Args
	a.root.SetIn(a.console.In)
	a.root.SetOut(a.console.Out)
	a.root.SetErr(a.console.Err)
	command, err := a.root.ExecuteContextC(a.ctx)
	if errors.Is(err, fits.ErrElsewhere) {
		err = steps.Run(a.elsewhere)
	}
	a.mustFinish()
	a.console.Clear()
	if a.started {
		err = cmp.Or(err, a.process.end())
	}
	if err = cmp.Or(err, a.console.Lost()); err == nil {
		return a.status
	}
	status = statusOf(a, err)
	if status == exitInterrupted {
		err = a.interrupted()
	}
	a.console.Fail(oneLine(err.Error()) + cure(command, err))
	return status
}

// panicked reports an internal error, on one line, and returns the exit status.
func panicked(c *console.Console, p any) int {
	c.Clear()
	c.Fail(fmt.Sprintf("internal error: %s; please report it with the command line (BOOTBENCH_DEBUG=1 "+
		"shows where)", oneLine(fmt.Sprint(p))))
	if os.Getenv("BOOTBENCH_DEBUG") != "" {
		stack := debug.Stack()
		if fault, ok := p.(*blas.Fault); ok {
			stack = fault.Stack
		}
		c.Err.Write(stack)
	}
	return exitFailed
}

func statusOf(a *app, err error) int {
	var (
		data  *dataset.Error
		fit   *gp.PivotError
		pivot *linalg.PivotError
	)
	switch {
	case isInterrupt(a, err):
		return exitInterrupted
	case a.status == exitFailed:
		return exitFailed
	case !a.started, usage.Is(err), errors.As(err, &data), errors.As(err, &fit), errors.As(err, &pivot),
		errors.Is(err, train.Diverged.Err()), errors.Is(err, model.ErrInput),
		errors.Is(err, solver.ErrProblem), errors.Is(err, linalg.ErrMemory):
		return exitUsage
	}
	return exitFailed
}

func isInterrupt(a *app, err error) bool {
	return errors.Is(err, cmp.Or(a.ctx.Err(), context.Canceled))
}

// oneLine makes an error message a single line, with flags.
func oneLine(text string) string {
	text = inFlags(strings.Replace(text, model.ErrInput.Error()+": ", "", 1))
	if before, names, ok := strings.Cut(text, "\n\nDid you mean this?"); ok {
		text = before + "; did you mean " + strings.Join(strings.Fields(names), " or ") + "?"
	}
	return console.OneLine(text)
}
