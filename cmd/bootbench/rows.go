package main

import (
	"context"

	"bootbench/bench"
	"bootbench/cmd/internal/steps"
	"bootbench/fits"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// rowRun is a command whose answer is a table: it computes the rows one by one, and delivers the finished
// ones at the end, also after an interrupt.
type rowRun[R any] struct {
	tasks    []bench.Task[R]
	together int // number of consecutive tasks of one shard
	document report.Result
	status   func(row R) string            // of its solve; nil: none
	record   func(row *R) any              // pointers to a row's parts for the journal; nil: its JSON
	finish   func(rows []R, complete bool) // completes the document
}

// deliverRows runs the command: all rows, or the rows of this shard.
func deliverRows[R any](a *app, c rowRun[R]) {
	for i, t := range c.tasks {
		a.tasks.require(i/c.together, t.Name, keyOf(t.Key))
	}
	var rows []R
	err := steps.Run(func() {
		if len(a.tasks.missing) == 0 {
			c.compute(a, &rows)
		}
		if len(a.tasks.missing) > 0 || a.tasks.sharded() {
			steps.Check(fits.ErrElsewhere)
		}
	})
	if len(rows) == 0 || a.tasks.sharded() {
		steps.Check(err)
	}
	c.finish(rows, err == nil)
	switch a.deliver(c.document); {
	case isInterrupt(a, err):
		a.status = exitInterrupted
	case err != nil:
		a.status = exitFailed
		steps.Check(err)
	}
}

// compute computes the rows. It ends at the first error.
func (c *rowRun[R]) compute(a *app, rows *[]R) {
	for i, t := range c.tasks {
		steps.Check(a.ctx.Err())
		a.console.Tasks(i, len(c.tasks))
		var row R
		record := any(&row)
		if c.record != nil {
			record = c.record(&row)
		}
		if !a.tasks.do(i/c.together, keyOf(t.Key), record, func() { row = steps.Must(t.Run(a.ctx)) }) {
			continue
		}
		*rows = append(*rows, row)
		if c.status != nil {
			a.ended(c.status(row))
		}
		a.mustFinish()
	}
}

// task is a row that the command computes.
func task[R any](name, key string, run func() R) bench.Task[R] {
	return bench.Task[R]{Name: name, Key: key, Run: func(context.Context) (r R, err error) {
		err = steps.Run(func() { r = run() })
		return r, err
	}}
}

// estimateKey encodes everything that an estimate depends on.
func estimateKey(spec *model.Spec, test loss.Test, q answer.Question) string {
	return spec.Key(q.Scheme, "estimate", q.Metrics, q.Solve.Tolerance, q.Solve.MaxSweeps, test.Name(),
		q.Level,
		q.NoPoints, q.Key())
}
