package answer

import (
	"context"

	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// Sizes up to which the model of all examples is cross-validated beside an estimate, three times or once: 30
// fits of 1000 examples take about as long as the estimate.
const (
	threeTimes = 1000
	oneTime    = 3000
)

// AddFullModel adds the expected error of the model that is trained on all examples, by 10 exact folds,
// repeated (Kohavi 1995): a resample has 63% of the examples, and so its model errs more. It adds nothing
// where the theory was asked for alone, or where fits take long.
func (j *Job) AddFullModel(ctx context.Context, e *report.Estimate, s Settings) error {
	if j.Others != nil {
		return j.addLearningCurve(ctx, e)
	}
	n := j.Set.N()
	v := tenFolds(j.Set)
	if v.Seed = s.Refine.Seed; n <= threeTimes {
		v.Repeats = 3
	}
	_, proximal := j.Loss.(loss.Proximal)
	designed, _ := s.Scheme.(resample.Designed)
	if e.Refined == nil || !proximal || n > oneTime || designed.Design.Block > 0 {
		return nil
	}
	r, err := j.CrossValidate(ctx, v)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // a fold cannot be trained
		return nil
	}
	e.FullModel = &report.FullModel{Error: r.Error, ErrorSE: *r.ErrorSE, Folds: r.Folds, Repeats: r.Repeats}
	return nil
}
