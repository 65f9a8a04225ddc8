package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/train"
	"bootbench/train/machine"
	"bootbench/train/svm"
)

// leftOutRows is the number of examples up to which a trained model is also cross-validated.
const leftOutRows = 5000

// Training is how a model of all rows is trained.
type Training struct {
	Tolerance  float64 // of margin losses; 0: the default of the trainer
	Perceptron bool    // by that rule instead of the loss
	// Bare leaves out the predictions for left-out rows, from which a model file has its intervals and
	// probabilities.
	Bare bool
}

// passes is the largest number of the perceptron's passes over the rows; it ends with one without a mistake.
const passes = 100

// Train trains a function on all its rows and returns its predictor.
func Train(ctx context.Context, m *model.Model) (*model.Predictor, error) {
	p, fit, err := trainOn(ctx, m, Training{})
	if err == nil {
		err = fit.Status.Err()
	}
	return p, err
}

// trainOn is Train, which may not converge.
func trainOn(ctx context.Context, m *model.Model, how Training) (*model.Predictor, *machine.Result, error) {
	fit, err := m.Fit(ctx, how.Tolerance)
	if err == nil && fit.Status == train.Diverged {
		err = fit.Status.Err()
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, nil, err
	}
	p, err := m.Predictor(&fit.Result)
	return p, fit, err
}

// perceptron trains by that rule.
func perceptron(ctx context.Context, s *Study, r *report.Training) (*model.Predictor, error) {
	k, err := s.Model.Dense()
	if err != nil {
		return nil, err
	}
	rows, err := svm.NewRows(k)
	if err != nil {
		return nil, err
	}
	learned := svm.TrainPerceptron(ctx, rows, s.Model.Site, s.Model.Y, passes)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if floats.Norm(learned.Weight, math.Inf(1)) == 0 {
		return nil, model.InputError(fmt.Errorf("the weights of the perceptron are all 0 after %d passes, "+
			"which a model file cannot hold", len(learned.Mistakes)))
	}
	r.Subject.Loss, r.Status = "perceptron", train.Converged.String()
	r.Perceptron = &report.Perceptron{Form: "dual", Mistakes: learned.Mistakes}
	if !learned.Converged() {
		r.Status = "pass limit"
		r.Add(report.NotConverged.Check(float64(len(learned.Mistakes)), "take Spec.Loss hinge", "the "+
			"perceptron still makes mistakes in pass %d: the classes may not be separable",
			len(learned.Mistakes)))
	}
	return s.Model.Predictor(&learned.Result)
}

// Train trains every function on all data. The predictors have intervals or probabilities, but for pairs of
// classes.
func (s *Study) Train(ctx context.Context) (*model.Predictor, error) {
	p, r, err := s.TrainBy(ctx, Training{})
	if err == nil && !report.Done(r.Status) {
		err = fmt.Errorf("training: %s", r.Status)
	}
	return p, err
}

// TrainBy is Train with a report. Training that did not converge is a warning.
func (s *Study) TrainBy(ctx context.Context, how Training) (*model.Predictor, *report.Training, error) {
	r := &report.Training{Command: "train", Subject: s.Subject, Bias: s.Model.Bias}
	r.Remark(s.Model.Warnings()...)
	if len(s.Model.Set.Columns) > 1 { // each in its unit
		r.Subject.Model = nil
	}
	var all []*model.Predictor
	for _, p := range s.parts() {
		began := time.Now()
		var one *model.Predictor
		var fit *machine.Result
		var err error
		if how.Perceptron {
			one, err = perceptron(ctx, s, r)
		} else if one, fit, err = trainOn(ctx, p.model, how); err == nil && fit.Status.Err() != nil {
			r.Status = fit.Status.String()
			r.Add(report.NotConverged.Check(1, "take another tolerance or loss", "%v", fit.Status.Err()))
		}
		s.Times.Fit += time.Since(began).Seconds()
		if err == nil && !how.Perceptron && !how.Bare {
			err = p.addLeftOut(ctx, one, &r.Findings)
		}
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, nil, wrap(p, err)
		}
		if fit != nil && fit.SVM != nil && !s.several() {
			r.Bounded, r.Violation = &fit.SVM.Bounded, report.NumberOf(fit.SVM.Violation)
		}
		r.SupportVectors += len(one.Weight)
		one.Loss = r.Subject.Loss
		all = append(all, one)
	}
	first := all[0]
	if first.Others = all[1:]; s.several() {
		first.Encoding = s.Model.Set.Encoding()
	}
	if s.Model.Spec.Pairs {
		first.Pairs = s.Model.Order
	}
	if left := first.LeftOut; left != nil && left.Threshold != nil {
		r.Threshold = report.NumberOf(*left.Threshold)
	}
	r.Status, r.TestLoss = cmp.Or(r.Status, first.Training.Status), first.Training.TestLoss
	r.Apparent, r.Time = report.Number(first.Training.Apparent), s.Times
	if s.classes() || r.Threshold != nil {
		in, err := PredictBy(first, s.Model.Set, loss.ZeroOne{}, &Question{})
		if err != nil {
			return nil, nil, err
		}
		r.Apparent = *in.TestError
	}
	return first, r, nil
}

// addLeftOut adds the calibration of intervals and probabilities to the predictor of a part: for the square
// loss its rows, else its errors at rows outside a sample, or of models trained without each of 10 folds. The
// findings say why there is none.
func (p *part) addLeftOut(ctx context.Context, to *model.Predictor, f *report.Findings) (err error) {
	s, set, measure := p.study, p.model.Set, p.study.Measure
	rows := (*model.TrainingRows)(nil)
	if set.N() <= leftOutRows {
		rows = p.model.TrainingRows(to)
	}
	switch {
	case s.Model.Spec.Pairs:
		return nil
	case rows != nil:
		f.Add(s.choose(ctx, 0)...)
		rows.Choice = s.choice[p.number]
		to.LeftOut = &model.LeftOut{Examples: len(rows.Target), Rows: rows}
	case s.Others != nil:
		in := s.Others.Head(heldOut)
		var at []float64
		if at, err = to.Predict(in); err == nil {
			to.LeftOut, err = model.NewLeftOut(p.targetsOf(in), at, in)
		}
	case set.N() > leftOutRows:
		err = fmt.Errorf("of more than %d examples they take too long", leftOutRows)
	default:
		v := tenFolds(set)
		var folds partition
		if folds, err = v.folds(set); err != nil {
			break
		}
		var r *model.Retraining
		r, err = v.fits(ctx, p, folds.Period(), v.settings(p, folds), nil)
		if err == nil && ctx.Err() == nil {
			to.LeftOut, err = model.NewLeftOut(p.targets(), p.inUnit(r.OutOfBag), set)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && measure.ByProbability():
		return fmt.Errorf("no threshold for %v: %w", measure, err)
	case err != nil:
		f.Add(notComputed("the model file has no intervals or probabilities: %v", err))
	case measure.ByProbability():
		threshold := measure.Threshold()
		to.LeftOut.Threshold = &threshold
	}
	return nil
}
