package answer

import (
	"context"
	"errors"
	"fmt"

	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// Machine computes answers: a model of one target (Job), or models of several classes (Classes) or several
// targets (Targets) on one kernel matrix.
type Machine interface {
	// First is the job of the first class or target; its Progress, Keep and Subject are common to all.
	First() *Job
	About() report.Subject
	Estimate(ctx context.Context, s Settings) (report.Answer, error)
	CrossValidate(ctx context.Context, v Validation) (report.Answer, error)
	Retrain(ctx context.Context, how Retraining) (report.Answer, error)
	// LeaveOneOut uses a method, or all of them, for one target; exact fits for several.
	LeaveOneOut(ctx context.Context, method leaveout.Method, all bool) (report.Answer, error)
	// Predict uses the theory for one target; a model trained once for several.
	Predict(ctx context.Context, in *dataset.Inputs, s Settings) (report.Answer, error)
	Train(ctx context.Context) (*model.Predictor, error)
}

// RowJudge is a Machine that compares every example with the predictions of models without it.
type RowJudge interface {
	Rows(ctx context.Context, s Settings) (*report.Rows, error)
}

// Build builds the machine of a specification: of one target, with a test loss, nil for the default, or of
// several classes or targets, by its set; pairs: pairs of classes vote.
func Build(ctx context.Context, spec model.Spec, test loss.Test, pairs bool) (Machine, error) {
	if len(spec.Set.Levels()) > 2 {
		c, err := NewClasses(ctx, spec)
		if err == nil && pairs {
			c = c.ByPairs()
		}
		return c, err
	}
	several := len(spec.Set.Columns) > 1
	if square := (loss.SquareTest{}).Name(); several && test != nil && test.Name() != square {
		return nil, model.InputError(fmt.Errorf("errors of several targets are squares, not %s", test.Name()))
	}
	j, err := New(ctx, spec, test)
	if several {
		return &Targets{j}, err
	}
	return j, err
}

// each calls ask for one classifier or target after the other. It returns ErrElsewhere only after all have
// made their fits.
func each[T any](all []T, ask func(i int, one T) error) error {
	var elsewhere error
	for i, one := range all {
		err := ask(i, one)
		if errors.Is(err, ErrElsewhere) {
			elsewhere, err = err, nil
		}
		if err != nil {
			return err
		}
	}
	return elsewhere
}

// IsJoint reports whether a data set has several classes or targets.
func IsJoint(set *dataset.Set) bool { return len(set.Levels()) > 2 || len(set.Columns) > 1 }

// AsValidation converts an answer of CrossValidate to that of one target.
func AsValidation(r report.Answer) *report.CrossValidation {
	if v, single := r.(*report.CrossValidation); single {
		return v
	}
	e := r.(report.Judgement).Judged()
	v := &report.CrossValidation{Command: "cv", Subject: e.Subject, TestLoss: e.TestLoss,
		Quote: e.Quote, ErrorSEOver: "examples",
		Draws: report.Draws{Status: e.Status}, Quality: e.Quality, Points: &report.Points{Error: e.Examples.Each},
		Outcome: e.Outcome}
	switch a := r.(type) {
	case *report.Classes:
		v.Folding = a.Folding
	case *report.Targets:
		v.Folding = a.Targets[a.Names[0]].(*report.CrossValidation).Folding
	}
	return v
}
