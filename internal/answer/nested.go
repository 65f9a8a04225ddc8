package answer

import (
	"context"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/internal/train"
)

// nested is a train.Trainer that chooses a model of the rows it is given, trains it and predicts all rows. It
// prepares the features anew, too.
type nested struct {
	ctx    context.Context
	set    *dataset.Set
	choose func(context.Context, *dataset.Set) (model.Spec, error)
}

// Fit is train.Trainer.Fit of weights 0 and 1.
func (t nested) Fit(weight, target, f []float64) error {
	var rows []int
	for i, w := range weight {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	part := t.set.Subset(rows)
	for k, i := range rows {
		part.Y[k] = target[i]
	}
	spec, err := t.choose(t.ctx, part)
	if err != nil {
		return err
	}
	m, err := model.Build(spec)
	if err != nil {
		return err
	}
	p, err := Train(m)
	if err != nil {
		return err
	}
	all, err := p.Predict(t.set)
	copy(f, all)
	return err
}

// fitNested makes the fits of a plan, each of a model that is chosen without the fold: a prediction for each
// example.
func (v *Validation) fitNested(ctx context.Context, j *Job, s refit.RetrainSettings) (*retrain.Result,
	error) {
	problem := retrain.Problem{Y: j.Set.Y, Weights: j.Set.Weights, Plan: s.Plan, OneClass: j.labels()}
	return retrain.Run(ctx, problem, retrain.Single(func() (train.Trainer, error) {
		return nested{ctx, j.Set, v.Choose}, nil
	}), s.Settings)
}
