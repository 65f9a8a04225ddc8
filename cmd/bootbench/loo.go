package main

import (
	"slices"

	"bootbench/internal/loo"
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
	if p.several() {
		return a.looClasses(o, p)
	}
	j, err := a.build(p)
	if err != nil {
		return err
	}
	if j.Set.Further != nil {
		return a.looTargets(o, j)
	}
	var method loo.Method
	for _, m := range loo.Methods() {
		if m.String() == o.method {
			method = m
		}
	}
	r, err := j.LeaveOneOut(a.ctx, method, o.method == allMethods)
	if err != nil {
		return err
	}
	g := given{document: r, warnings: r.Warnings, cost: &r.Cost, status: r.Status}
	if r.Points != nil {
		g = g.withPoints(r.Points, r.Labels)
		g.csv = ""
	}
	return a.deliver(g)
}
