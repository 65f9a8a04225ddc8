package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"bootbench/report"
	"bootbench/resample"
	"bootbench/solver"
)

func curveCommand(s *session) *cobra.Command {
	var m modelFlags
	var r schemeFlags
	var v solverFlags
	var t testFlags
	var ratio string
	cmd := &cobra.Command{
		Use:   "curve DATA",
		Short: "The estimate at many sizes of resamples",
		Long: `curve computes the estimate of DATA at many ratios S/N of the size of a resample
to that of DATA. Every solve starts from the last one, so that order pays: give
ratios that rise or fall. Ratios are printed as they are finished, and kept when
the program is interrupted; with --checkpoint and --resume those that are finished
are not solved again.

The JSON document has a list under "results", each like the document of estimate.`,
		Example: `  bootbench curve boston --ratio 0.2:5:6
  bootbench curve boston --ratio 0.25,0.5,1,2 --no-points --json curve.json
  bootbench curve boston --ratio 0.5,1,2 --checkpoint curve.checkpoint --resume --quiet
  bootbench curve houses.csv --loss square --noise 0.5 --ratio 0.2:5:8 --out results`,
		Args: oneData,
	}
	m.register(cmd.Flags())
	cmd.Flags().StringVar(&ratio, "ratio", "0.1:5:20", "ratios S/N, `FROM:TO:COUNT` in equal factors or a list NU,NU,...; all above 0")
	r.registerScheme(cmd.Flags())
	t.register(cmd.Flags())
	t.registerLevel(cmd.Flags())
	v.register(cmd.Flags())
	v.registerTrace(s, cmd.Flags())
	m.registerEngine(cmd.Flags())
	s.registerCheckpoint(cmd)
	s.registerOut(cmd, "curve.csv")
	s.study.register(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		settings, err := v.settings()
		if err != nil {
			return err
		}
		if err := t.checkLevel(); err != nil {
			return err
		}
		list, err := ratios(ratio)
		if err != nil {
			return err
		}
		if r.scheme == "kfold" {
			return usagef("--scheme kfold has no ratio to vary; estimate takes it")
		}
		for _, ratio := range list {
			if err := r.check(ratio); err != nil {
				return err
			}
		}
		s.checkpoint.aboutCurve(settings, &r, list, &t)
		sub, err := s.subject(&m, &t, args[0])
		if err != nil {
			return err
		}
		schemes := make([]resample.Scheme, len(list))
		for i, ratio := range list {
			if schemes[i], err = r.of(ratio, sub.Set.N()); err != nil {
				return err
			}
		}
		if err := s.split(); err != nil {
			return err
		}
		return s.curve(sub, schemes, settings, &t)
	}
	return cmd
}

// curve solves at every ratio, prints each as it is finished, and writes all.
func (s *session) curve(sub *subject, schemes []resample.Scheme, settings solver.Settings, t *testFlags) error {
	fitted, err := s.fit(sub) // before the solves: all use the same scratch memory
	if err != nil {
		return err
	}
	c := &report.Curve{Command: "curve", Subject: sub.report, Scheme: schemes[0].Name(), TestLoss: sub.test.Name(), Status: "complete"}
	var table *report.StreamTable[report.Estimate]
	err = s.text(func(w io.Writer) error {
		table, err = report.NewStreamTable(w, c)
		return err
	})
	if err != nil {
		return err
	}
	times := sub.times
	for i, scheme := range schemes {
		label := fmt.Sprintf("ratio %.4g, %d of %d", scheme.Mean(), i+1, len(schemes))
		var e *report.Estimate
		var solution *solver.Solution
		filled, err := s.study.Do(i, solveKey(&sub.Spec, scheme, settings, t), &e, func() (err error) {
			if e = s.checkpoint.result(i); e != nil {
				return nil
			}
			e, solution, err = s.estimateAt(sub, scheme, settings, fitted, label, t)
			if err == nil && solution.Status == solver.Cancelled {
				return s.ctx.Err() // half a solve is none to keep
			}
			return err
		})
		if s.isInterrupt(err) || s.status == exitInterrupted {
			c.Status = "cancelled"
			break
		}
		if err != nil {
			return err
		}
		if !filled {
			continue
		}
		if e.Status != solver.Converged.String() && s.status == exitDone {
			s.status = exitNotConverged
		}
		settings.From = s.next(e, solution)
		times.Solve += e.Time.Solve
		c.Results = append(c.Results, *e)
		if err := s.text(func(io.Writer) error { return table.Row(*e) }); err != nil {
			return err
		}
	}
	if c.Status == "complete" && s.study.partial() {
		return s.told()
	}
	if err := s.study.complete(); err != nil {
		return err
	}
	if len(c.Results) == 0 {
		return s.ctx.Err()
	}
	c.Cost = s.cost(times)
	return s.endCurve(c, table)
}

// next is the solution that the solve after this one starts from. Parts of a study
// start every solve anew: what they find must not depend on which others they have.
func (s *session) next(e *report.Estimate, solution *solver.Solution) *solver.Solution {
	switch {
	case s.study.store != nil:
		return nil
	case solution == nil:
		return s.checkpoint.start()
	case solution.Status != solver.Converged:
		solution = nil
	}
	s.checkpoint.finish(e, solution)
	return solution
}

// endCurve prints and writes what was finished.
func (s *session) endCurve(c *report.Curve, table *report.StreamTable[report.Estimate]) error {
	if err := s.text(func(io.Writer) error { return table.End() }); err != nil {
		return err
	}
	if err := s.document(c); err != nil {
		return err
	}
	if err := s.file("curve.csv", c.WriteCSV); err != nil {
		return err
	}
	var warnings []string
	for _, e := range c.Results {
		for _, text := range e.Warnings {
			warnings = append(warnings, fmt.Sprintf("ratio %v: %s", e.Ratio, text))
		}
	}
	err := s.page(&report.Page{
		Answers: []report.Document{c}, Warnings: warnings, Files: []string{"curve.csv"}, Figures: c.Figures(),
	})
	if err != nil {
		return err
	}
	s.warn(warnings)
	if c.Status == "cancelled" {
		s.interrupted()
	}
	return nil
}
