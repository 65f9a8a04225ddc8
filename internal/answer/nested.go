package answer

import (
	"cmp"
	"context"
	"fmt"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/resample"
	"bootbench/train"
)

// nested is a train.Trainer that chooses a model on the given rows, preparation of features included, trains
// it and predicts all rows.
type nested struct {
	ctx    context.Context
	set    *dataset.Set
	choose Chooser
}

// drawn are the rows of positive weight.
func drawn(weight []float64) (rows []int) {
	for i, w := range weight {
		if w > 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

// Fit implements train.Trainer for weights 0 and 1.
func (t nested) Fit(set train.Set, f []float64) error {
	rows := drawn(set.Weight)
	spec, err := t.choose(t.ctx, withTargets(t.set, set.Y).Subset(rows))
	if err != nil {
		return err
	}
	all, err := predictionsOf(t.ctx, spec, t.set)
	copy(f, all)
	return err
}

// predictionsOf are the predictions at inputs by the model of a specification, trained on all its data.
func predictionsOf(ctx context.Context, spec model.Spec, in *dataset.Inputs) ([]float64, error) {
	m, err := model.Build(ctx, spec)
	if err != nil {
		return nil, err
	}
	p, err := Train(ctx, m)
	if err != nil {
		return nil, err
	}
	return p.Predict(in)
}

// fitNested makes the fits of a plan, each of a model chosen without the fold, with a prediction for each
// example.
func (v *Validation) fitNested(ctx context.Context, j *Job, s model.RetrainSettings) (*fits.Result,
	error) {
	problem := fits.Problem{Y: j.Y, Weights: j.Set.Weights, Plan: s.Plan, OneClass: j.labels()}
	return fits.Run(ctx, problem, fits.Single(func() (train.Trainer, error) {
		return nested{ctx, j.Set, v.Choose}, nil
	}), s.Settings)
}

// fitNested makes fits of the classifiers, each of a model chosen without the fold.
func (c *Classes) fitNested(ctx context.Context, v Validation, plan resample.Plan, count int) ([]fields,
	error) {
	fits, weight := make([]fields, count), make([]float64, c.Set.N())
	progress := c.Jobs[0].counting("fold")
	for b := range fits {
		progress(b, count)
		plan.Fit(b, weight)
		spec, err := v.Choose(ctx, c.Set.Subset(drawn(weight)))
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		part, err := NewClasses(ctx, spec)
		if err != nil {
			return nil, err
		}
		part.order = c.order
		for _, one := range part.classifiers() {
			p, err := one.train(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s without fold %d: %w", one.name, b+1, err)
			}
			all, err := p.Predict(c.Set)
			if err != nil {
				return nil, err
			}
			values := make([]float32, len(all))
			for i, value := range all {
				values[i] = float32(value)
			}
			fits[b] = append(fits[b], values)
		}
	}
	return fits, nil
}
