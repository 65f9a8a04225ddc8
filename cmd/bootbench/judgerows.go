package main

import (
	"bootbench/internal/answer"
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
	if p.joint() {
		s, err := a.asked(o, p)
		if err != nil {
			return err
		}
		j, err := a.buildJoint(p)
		if err != nil {
			return err
		}
		if err := a.keepJoint(j, p.choice); err != nil {
			return err
		}
		return a.answer(sheet(j.(*answer.Classes).Rows(a.ctx, s)))
	}
	j, s, err := a.solvable(o, p)
	if err != nil {
		return err
	}
	return a.answer(sheet(j.Rows(a.ctx, s)))
}
