package main

import (
	"runtime"
	"slices"

	"bootbench/internal/answer"
	"bootbench/internal/loo"
	"bootbench/internal/report"
)

// allMethods is the name for a comparison of the methods.
const allMethods = "all"

func looCommand() *command {
	return &command{
		name: "loo",
		takes: append([]string{"method/loo"}, slices.DeleteFunc(slices.Clone(problemNames),
			func(name string) bool { return name == "epsilon" || name == "delta" })...),
		losses: []string{"hard", "hinge", "square"},
		run:    runLoo, classes: true,
	}
}

// runLoo leaves out and prints.
func runLoo(a *app, o *options, data []string) error {
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
	}
	if p.joint() {
		return a.answerJoint(p, func(j answer.Joint) (report.Joint, error) {
			return j.LeaveOneOut(a.ctx, runtime.GOMAXPROCS(0))
		})
	}
	j, err := a.build(p)
	if err != nil {
		return err
	}
	var method loo.Method
	for _, m := range loo.Methods() {
		if m.String() == o.method {
			method = m
		}
	}
	return a.answer(sheet(j.LeaveOneOut(a.ctx, method, o.method == allMethods)))
}
