package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"bootbench/bench"
	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/solver"
)

func curveCommand(a *app) *cobra.Command {
	var t theoryFlags
	var ratio string
	cmd := &cobra.Command{
		Use:   "curve DATA",
		Short: "The estimate at many sizes of resamples",
		Long: `curve computes the estimate of DATA at many ratios S/N of the size of a resample
to that of DATA. Solves start from the last one, five in a row, so that order pays:
give ratios that rise or fall. Ratios are printed as they are finished, and kept when
the program is interrupted. Beside every ratio's theory stand exact resamples (--refine).

The JSON document has a list under "results", each like the document of estimate.`,
		Example: `  bootbench curve boston --ratio 0.2:5:6
  bootbench curve boston --ratio 0.25,0.5,1,2 --no-points --json curve.json
  bootbench curve houses.csv --loss square --noise 0.5 --ratio 0.2:5:8 --out results`,
		Args: oneData,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := readCurve(a, &t, args[0], ratio)
			if err != nil {
				return err
			}
			if err := a.openJournal(cmd, args, c.of.choice); err != nil {
				return err
			}
			return runCurve(a, c)
		},
	}
	t.registerSolve(a, cmd)
	cmd.Flags().StringVar(&ratio, "ratio", "0.1:5:20",
		"ratios S/N, `FROM:TO:COUNT` in equal factors or a list NU,NU,...; all above 0")
	t.scheme.registerScheme(cmd.Flags())
	t.test.registerLevel(cmd.Flags())
	registerOut(cmd, "curve.csv")
	return cmd
}

// curve is what the command is to compute.
type curve struct {
	plan    // of the next solve: its settings start from the last one's solution
	of      *problem
	job     *job
	built   *model.Model // of job, before a solve has asked for a finer factor
	last    int          // number of the ratio that was solved last
	schemes []resample.Scheme
	times   report.Times
}

// readCurve reads DATA and builds its model, to solve at a list of ratios.
func readCurve(a *app, t *theoryFlags, path, ratio string) (*curve, error) {
	p, err := t.plan()
	if err := cmp.Or(err, t.test.checkLevel()); err != nil {
		return nil, err
	}
	list, err := values.Ratios(ratio)
	if err != nil {
		return nil, err
	}
	if t.scheme.scheme == "kfold" {
		return nil, usage.Errorf("--scheme kfold has no ratio to vary; estimate takes it")
	}
	for _, ratio := range list {
		if err := t.scheme.check(ratio); err != nil {
			return nil, err
		}
	}
	of, err := readProblem(a, &t.model, &t.test, path)
	if err != nil {
		return nil, err
	}
	c := &curve{plan: p, schemes: make([]resample.Scheme, len(list))}
	for i, ratio := range list {
		if c.schemes[i], err = t.scheme.of(ratio, of.spec.Set.N()); err != nil {
			return nil, err
		}
	}
	c.of, c.last = of, -1
	if c.job, err = buildJob(a, of); err != nil {
		return nil, err
	}
	c.built = c.job.Model
	return c, nil
}

// runCurve solves at every ratio.
func runCurve(a *app, c *curve) (err error) {
	if _, err = fitAll(a, c.job); err != nil { // before the solves: all use the same scratch memory
		return err
	}
	c.times = c.job.times
	var tasks []bench.Task[report.Estimate]
	for i, scheme := range c.schemes {
		name := fmt.Sprintf("%s, ratio %v", c.job.Set.Name, scheme.Mean())
		tasks = append(tasks, task(name, c.at(scheme).estimateKey(&c.job.Spec),
			func() (report.Estimate, error) { return estimateRatio(a, c, i) }))
	}
	doc := &report.Curve{Command: "curve", Subject: c.job.report, Scheme: c.schemes[0].Name(),
		TestLoss: c.job.test.Name()}
	return runRows(a, rowRun[report.Estimate]{
		tasks: tasks, together: pathLength, document: doc, csv: "curve.csv",
		status: func(e report.Estimate) string { return e.Status },
		finish: func(results []report.Estimate, complete bool) (json any, warnings []string) {
			for _, e := range results {
				c.times.Solve += e.Time.Solve
				for _, text := range e.Warnings {
					warnings = append(warnings, fmt.Sprintf("ratio %v: %s", e.Ratio, text))
				}
			}
			doc.Results, doc.Status, doc.Cost = results, completeness(complete), a.cost(c.times)
			return doc, warnings
		},
	})
}

// completeness is the status of an answer in parts.
func completeness(complete bool) string {
	if complete {
		return "complete"
	}
	return "cancelled"
}

// pathLength is the number of ratios whose solves start from one another. The next solve
// starts anew, so that the answer does not depend on where a run was interrupted, nor on
// which ratios another process has: shards have such paths as a whole.
const pathLength = 5

// estimateRatio is the estimate at ratio number i. The solve after it starts from its solution.
func estimateRatio(a *app, c *curve, i int) (report.Estimate, error) {
	if err := followPath(a, c, i); err != nil {
		return report.Estimate{}, err
	}
	scheme := c.schemes[i]
	e, solution, err := estimateAt(a, c.job, c.at(scheme), c.label(i))
	if err != nil {
		return report.Estimate{}, err
	}
	if solution.Status == solver.Cancelled {
		return *e, a.ctx.Err() // half a solve is none to keep
	}
	c.solved(i, solution)
	return *e, nil
}

// followPath has the solve at ratio number i start where its path leads to: ratios that were
// looked up are solved again.
func followPath(a *app, c *curve, i int) (err error) {
	if i%pathLength == 0 {
		c.last, c.settings.From = i-1, nil
		if c.job.Model != c.built {
			c.job.Model = c.built
			_, err = fitAll(a, c.job)
		}
	}
	if c.last == i-1 || err != nil {
		return err
	}
	if err := followPath(a, c, i-1); err != nil {
		return err
	}
	solution, err := solveTheory(a, c.job, c.at(c.schemes[i-1]), c.label(i-1))
	if err == nil && solution.Status == solver.Cancelled {
		err = a.ctx.Err()
	}
	if err == nil {
		c.solved(i-1, solution)
	}
	return err
}

// solved notes where the next solve starts.
func (c *curve) solved(i int, solution *solver.Solution) {
	c.last, c.settings.From = i, nil
	if solution.Status == solver.Converged {
		c.settings.From = solution
	}
}

func (c *curve) label(i int) string {
	return fmt.Sprintf("ratio %.4g, %d of %d", c.schemes[i].Mean(), i+1, len(c.schemes))
}
