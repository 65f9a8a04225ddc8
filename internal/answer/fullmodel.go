package answer

import (
	"context"
	"fmt"

	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// Sizes up to which an estimate also cross-validates the model of all examples, three times or once: 30 fits
// of 1000 examples take about as long as the estimate.
const (
	threeTimes = 1000
	oneTime    = 3000
)

// addFullModel adds the expected error of the model trained on all examples, by repeated exact 10-fold
// cross-validation (Kohavi 1995): a resample has 63% of the examples, and a larger error. It adds nothing if
// only the theory was requested, or if fits are slow. Length scales per feature, chosen on the same examples,
// would make the error too low: up to threeTimes examples they are chosen again without each of five folds.
func (a *estimation) addFullModel(ctx context.Context) error {
	if a.Others != nil {
		return a.addLearningCurve(ctx)
	}
	n := a.Set.N()
	v := tenFolds(a.Set)
	if v.Seed = a.s.Refine.Seed; n <= threeTimes {
		v.Repeats = 3
	}
	proximal := loss.TraitsOf(a.Loss).Proximal != nil
	designed, _ := a.s.Scheme.(resample.Designed)
	if a.e.Refined == nil || !proximal || n > oneTime || designed.Design.Block > 0 {
		return nil
	}
	r, err := a.validate(ctx, v)
	if ctx.Err() != nil { // the answer so far stays
		a.e.Status = Cancelled
		return nil
	}
	if err != nil {
		warn(&a.e.Warnings, fmt.Sprintf("the model of all rows is not cross-validated: %v", err))
		return nil
	}
	a.e.FullModel = &report.FullModel{Quote: r.Quote, Folds: r.Folds, Repeats: r.Repeats}
	if a.s.Choose == nil || n > threeTimes || len(a.Kernel.LengthScale) < 2 {
		return nil
	}
	v.Folds, v.Repeats, v.Choose, v.Anew = min(5, v.Folds), 1, a.s.Choose, "a model chosen"
	nested, err := a.validate(ctx, v)
	if ctx.Err() != nil {
		a.e.Status = Cancelled
	} else if err == nil {
		a.e.FullModel = &report.FullModel{Quote: nested.Quote, Folds: nested.Folds, Repeats: 1,
			AsChosen: &r.Error}
	}
	return nil
}
