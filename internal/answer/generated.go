package answer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"bootbench/fits"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/loss"
	"bootbench/resample"
)

// withLaws is a scheme with the laws of the targets that the model of all rows generates, in units of the
// fit: labels by the probabilities of the trained model, numbers by its predictions and its noise
// (parametric), its centred leave-one-out residuals (residual) or the size of each row's residual (wild). It
// trains on all rows.
func (s *Study) withLaws(ctx context.Context, g resample.Generated) (resample.Generated, error) {
	set, labels, v := s.Model.Set, !s.Model.Set.AreNumbers(), Validation{}
	switch {
	case s.classes():
		return g, model.InputError(fmt.Errorf("%s resamples are of numbers or two classes: take "+
			"ReadOptions.Positive for one class against the others, or another Options.Scheme", g.Kind))
	case labels && g.Kind != resample.Parametric:
		return g, model.InputError(fmt.Errorf("%s resamples add residuals to numbers, and the targets of %s "+
			"are labels: take Options.Scheme parametric, which draws labels", g.Kind, set.Name))
	case labels:
		v = tenFolds(set) // as for the probabilities of a trained model
	case g.Kind == resample.Residual:
		v.Design, v.Single = resample.Design{N: set.N()}, true
	}
	if err := s.fitFull(ctx); err != nil {
		return g, err
	}
	var fields [][]float64
	if labels || g.Kind == resample.Residual {
		var err error
		if fields, err = s.leftOutFields(ctx, v); err != nil {
			return g, err
		}
	}
	for k, p := range s.parts() {
		f, law := perExample(p, s.full[k]), resample.TargetLaw{}
		switch {
		case labels:
			left, err := model.NewLeftOut(p.targetsOf(set), fields[k], set)
			if err != nil {
				return g, model.InputError(err)
			}
			for _, v := range f {
				law.Positive = append(law.Positive, left.Curve.Probability(v))
			}
		case g.Kind == resample.Parametric:
			if law.Noise = loss.NoiseOf(p.model.Loss); law.Noise == nil {
				return g, model.InputError(fmt.Errorf("loss %s has no noise to draw from: take "+
					"Options.Scheme residual or wild", p.model.Loss.Name()))
			}
		case g.Kind == resample.Wild:
			law.Noise, law.Scale = []float64{-1, 1}, make([]float64, set.N())
			floats.SubTo(law.Scale, p.model.Y, f)
		default:
			law.Noise = make([]float64, set.N())
			floats.SubTo(law.Noise, p.column().Y, fields[k])
			floats.AddConst(-stat.Mean(law.Noise, nil), law.Noise)
			floats.Scale(1/p.model.Function.Unit, law.Noise)
		}
		if law.Center = f; law.Scale == nil {
			law.Scale = slices.Repeat([]float64{1}, set.N())
		}
		g.Laws = append(g.Laws, law)
	}
	return g, nil
}

// generating asks about resamples with targets that the trained model generates: for the mean, the variance,
// the law and the bias of predictions at the rows, or at new ones, by the theory and by exact fits. Retrain
// has exact fits alone. There is no left-out error, as no row is left out.
func (s *Study) generating(ctx context.Context, command string, g resample.Generated, in *dataset.Inputs,
	q Question, how *Retraining, each func(function, r int, f []float64)) (*report.Answer, error) {
	g, err := s.withLaws(ctx, g)
	if err != nil {
		return nil, err
	}
	trained := make([][]float64, len(s.Model.Functions)) // in units of the target
	for k, p := range s.parts() {
		if in == nil {
			trained[k] = p.inUnit(perExample(p, s.full[k]))
		} else if one, err := Train(ctx, p.model); err != nil {
			return nil, wrap(p, err)
		} else if trained[k], err = one.Predict(in); err != nil {
			return nil, err
		}
	}
	if how == nil && !s.trains() && q.Exact != Yes {
		q.Exact = No
	}
	return s.each(ctx, joining{}, func(p *part, _ OnFit) (*report.Answer, error) {
		own, alone := q, how != nil || q.Theory == No
		g.Function = p.number
		own.Scheme = g
		a := p.beginAt(command, g, in)
		if in == nil {
			a.Points.Names, a.Points.Target.Numbers = s.Model.Set.RowNames, p.targets()
			a.Points.Probability.Positive = g.Laws[p.number].Positive
		}
		var law func(point int) loss.Distribution
		if !alone {
			began := time.Now()
			if err := p.solve(ctx, &own); err != nil {
				return nil, err
			}
			s.Times.Solve += time.Since(began).Seconds()
			addSolution(&a.Findings, p.solution)
			p.addConvergence(a)
			if law, err = p.generatedByTheory(a, in, &own, trained[p.number]); err != nil {
				return nil, err
			}
		}
		if alone || q.Exact != No {
			if err := p.generatedByFits(ctx, a, in, &own, how, trained[p.number], each); err != nil {
				return nil, err
			}
		}
		if len(q.Quantiles) > 0 && !alone {
			addQuantiles(p, a, q.Quantiles, func(i int) int {
				if in != nil {
					return p.model.Sites() + i
				}
				return p.model.Site[i]
			}, law)
		}
		if requireNumbers(a); ctx.Err() != nil {
			a.Status = Cancelled
		}
		if q.NoPoints {
			a.Points = nil
		}
		a.Time = s.Times
		return a, nil
	})
}

