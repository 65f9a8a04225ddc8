package main

import (
	"context"
	"io"

	"bootbench/bench"
	"bootbench/internal/report"
)

// rowRun is a command whose answer is a table: it computes the rows one by one,
// prints each as it is finished, and delivers what there is at the end, which may
// have come before the last row.
type rowRun[R any] struct {
	tasks    []bench.Task[R]
	together int                   // so many tasks in a row are dealt to one shard; 0: each on its own
	document report.RowDocument[R] // what the rows belong to
	csv      string                // name of the file of rows
	status   func(row R) string    // of its solve; nil: it does not count
	record   func(row *R) any      // what a journal keeps of a row, pointers; nil: its JSON
	// finish fills the document, and returns what is its JSON form, and the warnings.
	finish func(rows []R, complete bool) (json any, warnings []string)
}

// runRows runs the command: all rows, or those of this shard.
func runRows[R any](a *app, c rowRun[R]) error {
	for i, t := range c.tasks {
		a.tasks.require(c.number(i), t.Name, keyOf(t.Key))
	}
	if len(a.tasks.missing) > 0 && a.tasks.merging {
		_, err := a.ended(nil)
		return err
	}
	rows, err := c.compute(a)
	if err == nil {
		if done, err := a.ended(nil); done {
			return err
		}
	} else if len(rows) == 0 || a.tasks.sharded() {
		return err
	}
	json, warnings := c.finish(rows, err == nil)
	d := c.document
	delivered := a.deliver(answer{
		text: func(w io.Writer) error { return report.WriteEnd(w, d) }, document: json,
		csv: c.csv, writeCSV: d.WriteCSV,
		warnings: warnings,
		page:     report.Page{Lead: d.Lead(), Answers: []report.Document{d}, Figures: d.Figures()},
	})
	switch {
	case delivered != nil:
		return delivered
	case a.isInterrupt(err):
		a.interrupted()
		return nil
	case err != nil:
		a.status = exitFailed
	}
	return err
}

// compute computes the rows and prints each as it is finished.
// It ends with the first that fails.
func (c *rowRun[R]) compute(a *app) (rows []R, err error) {
	for i, t := range c.tasks {
		if err := a.ctx.Err(); err != nil {
			return rows, err
		}
		var row R
		record := any(&row)
		if c.record != nil {
			record = c.record(&row)
		}
		filled, err := a.tasks.do(c.number(i), keyOf(t.Key), record, func() (err error) {
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
			a.notConverged(c.status(row))
		}
		err = a.text(func(w io.Writer) error {
			if len(rows) == 1 {
				if err := report.WriteHead(w, c.document); err != nil {
					return err
				}
			}
			return report.WriteRow(w, c.document, row)
		})
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// number is by what task i is dealt to shards.
func (c *rowRun[R]) number(i int) int { return i / max(1, c.together) }

// task is a row that a command computes itself.
func task[R any](name, key string, run func() (R, error)) bench.Task[R] {
	return bench.Task[R]{Name: name, Key: key, Run: func(context.Context) (R, error) { return run() }}
}
