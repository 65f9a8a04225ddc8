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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	args := os.Args[1:]
	if wantsRanks(args) {
		together, err := startRanks()
		switch {
		case err != nil:
			fmt.Fprintf(os.Stderr, "bootbench: %v\n", err)
			os.Exit(exitFailed)
		case together != nil:
			os.Exit(runOnRanks(ctx, together, args, os.Stdin, os.Stdout, os.Stderr))
		}
	}
	os.Exit(run(ctx, args, os.Stdin, os.Stdout, os.Stderr))
}
