package answer

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"bootbench/internal/model"
)

// leftOutRows is the number of examples up to which a trained model is also cross-validated.
const leftOutRows = 5000

// Train trains a function on all its rows and returns its predictor.
func Train(ctx context.Context, m *model.Model) (*model.Predictor, error) {
	settings := model.FitSettings{Weight: m.Rows}
	if given := m.Set.Weights; given != nil && m.Rows != nil {
		settings.Weight = floats.MulTo(make([]float64, len(given)), m.Rows, given)
	}
	fit, err := m.Fit(ctx, settings)
	if err == nil {
		err = fit.Status.Err()
	}
	if err != nil {
		return nil, err
	}
	p, err := m.Predictor(&fit.Result)
	if err == nil {
		p.Rescale(m.Unit)
	}
	return p, err
}

// Train trains every function on all data. The predictors have intervals or probabilities, but for pairs of
// classes.
func (s *Study) Train(ctx context.Context) (*model.Predictor, error) {
	var all []*model.Predictor
	for _, p := range s.parts() {
		one, err := Train(ctx, p.model)
		if err == nil {
			_, err = s.AddLeftOut(ctx, p.number, one)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, p.wrap(err)
		}
		all = append(all, one)
	}
	if all[0].Others = all[1:]; s.several() {
		all[0].Encoding = s.Set.Encoding()
	}
	if s.Spec.Pairs {
		all[0].Pairs = s.Order
	}
	return all[0], nil
}

// AddLeftOut adds the calibration of intervals and probabilities to the predictor of function k, from its
// predictions at rows outside a sample, or from models trained without each of 10 folds. note says why there
// is none.
func (s *Study) AddLeftOut(ctx context.Context, k int, to *model.Predictor) (note string, err error) {
	p := s.part(k)
	switch in := s.Others; {
	case s.Spec.Pairs:
		return "", nil
	case in != nil:
		in = in.Head(heldOut)
		y := in.Columns[min(k, len(in.Columns)-1)].Y
		if p.labels() {
			y = in.Columns[0].Signs(p.level())
		}
		var f []float64
		if f, err = to.Predict(in); err == nil {
			to.LeftOut, err = model.NewLeftOut(y, f, in)
		}
	case s.Set.N() > leftOutRows:
		return fmt.Sprintf("the model file has no intervals or probabilities: of more than %d examples "+
			"they take too long", leftOutRows), nil
	default:
		v, left := tenFolds(s.Set), []float64(nil)
		if left, err = v.leftOut(ctx, p); err == nil && ctx.Err() == nil {
			to.LeftOut, err = model.NewLeftOut(p.targets(), left, s.Set)
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

// leftOut are the predictions of a part for rows of which it is trained without, in units of the target.
func (v *Validation) leftOut(ctx context.Context, p *part) ([]float64, error) {
	folds, repeats, err := v.folds(p.Study)
	if err != nil {
		return nil, err
	}
	settings := v.settings(p, folds, repeats)
	r, err := v.fits(ctx, p, folds.Period(), settings, nil)
	if err != nil {
		return nil, err
	}
	return p.inUnit(r.OutOfBag), nil
}
