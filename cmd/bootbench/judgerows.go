package main

import (
	"bootbench/internal/report"
)

func rowsCommand() *command {
	return &command{name: "rows", takes: append([]string{"ratio", "csv", "scheme"}, theoryNames...),
		out: ", rows.csv",
		run: judgeRows, classes: true}
}

// judgeRows reads DATA and prints its rows, those that a look is worth first.
func judgeRows(a *app, o *options, data []string) error {
	if err := o.checkTheory(); err != nil {
		return err
	}
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
	}
	r, err := a.rows(o, p)
	if err != nil {
		return a.orElsewhere(err)
	}
	return a.deliver(given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status, csv: "rows.csv",
		writeCSV: r.WriteCSV})
}

// rows judges the rows of a problem.
func (a *app) rows(o *options, p *problem) (*report.Rows, error) {
	if !p.several() {
		j, s, err := a.solvable(o, p)
		if err != nil {
			return nil, err
		}
		return j.Rows(a.ctx, s)
	}
	c, s, err := a.solvableClasses(o, p)
	if err != nil {
		return nil, err
	}
	return c.Rows(a.ctx, s)
}
