package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"bootbench/loo"
	"bootbench/loss"
	"bootbench/report"
	"bootbench/svm"
)

// supportShare is the share of the largest dual weight from which on an
// example counts as a support vector.
const supportShare = 1e-9

// looTolerance is the violation that a training for leave-one-out may have.
const looTolerance = 1e-9

func looCommand(s *session) *cobra.Command {
	var m modelFlags
	var method string
	cmd := &cobra.Command{
		Use:   "loo DATA",
		Short: "Leave-one-out error of a classifier, from one training",
		Long: `loo estimates how often a classifier errs on an example that it was not trained
on. The method approx (Opper and Winther) trains a hard margin once and moves the
margin of every support vector as leaving it out would if the others stayed
support vectors. It is the limit of the analytic bootstrap's left-out error at
large ratios.`,
		Example: `  bootbench loo sonar
  bootbench loo crabs --gamma 0.05 --json -`,
		Args: oneData,
	}
	f := cmd.Flags()
	m.register(f)
	f.StringVar(&method, "method", "approx", "how, `METHOD`: approx, one training with a hard margin")
	s.registerOut(cmd, "")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := oneOf("method", method, "approx"); err != nil {
			return err
		}
		sub, err := s.subject(&m, &testFlags{}, args[0])
		if err != nil {
			return err
		}
		if _, hard := sub.Loss.(loss.HardMargin); !hard {
			return usagef("--method approx is for --loss hard, not for %s", sub.Loss.Name())
		}
		return s.approximateLOO(sub)
	}
	return cmd
}

// approximateLOO trains once, estimates and prints.
func (s *session) approximateLOO(sub *subject) error {
	s.bars.show("training", 0, 1)
	began := time.Now()
	trained, err := sub.TrainSVM(svm.Settings{Tolerance: looTolerance})
	if err != nil {
		return err
	}
	sub.times.Fit = time.Since(began).Seconds()
	warnings := []string{}
	if err := trained.Status.Err(); err != nil {
		s.status = exitNotConverged
		warnings = append(warnings, err.Error())
	}
	began = time.Now()
	approx, err := loo.Approximate(sub.Gram, sub.Site, sub.Set.Y, trained.Beta, trained.F, supportShare)
	if err != nil {
		return err
	}
	sub.times.Solve = time.Since(began).Seconds()
	r := &report.LeaveOneOut{
		Command: "loo", Subject: sub.report, Method: "approx",
		Error: float64(approx.Errors) / float64(sub.Set.N()), Errors: approx.Errors, Skipped: sub.Set.N(),
		SupportVectors: trained.Free + trained.Bounded, Violation: math.Max(0, trained.Violation),
		Warnings: warnings, Cost: s.cost(sub.times),
	}
	if err := s.text(func(w io.Writer) error { return r.WriteText(w) }); err != nil {
		return err
	}
	s.warn(warnings)
	if err := s.document(r); err != nil {
		return err
	}
	lead := fmt.Sprintf("Trained without it, the classifier errs on %d of %d examples.", r.Errors, r.N)
	return s.page(&report.Page{Lead: []string{lead}, Answers: []report.Answer{r}, Warnings: warnings})
}
