package main

import (
	"errors"
	"fmt"
	"slices"

	"bootbench/cmd/bootbench/internal/study"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
)

// blockResamples is the number of resamples in one task of retrain.
const blockResamples = 100

// predictions are those of a block of resamples, at all sites. Where there are
// none the training did not converge, and Unconverged says why.
type predictions struct {
	F           [][]float64
	Unconverged map[int]string
}

// check refuses predictions that are not those of so many resamples at so many sites.
func (p *predictions) check(resamples, sites int) error {
	if len(p.F) != resamples {
		return fmt.Errorf("it has %d resamples, not %d", len(p.F), resamples)
	}
	for i, row := range p.F {
		if _, failed := p.Unconverged[i]; failed {
			continue
		}
		if err := study.CheckNumbers(fmt.Sprintf("resample %d", i+1), row, sites); err != nil {
			return err
		}
	}
	return nil
}

// retrained is the result, nil where other processes have parts of it.
func (a *app) retrained(j *job, scheme resample.Scheme, settings retrain.Settings, flags *retrainCommandFlags) (*model.Retraining, error) {
	if a.shards.study == nil {
		return flags.by(a, j, scheme, settings)
	}
	blocks := make([]predictions, (settings.Resamples+blockResamples-1)/blockResamples)
	whole := true
	for number := range blocks {
		filled, err := a.shards.study.Do(a.blockTask(j, scheme, settings, flags, number, &blocks[number]), &blocks[number])
		if err != nil {
			return nil, err
		}
		whole = whole && filled
	}
	if !whole {
		return nil, nil
	}
	// The answer averages over the resamples in their order, as one run would.
	settings.Lookup = func(b int, f []float64) (bool, error) {
		block, at := &blocks[b/blockResamples], b%blockResamples
		if why, failed := block.Unconverged[at]; failed {
			return true, &retrain.UnconvergedError{Err: errors.New(why)}
		}
		copy(f, block.F[at])
		return true, nil
	}
	result, err := j.Retrain(a.ctx, scheme, model.RetrainSettings{Settings: settings})
	return &model.Retraining{Result: result, Method: model.Single}, err
}

// blockTask is the retraining on one block of resamples.
func (a *app) blockTask(j *job, scheme resample.Scheme, settings retrain.Settings, flags *retrainCommandFlags, number int, p *predictions) study.Task {
	settings.First = number * blockResamples
	settings.Resamples = min(blockResamples, settings.Resamples-settings.First)
	key := j.Fingerprint().WithScheme(scheme).With("--seed", settings.Seed).With("first", settings.First).With("resamples", settings.Resamples).
		With("--method", flags.method).With("--fit-tol", flags.fitTol)
	return study.Task{
		Number: number, Key: "retrain " + key.String(),
		Name:    fmt.Sprintf("resamples %d to %d of %s", settings.First+1, settings.First+settings.Resamples, j.Set.Name),
		Compute: func() error { return a.drawBlock(j, scheme, settings, flags, p) },
		Check:   func() error { return p.check(settings.Resamples, j.Sites()) },
	}
}

// drawBlock retrains on one block of resamples. How many may be skipped is for
// the whole answer to say.
func (a *app) drawBlock(j *job, scheme resample.Scheme, settings retrain.Settings, flags *retrainCommandFlags, p *predictions) error {
	settings.MaxSkipped = 1
	*p = predictions{F: make([][]float64, settings.Resamples), Unconverged: map[int]string{}}
	settings.OnResample = func(b int, _ []int, f []float64) { p.F[b-settings.First] = slices.Clone(f) }
	result, err := flags.by(a, j, scheme, settings)
	if err != nil {
		return err
	}
	if result.Status == retrain.Cancelled {
		return a.ctx.Err()
	}
	for _, skipped := range result.Skipped {
		p.Unconverged[skipped.Resample-settings.First] = skipped.Err.Error()
	}
	return nil
}
