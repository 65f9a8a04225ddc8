package main

import (
	"slices"

	"bootbench/internal/loo"
)

// allMethods is the name for a comparison of the methods.
const allMethods = "all"

func looCommand() *command {
	var names []string
	for _, m := range loo.Methods() {
		names = append(names, m.String())
	}
	return &command{
		use:   "loo DATA",
		short: "Leave-one-out error of a classifier: exact, fast, bounded, approximate",
		long: `loo tells how often a classifier errs on an example that it was not trained on.

  exact    retrains without every example, starting from the training on all
  fast     the same answer; retrains without the examples that a bound leaves
           open
  xialpha  counts 2 a R^2 + xi >= 1 over dual weights a and slacks xi, from one
           training: never below exact
  approx   moves every margin as leaving out its example would if the other
           support vectors kept their sides (Opper and Winther), from one
           training; for a hard margin the limit of the analytic bootstrap at
           large ratios
  all      a table of these

The model is the one that estimate judges, with a bias unless --no-bias is given. For
the square loss the answer is the mean square of the left-out residuals, in closed
form.`,
		example: `  bootbench loo crabs --loss hinge --C 10 --method all
  bootbench loo sonar --method approx
  bootbench loo pima --loss hinge --C 1 --method xialpha --json -`,
		flags: func(o *options) {
			o.losses = []string{"hard", "hinge", "square"}
			o.modelFlags()
			o.Choice(&o.method, "method", append(slices.Clone(names), allMethods), "fast",
				"how, `METHOD`: exact, fast, xialpha, approx or all")
		},
		run: runLoo,
	}
}

// runLoo leaves out and prints.
func runLoo(a *app, o *options, data []string) error {
	p, err := a.readProblem(o, data[0])
	if err != nil {
		return err
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
	r, err := j.LeaveOneOut(a.ctx, method, o.method == allMethods)
	if err != nil {
		return err
	}
	a.spent(&r.Cost)
	a.ended(r.Status)
	g := given{document: r, warnings: r.Warnings}
	if r.Points != nil {
		g = g.withPoints(r.Points, r.Labels)
		g.csv = ""
	}
	g.figures = r.Figures()
	return a.deliver(g)
}
