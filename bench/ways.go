package bench

import (
	"cmp"
	"context"
	"slices"
	"time"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/loss"
)

// way is a way of retraining without the theory's answer.
type way struct {
	name   string // of the trainer: gp, svm, erm, ep, blocks or libsvm
	engine string // that holds the kernel matrix
	rank   int
	single bool // one resample after the other, by an own trainer
	setup  float64
	each   float64 // seconds a resample, after the set-up
	fits   int     // measured; 1 without a result
	result *fits.Averages
}

func (w *way) seconds(fits float64) float64 { return w.setup + fits*w.each }

// fastest is the fastest way to retrain that many resamples.
func fastest(ways []way, fits float64) *way {
	best := slices.MinFunc(ways, func(a, b way) int { return cmp.Compare(a.seconds(fits), b.seconds(fits)) })
	return &best
}

// referenceOf is the result with the most resamples, the first of them.
func referenceOf(ways []way) *fits.Averages {
	return slices.MaxFunc(ways, func(a, b way) int { return cmp.Compare(a.fits, b.fits) }).result
}

// ways measures all ways of retraining: one by one on the dense matrix and on a factor, in blocks around a
// rough theory on the factor, or else on the dense matrix, and by LIBSVM, a process for each worker. A
// factor on which fits fail or are slower is no way, nor are blocks without a proximal map.
func (x *experiment) ways(ctx context.Context) (ways []way, err error) {
	for _, m := range x.trained {
		if m.Form() == model.LowRank && !m.TrainedOnFactor() && len(ways) > 0 {
			continue
		}
		limit := x.settings.Limit
		if len(ways) > 0 { // slower ones are found out soon
			limit = min(cmp.Or(limit, budget), budget)
		}
		w, err := x.way(ctx, m, model.Single, limit)
		if err := cmp.Or(ctx.Err(), err); err != nil && len(ways) == 0 {
			return nil, err
		} else if err == nil {
			ways = append(ways, w)
		}
	}
	if loss.TraitsOf(x.model.Loss).Proximal != nil {
		w, err := x.way(ctx, x.trained[len(x.trained)-1], model.Batch, x.settings.Limit)
		if err == nil {
			ways = append(ways, w)
		}
	}
	if s, isBound := x.libsvmSeconds(ctx, x.draw(0).weight); s > 0 && !isBound {
		ways = append(ways, way{name: "libsvm", engine: "svm-train", fits: 1,
			each: s / float64(x.settings.Workers)})
	}
	return ways, ctx.Err()
}

// way retrains a model by a method, for no longer than limit after two resamples.
func (x *experiment) way(ctx context.Context, m *model.Model, method model.RetrainMethod,
	limit time.Duration) (w way, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	name, phase := "blocks", "retraining in blocks"
	if method == model.Single {
		of, err := m.LossTrainers(0)
		if err != nil {
			return w, err
		}
		name, phase = string(of.Algorithm), "retraining "+string(of.Algorithm)
	}
	settings, began := x.settingsOf(phase, x.settings.Seed), time.Now()
	settings.Progress = func(done, total int) {
		if limit > 0 && done >= 2 && time.Since(began) > limit {
			stop()
		}
		x.tell(phase, done, total)
	}
	r, err := model.Retrain(ctx, m, method, x.scheme, settings)
	if err != nil {
		return w, err
	}
	w = way{name: name, engine: m.Form().String(), rank: m.Rank(), single: method == model.Single,
		setup: r.Setup.Seconds(), each: r.Stats.Elapsed.Seconds() / float64(r.Resamples), fits: r.Resamples,
		result: r.Averages}
	if r.Status == fits.Cancelled && r.Stats.Fits > 0 { // without the time of fits that it ended
		w.each = r.Stats.FitTime.Seconds() / float64(r.Stats.Fits*r.Stats.Workers)
	}
	return w, nil
}
