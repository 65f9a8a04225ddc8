package answer

import (
	"context"
	"fmt"
	"slices"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/predict"
	"bootbench/internal/report"
	"bootbench/loss"
)

// leftOutRows is the number of examples up to which a trained model is also cross-validated.
const leftOutRows = 5000

// AddLeftOut adds the calibration of intervals and probabilities to a predictor, from its predictions at rows
// outside a sample, or from models trained without each of 10 folds. note says why there is none.
func (j *Job) AddLeftOut(ctx context.Context, p *model.Predictor) (note string, err error) {
	var r *report.CrossValidation
	switch in := j.Others; {
	case in != nil && len(j.Functions) == 1:
		var f []float64
		in = in.Head(heldOut)
		if f, err = p.Predict(in); err == nil {
			p.LeftOut, err = model.NewLeftOut(in.Targets(0), f, in)
		}
	case j.Set.N() > leftOutRows:
		return fmt.Sprintf("the model file has no intervals or probabilities: of more than %d examples they take "+
			"too long", leftOutRows), nil
	default:
		if r, err = j.validate(ctx, tenFolds(j.Set)); err == nil && ctx.Err() == nil {
			p.LeftOut, err = model.NewLeftOut(r.Points.Target, r.Points.Mean, j.Set)
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return fmt.Sprintf("the model file has no intervals or probabilities: %v", err), nil
	}
	return "", nil
}

// Train trains a model on all data and returns its predictor.
func Train(ctx context.Context, m *model.Model) (*model.Predictor, error) {
	return trainWeighted(ctx, m, nil)
}

// trainWeighted trains a model with weights, nil for those of its set.
func trainWeighted(ctx context.Context, m *model.Model, weight []float64) (*model.Predictor, error) {
	fit, err := m.Fit(ctx, model.FitSettings{Weight: weight})
	if err == nil {
		err = fit.Status.Err()
	}
	if err != nil {
		return nil, err
	}
	return m.Predictor(fit)
}

// Train implements Machine; the predictor has intervals and probabilities.
func (j *Job) Train(ctx context.Context) (*model.Predictor, error) {
	p, err := Train(ctx, j.Model)
	if err == nil {
		_, err = j.AddLeftOut(ctx, p)
	}
	return p, err
}

// trainedAt trains a machine and predicts by its model.
func trainedAt(ctx context.Context, m Machine, in *dataset.Inputs, s Settings) (report.Answer, error) {
	p, err := m.Train(ctx)
	if err != nil {
		return nil, err
	}
	return PredictByModel(p, in, m.First().Test, s)
}

// PredictByModel is the answer of a trained model at new inputs, with errors if these have targets, intervals
// for new targets if the model has left-out residuals, and probabilities of labels if it has a curve.
func PredictByModel(p *model.Predictor, in *dataset.Inputs, test loss.Test, s Settings) (report.ByModel,
	error) {
	switch {
	case len(p.Encoding.Targets[0].Levels) > 2:
		return PredictClasses(p, in)
	case len(p.Encoding.Targets) > 1:
		return PredictTargets(p, in, s)
	}
	return predictTarget(p, in, test, s)
}

// atInputs begins an answer at new inputs.
func atInputs(in *dataset.Inputs) report.AtInputs {
	return report.AtInputs{Command: "predict", Test: in.Name, Count: in.N()}
}

// predictTarget is PredictByModel for one target.
func predictTarget(p *model.Predictor, in *dataset.Inputs, test loss.Test, s Settings) (
	*report.ModelPrediction, error) {
	f, err := p.Predict(in)
	if err != nil {
		return nil, err
	}
	e := p.Encoding
	points := &report.Points{Names: in.RowNames, Prediction: f, Mean: f}
	r := &report.ModelPrediction{
		AtInputs: atInputs(in), Points: points, Outcome: report.Outcome{Warnings: slices.Clone(in.Notes)},
		TrainedOn: report.TrainedOn{Data: e.Name, N: p.Training.Examples, D: e.Features,
			Task:   predicted(e).Task(),
			Target: e.Targets[0].Name, Labels: report.LabelsOf(&e.Targets[0]), Loss: p.Loss, Kernel: p.Kernel,
			SupportVectors: len(p.Weight)},
	}
	if !predicted(e).AreNumbers() {
		r.Positive = r.Labels.Name(1)
		for _, v := range f {
			points.Class = append(points.Class, r.Labels.Name(v))
			if p.LeftOut != nil {
				points.Probability = append(points.Probability, p.LeftOut.Curve.Probability(v))
			}
		}
		warn(&r.Warnings, otherSide(f, points.Probability, r.Positive))
	} else if p.LeftOut != nil {
		half := p.LeftOut.HalfWidth(s.Level)
		for _, v := range f {
			points.Lower, points.Upper = append(points.Lower, v-half), append(points.Upper, v+half)
		}
	}
	if y := in.Targets(0); y != nil {
		var warning string
		r.OnTargets, warning = s.onTargets(points, y, test, &e.Targets[0],
			func(test loss.Test, i int) float64 { return test.Value(f[i], y[i]) })
		warn(&r.Warnings, warning)
	}
	if points.Lower != nil {
		i := interval(points, p.LeftOut.Scores(), s.Level,
			Intervals{Of: Observation, Residuals: predict.PlainResiduals}, &r.Warnings)
		r.Interval = &i
	}
	return r, nil
}
