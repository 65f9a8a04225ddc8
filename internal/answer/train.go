package answer

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/dataset"
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
	Passes     int     // of the perceptron over the rows at most; 0: DefaultPasses
	// Bare leaves out left-out predictions, from which a model file has intervals and probabilities.
	Bare bool
	// Uncorrected leaves out intervals and sets of up to mostChosen rows that chose the model.
	Uncorrected bool
}

// DefaultPasses is the default of Training.Passes; the perceptron ends with one without a mistake.
const DefaultPasses = 100

// Train trains a function on all its rows and returns its predictor.
func Train(ctx context.Context, m *model.Model) (*model.Predictor, error) {
	p, fit, err := trainOn(ctx, m, Training{})
	if err != nil {
		return nil, err
	}
	return p, fit.Status.Err()
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

// perceptron trains by that rule: in the primal form where there is no kernel matrix.
func perceptron(ctx context.Context, s *Study, r *report.Training, passes int) (*model.Predictor, error) {
	var learned *svm.Perceptron
	m := s.Model
	if passes = cmp.Or(passes, DefaultPasses); m.Spec.Storage == model.Primal {
		learned = svm.TrainPrimal(ctx, m.Set.Sparse.Gather(m.First), m.Kernel.Amplitude, m.Kernel.Constant,
			m.Site, m.Y, passes)
	} else {
		k, err := m.Dense()
		if err != nil {
			return nil, err
		}
		rows, err := svm.NewRows(k)
		if err != nil {
			return nil, err
		}
		learned = svm.TrainPerceptron(ctx, rows, m.Site, m.Y, passes)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if floats.Norm(learned.Weight, math.Inf(1)) == 0 {
		return nil, model.InputError(fmt.Errorf("the weights of the perceptron are all 0 after %d passes, "+
			"which a model file cannot hold", len(learned.Mistakes)))
	}
	r.Subject.Loss, r.Status = "perceptron", train.Converged.String()
	r.Perceptron = &report.Perceptron{Form: "dual", Mistakes: learned.Mistakes}
	if learned.W != nil {
		r.Perceptron.Form, r.Perceptron.Constant = "primal", report.NumberOf(learned.Constant)
		for j, w := range learned.W {
			if w != 0 {
				r.Perceptron.Features = append(r.Perceptron.Features, j+1)
				r.Perceptron.Weights = append(r.Perceptron.Weights, w)
			}
		}
	}
	if !learned.Converged() {
		r.Status = fmt.Sprintf("pass limit of %d", len(learned.Mistakes))
		r.Add(report.NotConverged.Check(float64(len(learned.Mistakes)), "take Spec.Loss hinge", "the "+
			"perceptron still makes mistakes in pass %d: the classes may not be separable",
			len(learned.Mistakes)))
	}
	return s.Model.Predictor(&learned.Result)
}

// Train trains every function on all data, with intervals, probabilities (not of pairs of classes) and sets.
// Training that did not converge is an error.
func (s *Study) Train(ctx context.Context, how Training) (*model.Predictor, error) {
	p, r, err := s.TrainBy(ctx, how)
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
			one, err = perceptron(ctx, s, r, how.Passes)
		} else if one, fit, err = trainOn(ctx, p.model, how); err == nil && fit.Status.Err() != nil {
			r.Status = fit.Status.String()
			r.Add(report.NotConverged.Check(1, "take another tolerance or loss", "%v", fit.Status.Err()))
		}
		s.Times.Fit += time.Since(began).Seconds()
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, nil, wrap(p, err)
		}
		if fit != nil && fit.SVM != nil && !s.several() {
			r.Bounded, r.Violation = &fit.SVM.Bounded, report.NumberOf(fit.SVM.Violation)
			r.Support = supportOf(p.model, fit.SVM)
		}
		r.SupportVectors += len(one.Weight)
		one.Loss = r.Subject.Loss
		all = append(all, one)
	}
	if !how.Perceptron && !how.Bare {
		if err := s.addLeftOut(ctx, all, how, &r.Findings); err != nil {
			return nil, nil, err
		}
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

// supportOf are the rows of a model with a dual weight.
func supportOf(m *model.Model, fit *svm.Result) *report.Support {
	s := &report.Support{}
	for i, alpha := range fit.Alpha {
		if alpha == 0 {
			continue
		}
		s.Rows, s.Alpha = append(s.Rows, i+1), append(s.Alpha, alpha)
		s.Slack = append(s.Slack, math.Max(0, 1-m.Y[i]*fit.F[m.Site[i]]))
		if m.Set.RowNames != nil {
			s.Names = append(s.Names, m.Set.RowNames[i])
		}
	}
	return s
}

// addLeftOut adds the calibration of intervals, probabilities and sets to the predictors of all functions:
// for the square loss its rows, else what errors at rows outside a sample, or without each of ten folds,
// tell. The findings say why there is none.
func (s *Study) addLeftOut(ctx context.Context, all []*model.Predictor, how Training,
	f *report.Findings) error {
	set := s.Model.Set
	corrects := !how.Uncorrected || !s.choosesAgain()
	if rows := s.trainingRows(all); rows != nil {
		if corrects {
			f.Add(s.choose(ctx, 0)...)
		}
		for k := 0; k < len(all) && corrects; k++ {
			rows[k].Choice = s.choice[k]
			all[k].LeftOut = &model.LeftOut{Examples: len(rows[k].Target), Rows: rows[k]}
		}
		return ctx.Err()
	}
	fields, in, err := s.newFields(ctx, all)
	for k := 0; k < len(all) && err == nil && !s.Model.Spec.Pairs; k++ {
		all[k].LeftOut, err = model.NewLeftOut(s.part(k).targetsOf(in), fields[k], in)
	}
	if err == nil && s.choosesAgain() && s.Others == nil && corrects && !set.AreNumbers() {
		var a *chosenAgain
		if a, err = s.chooseAgain(ctx, 0); err == nil {
			fields = a.chosen.fields
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && s.Measure.ByProbability():
		return fmt.Errorf("no threshold for %v: %w", s.Measure, err)
	case err != nil:
		f.Add(notComputed("the model file has no intervals, probabilities or sets: %v", err))
		return nil
	case set.AreNumbers():
		return nil
	case all[0].LeftOut == nil: // pairs of classes have no probabilities
		all[0].LeftOut = &model.LeftOut{Examples: in.N()}
	case s.Measure.ByProbability():
		threshold := s.Measure.Threshold()
		all[0].LeftOut.Threshold = &threshold
	}
	if s.classes() {
		fields = scoresBy(s.decision(), fields)
	}
	below := make([]float64, in.N())
	for i := range below {
		below[i] = -margins(fields, i)[int(in.Columns[0].Y[i])]
	}
	if corrects {
		all[0].LeftOut.SetResiduals(below, in)
	}
	return nil
}

// trainingRows are what predictors of the square loss remember of the rows; nil if one cannot.
func (s *Study) trainingRows(all []*model.Predictor) (rows []*model.TrainingRows) {
	for k := 0; k < len(all) && s.Model.Set.N() <= leftOutRows; k++ {
		rows = append(rows, s.part(k).model.TrainingRows(all[k]))
	}
	if slices.Contains(rows, nil) {
		return nil
	}
	return rows
}

// newFields are the predictions of all functions for rows of in by models without these: of predictors at
// rows outside a sample, else without each of ten folds.
func (s *Study) newFields(ctx context.Context, all []*model.Predictor) (f [][]float64, in *dataset.Inputs,
	err error) {
	if s.Others != nil {
		in = s.Others.Head(heldOut)
		f, err = predictionsBy(all, in)
		return f, in, err
	}
	if in = s.Model.Set; in.N() > leftOutRows {
		return nil, in, fmt.Errorf("of more than %d examples they take too long", leftOutRows)
	}
	f, err = s.leftOutFields(ctx, tenFolds(in))
	return f, in, err
}

// leftOutFields are the predictions of all functions for every row by models without its fold.
func (s *Study) leftOutFields(ctx context.Context, v Validation) ([][]float64, error) {
	f, err := s.folded(v)
	if err != nil {
		return nil, err
	}
	all, err := s.leaveOut(ctx, &v, f.rows)
	if err != nil {
		return nil, err
	}
	return all[0].fields, nil
}
