package answer

import (
	"context"
	"errors"
	"fmt"

	"bootbench/internal/dataset"
	"bootbench/internal/loo"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
)

// Machine is what questions are put to: a model of one target (Job), or models of several classes (Classes)
// or several targets (Targets) on one kernel matrix.
type Machine interface {
	// First is of the first class or target; its Progress, Keep and Subject are those of all.
	First() *Job
	About() report.Subject // what all of them model
	Estimate(ctx context.Context, s Settings) (report.Answer, error)
	CrossValidate(ctx context.Context, v Validation) (report.Answer, error)
	Retrain(ctx context.Context, how Retraining) (report.Answer, error)
	// LeaveOneOut is by a method, or by all of them: of one target; of several by exact fits.
	LeaveOneOut(ctx context.Context, method loo.Method, all bool) (report.Answer, error)
	// Predict is by the theory of one target; of several by a model that is trained once.
	Predict(ctx context.Context, in *dataset.Inputs, s Settings) (report.Answer, error)
	Train(ctx context.Context) (*model.Predictor, error)
}

// RowJudge is a Machine that says of every example what models without it say of its target.
type RowJudge interface {
	Rows(ctx context.Context, s Settings) (*report.Rows, error)
}

// Build builds the machine of a specification: by its set one of one target, to be judged by a test loss, nil
// for the one that suits it, or of several classes or targets; of classes whose pairs vote, if it is so said.
func Build(spec model.Spec, test loss.Test, pairs bool) (Machine, error) {
	if spec.Set.Task == dataset.Several {
		c, err := NewClasses(spec)
		if err == nil && pairs {
			c = c.ByPairs()
		}
		return c, err
	}
	several := spec.Set.Further != nil
	if square := (loss.SquareTest{}).Name(); several && test != nil && test.Name() != square {
		return nil, model.InputError(fmt.Errorf("errors of several targets are squares, not %s", test.Name()))
	}
	j, err := New(spec, test)
	if several {
		return &Targets{j}, err
	}
	return j, err
}

// each asks one classifier or target after the other. ErrElsewhere of some ends it once all have made their
// fits.
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
func IsJoint(set *dataset.Set) bool { return set.Task == dataset.Several || set.Further != nil }

// AsValidation is an answer of CrossValidate as that about one target.
func AsValidation(r report.Answer) *report.CrossValidation {
	if v, single := r.(*report.CrossValidation); single {
		return v
	}
	e := r.(report.Judgement).Judged()
	v := &report.CrossValidation{Command: "cv", Subject: e.Subject, TestLoss: e.TestLoss,
		Quote: report.Quote{Error: e.Error, ErrorSE: &e.Quality.ExampleSE}, ErrorSEOver: "examples",
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
