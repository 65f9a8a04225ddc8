// Command bootbench computes what bootstrap resampling of a kernel machine
// gives on average, without retraining it, and compares that with retraining.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	args := os.Args[1:]
	if wantsRanks(args) {
		context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
		together, err := startRanks()
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "bootbench: %v\n", err)
			os.Exit(exitFailed)
		case together != nil:
			os.Exit(runOnRanks(ctx, together, args, os.Stdin, os.Stdout, os.Stderr))
		}
	}
	a := newApp(ctx, args, os.Stdin, os.Stdout, os.Stderr)
	context.AfterFunc(ctx, func() {
		stop() // a second interrupt ends the program at once
		time.AfterFunc(patience, a.abandon)
	})
	os.Exit(a.run())
}

// interrupts are the signals that end a run. A hangup that the caller ignores, as nohup
// does, stays ignored.
func interrupts() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// patience is how long an interrupted run may take to come to its answer.
const patience = 1500 * time.Millisecond

// abandon ends the program where an interrupted run has not begun to answer: it is in a
// step that cannot be stopped, such as a large factorisation, or opening a pipe that nobody
// writes to. Files are whole at every moment (package files), so that what was kept stays.
func (a *app) abandon() {
	if a.answering.Load() {
		return
	}
	a.checkpoint.keeper.Close()
	fmt.Fprintln(os.Stderr, "bootbench: interrupted in the middle of a step: nothing is printed, what was kept in files is whole")
	os.Exit(exitInterrupted)
}
