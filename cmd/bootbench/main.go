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
	args := os.Args[1:]
	if wantsRanks(args, os.LookupEnv) {
		together, err := startRanks()
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "bootbench: %v\n", err)
			os.Exit(exitFailed)
		case together != nil:
			os.Exit(runOnRanks(ctx, together, args, os.Stdin, os.Stdout, os.Stderr))
		case severalProcesses(os.LookupEnv):
			fmt.Fprintln(os.Stderr, "bootbench: this is one of several processes of mpirun, which only a program built with MPI can join (go build -tags openblas,mpi, doc/cluster.md): build it so, or run one process")
			os.Exit(exitUsage)
		}
	}
	os.Exit(run(ctx, args, os.Stdin, os.Stdout, os.Stderr))
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
