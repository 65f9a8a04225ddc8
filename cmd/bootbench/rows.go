package main

import (
	"context"
	"io"

	"bootbench/bench"
	"bootbench/internal/answer"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// rowRun is a command whose answer is a table: it computes and prints the rows one by one, and delivers the
// finished ones at the end, also after an interrupt.
type rowRun[R any] struct {
	tasks    []bench.Task[R]
	together int // number of consecutive tasks of one shard
	document report.RowResult[R]
	status   func(row R) string            // of its solve; nil: none
	record   func(row *R) any              // pointers to a row's parts for the journal; nil: its JSON
	finish   func(rows []R, complete bool) // completes the document
}

// printRows runs the command: all rows, or those of this shard.
func printRows[R any](a *app, c rowRun[R]) error {
	for i, t := range c.tasks {
		a.tasks.require(i/c.together, t.Name, keyOf(t.Key))
	}
	if len(a.tasks.missing) > 0 {
		return a.elsewhere()
	}
	rows, err := c.compute(a)
	switch {
	case err == nil && a.tasks.sharded():
		return a.elsewhere()
	case err != nil && (len(rows) == 0 || a.tasks.sharded()):
		return err
	}
	c.finish(rows, err == nil)
	sheet := report.SheetOf(c.document, false)
	sheet.Text = func(w io.Writer) error { return report.WriteEnd(flagWriter{w}, c.document) }
	switch delivered := a.deliver(sheet); {
	case delivered != nil:
		return delivered
	case isInterrupt(a, err):
		a.status = exitInterrupted
		return nil
	case err != nil:
		a.status = exitFailed
	}
	return err
}

// compute computes and prints the rows. It ends at the first error.
func (c *rowRun[R]) compute(a *app) (rows []R, err error) {
	for i, t := range c.tasks {
		if err := a.ctx.Err(); err != nil {
			return rows, err
		}
		a.console.Tasks(i, len(c.tasks))
		var row R
		record := any(&row)
		if c.record != nil {
			record = c.record(&row)
		}
		filled, err := a.tasks.do(i/c.together, keyOf(t.Key), record, func() (err error) {
			row, err = t.Run(a.ctx)
			return err
		})
		if err != nil {
			return rows, err
		}
		if !filled {
			continue
		}
		rows = append(rows, row)
		if c.status != nil {
			a.ended(c.status(row))
		}
		err = a.print(func(w io.Writer) error {
			return report.WriteRow(flagWriter{w}, c.document, row, len(rows) == 1)
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// task is a row that the command computes.
func task[R any](name, key string, run func() (R, error)) bench.Task[R] {
	return bench.Task[R]{Name: name, Key: key, Run: func(context.Context) (R, error) { return run() }}
}

// estimateKey encodes everything that an estimate depends on.
func estimateKey(spec *model.Spec, test loss.Test, q answer.Question) string {
	return spec.Key(q.Scheme, "estimate", q.Metrics, q.Solve.Tolerance, q.Solve.MaxSweeps, test.Name(),
		q.Level,
		q.NoPoints, q.Key())
}
