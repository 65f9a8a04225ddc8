package main

import (
	"fmt"
	"os"
	"time"

	"bootbench/linalg"
)

// An interrupted run waits so long for the step that it is in, where an answer can do
// without, and may take so long in all to come to its answer.
const (
	grace    = time.Second
	patience = 1500 * time.Millisecond
)

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

// step does a step of a run whose other steps are an answer, too. Interrupted, it is waited for as
// long as grace: then it is left to itself, for the program is about to end, and the error is that of the
// context.
func (a *app) step(do func() error) error { return a.stepWithin(grace, do) }

func (a *app) stepWithin(grace time.Duration, do func() error) error {
	if a.ranks != nil {
		return do()
	}
	var crew linalg.Crew
	var err error // read where do has ended
	ended := make(chan struct{})
	crew.Go(func() {
		defer close(ended)
		err = do()
	}, nil)
	select {
	case <-ended:
	case <-a.ctx.Done():
		if !crew.EndsWithin(grace) {
			return a.ctx.Err()
		}
	}
	crew.Wait()
	return err
}

// fitPatience is how long an interrupted run waits for fits in progress; on ranks, which must stay
// together, until they end.
func (a *app) fitPatience() time.Duration {
	if a.ranks != nil {
		return 0
	}
	return grace
}