// generatedByTheory adds the theory's averages, and returns the laws of predictions.
func (p *part) generatedByTheory(a *report.Answer, in *dataset.Inputs, q *Question, trained []float64) (
	law func(point int) loss.Distribution, err error) {
	r := &fits.Averages{Mean: p.solution.Mean, Variance: p.solution.Var, Vote: p.solution.Votes()}
	law = func(i int) loss.Distribution { return p.solution.Distribution(p.model.Site[i]) }
	if in != nil {
		if r, err = At(p.model, p.solution, in, nil); err != nil {
			return nil, err
		}
		for i, mean := range r.Mean {
			r.Vote = append(r.Vote, loss.Vote{}.Gaussian(mean, r.Variance[i], 1))
		}
		at := r
		law = func(i int) loss.Distribution { return loss.Normal(at.Mean[i], at.Variance[i]) }
	}
	p.addGenerated(a, a.Points, in, r, trained)
	a.Level = q.Level
	a.Points.Lower, a.Points.Upper = p.between(len(trained), q.Level, quantilesOf(law))
	return law, p.addCovariance(a, in, q)
}

// addGenerated adds averages to points, and to the answer how far they are from the trained model.
func (p *part) addGenerated(a *report.Answer, points *report.Points, in *dataset.Inputs, r *fits.Averages,
	trained []float64) {
	r = r.In(p.model.Function)
	at := func(values []float64) []float64 {
		if in == nil {
			return perExample(p, values)
		}
		return values
	}
	points.Mean, points.Variance = at(r.Mean), at(r.Variance)
	points.MeanSE, points.VarianceSE = at(r.MeanSE), at(r.VarianceSE)
	points.SD, points.Bias = Deviations(points.Variance), make([]float64, len(trained))
	floats.SubTo(points.Bias, points.Mean, trained)
	if p.labels() {
		points.Vote = at(r.Vote)
	}
	root := 1 / math.Sqrt(float64(len(trained)))
	a.Spread = &report.Spread{SD: report.Number(root * floats.Norm(points.SD, 2)),
		Bias: report.Number(root * floats.Norm(points.Bias, 2))}
}

func (p *part) generatedByFits(ctx context.Context, a *report.Answer, in *dataset.Inputs, q *Question,
	how *Retraining, trained []float64, each func(function, r int, f []float64)) (err error) {
	settings, method := model.RetrainSettings{Seed: q.Seed}, model.AutoMethod
	settings.Resamples = q.Resamples
	if how != nil {
		settings, method = how.of(p.study.Test), how.Method
	}
	settings.Tests, settings.Progress = nil, p.study.counting("exact resample")
	if in != nil {
		if settings.Cross, err = p.model.CrossAll(in); err != nil {
			return err
		}
	}
	settings.OnFit = func(r int, weight, f []float64) {
		if each != nil {
			each(p.number, r, f)
		} else if len(q.Quantiles) > 0 {
			p.exact.Add(r, weight, f)
		}
	}
	if err = model.CheckRetrain(p.model, method, q.Scheme, settings); err != nil {
		return err
	}
	err = p.remember(&settings, settings.Resamples, a.Command, q.Scheme, method.String(), settings.Seed,
		how == nil && q.Theory != No)
	if err != nil {
		return err
	}
	var r *model.Retraining
	if s := p.solution; s != nil && loss.TraitsOf(p.model.Loss).Proximal != nil {
		r, err = model.RetrainAround(ctx, p.model, s, q.Scheme, settings)
	} else {
		r, err = p.retrain(ctx, method, q.Scheme, settings)
	}
	switch {
	case err != nil:
		return err
	case r.Resamples < 2 && ctx.Err() == nil:
		return model.InputError(errors.New("a variance over resamples needs two of them"))
	case r.Resamples < 2:
		return ctx.Err()
	}
	averages := *r.Averages
	if m := p.model.Sites(); in != nil {
		for _, list := range []*[]float64{&averages.Mean, &averages.MeanSE, &averages.Variance,
			&averages.VarianceSE, &averages.Vote} {
			*list = (*list)[m:]
		}
	}
	if p.solution == nil {
		p.addFits(a, r, settings.Seed)
		p.addGenerated(a, a.Points, in, &averages, trained)
		return nil
	}
	addFits(&a.Findings, r.Averages)
	a.Refined = newRefined(r)
	a.Refined.Points = &report.Points{}
	ratio, _ := fits.Against(p.solution, r.Averages)
	a.Refined.VarianceRatio = report.Number(ratio)
	p.addGenerated(a, a.Refined.Points, in, &averages, trained)
	return nil
}
