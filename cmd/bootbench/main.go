// Command bootbench computes what bootstrap resampling of a kernel machine
// gives on average, without retraining it, and compares that with retraining.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	a := newApp(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if underMPI(os.LookupEnv) { // all processes but one serve that one
		if _, err := a.servants(); err != nil {
			fmt.Fprintf(os.Stderr, "bootbench: %v\n", err)
			os.Exit(exitFailed)
		}
	}
	status := a.run()
	a.dismissServants()
	os.Exit(status)
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
