package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"bootbench/dataset"
	"bootbench/gp"
	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/model"
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

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newSession(ctx, args, stdin, stdout, stderr).run()
}

// run runs the session's command line.
func (s *session) run() (status int) {
	stderr := s.stderr
	defer s.close()
	defer func() {
		if p := recover(); p != nil {
			s.bars.clear()
			if lost, ok := p.(*dist.DesyncError); ok {
				s.diverged, status = lost, exitFailed
				return
			}
			fmt.Fprintf(stderr, "bootbench: internal error: %s; please report it with the command line "+
				"(BOOTBENCH_DEBUG=1 shows where)\n", oneLine(fmt.Sprint(p)))
			if os.Getenv("BOOTBENCH_DEBUG") != "" {
				stderr.Write(debug.Stack())
			}
			status = exitFailed
			s.broken = true
		}
	}()
	root := newRoot(s)
	root.SetArgs(append([]string{}, s.args...)) // never nil, which means os.Args
	root.SetIn(s.stdin)
	root.SetOut(s.stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(s.ctx)
	s.bars.clear()
	if err == nil {
		err = s.finish()
	}
	if err != nil {
		status := s.statusOf(err)
		if status == exitInterrupted {
			err = errors.New("interrupted before anything was finished")
			if s.study.partial() && s.study.done > 0 {
				err = fmt.Errorf("interrupted: %d tasks are done and kept in %s", s.study.done, s.out)
			}
		}
		fmt.Fprintf(stderr, "bootbench: %s\n", oneLine(err.Error()))
		return status
	}
	return s.status
}

// usageError is a fault in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage marks an error as a fault in the command line.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// statusOf is the exit status for an error.
func (s *session) statusOf(err error) int {
	var (
		usage usageError
		data  *dataset.Error
		fit   *gp.PivotError
		pivot *linalg.PivotError
	)
	switch {
	case s.isInterrupt(err):
		return exitInterrupted
	case s.status == exitFailed:
		return exitFailed
	case !s.started, errors.As(err, &usage), errors.As(err, &data), errors.As(err, &fit), errors.As(err, &pivot),
		errors.Is(err, model.ErrInput), errors.Is(err, solver.ErrProblem), errors.Is(err, linalg.ErrMemory):
		return exitUsage
	}
	return exitFailed
}

// oneLine makes an error message a single line that begins with what is wrong.
func oneLine(text string) string {
	text = strings.TrimPrefix(text, model.ErrInput.Error()+": ")
	if before, names, ok := strings.Cut(text, "\n\nDid you mean this?"); ok {
		text = before + "; did you mean " + strings.Join(strings.Fields(names), " or ") + "?"
	}
	if at := strings.Index(text, "strconv."); at >= 0 { // an invalid number in a flag
		text = text[:at] + text[strings.LastIndex(text, ": ")+2:]
	}
	return strings.Join(strings.Fields(text), " ")
}
