package main

import (
	"errors"
	"fmt"
	"slices"

	"bootbench/batch"
	"bootbench/cmd/bootbench/internal/study"
	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
)

// blockResamples is the number of resamples in one task of retrain, in whole blocks.
const blockResamples = 2 * batch.BlockSize

// predictions are those of a block of resamples. Where there are
// none the training did not converge, and Unconverged says why.
type predictions struct {
	F           [][]float64
	Unconverged map[int]string
}

// check refuses predictions that are not those of so many resamples at so many inputs.
func (p *predictions) check(resamples, inputs int) error {
	if len(p.F) != resamples {
		return fmt.Errorf("it has %d resamples, not %d", len(p.F), resamples)
	}
	for i, row := range p.F {
		if _, failed := p.Unconverged[i]; failed {
			continue
		}
		if err := study.CheckNumbers(fmt.Sprintf("resample %d", i+1), row, inputs); err != nil {
			return err
		}
	}
	return nil
}

// fitting is the training on many resamples, to be split into blocks.
type fitting struct {
	key      string // names what is trained but for the resamples
	name     string // of what is resampled
	inputs   int    // predictions of a fit
	settings retrain.Settings
	run      func(retrain.Settings) (*retrain.Result, error)
}

// retrained is the result, nil where other processes have parts of it.
func (a *app) retrained(j *job, scheme resample.Scheme, settings retrain.Settings,
	flags *retrainFlags) (*model.Retraining, error) {
	if a.shards.study == nil {
		return flags.by(a, j, scheme, settings)
	}
	key := j.Fingerprint().WithScheme(scheme).With("--method", flags.method).With("--fit-tol", flags.fitTol)
	lookup, err := a.splitFits(fitting{
		key: "retrain " + key.String(), name: j.Set.Name, inputs: j.Sites(), settings: settings,
		run: func(settings retrain.Settings) (*retrain.Result, error) {
			settings.MaxSkipped = 1 // how many may be skipped is for the whole answer to say
			result, err := flags.by(a, j, scheme, settings)
			if err != nil {
				return nil, err
			}
			return result.Result, nil
		},
	})
	if err != nil || lookup == nil {
		return nil, err
	}
	settings.Lookup = lookup
	result, err := j.Retrain(a.ctx, scheme, model.RetrainSettings{Settings: settings})
	return &model.Retraining{Result: result, Method: model.Single}, err
}

// splitFits does this part's blocks of resamples. It returns where all fits are looked up,
// so that averages run over the resamples in their order, as those of one run would; nil
// where other processes have some.
func (a *app) splitFits(f fitting) (lookup func(b int, f []float64) (bool, error), err error) {
	blocks := make([]predictions, (f.settings.Resamples+blockResamples-1)/blockResamples)
	whole := true
	for number := range blocks {
		filled, err := a.shards.study.Do(a.blockTask(f, number, &blocks[number]), &blocks[number])
		if err != nil {
			return nil, err
		}
		whole = whole && filled
	}
	if !whole {
		return nil, nil
	}
	return func(b int, f []float64) (bool, error) {
		block, at := &blocks[b/blockResamples], b%blockResamples
		if why, failed := block.Unconverged[at]; failed {
			return true, &retrain.UnconvergedError{Err: errors.New(why)}
		}
		copy(f, block.F[at])
		return true, nil
	}, nil
}

// blockTask is the training on one block of resamples.
func (a *app) blockTask(f fitting, number int, p *predictions) study.Task {
	s := &f.settings
	s.First = number * blockResamples
	s.Resamples = min(blockResamples, s.Resamples-s.First)
	return study.Task{
		Number: number, Key: fmt.Sprintf("%s seed %d first %d resamples %d", f.key, s.Seed, s.First, s.Resamples),
		Name:    fmt.Sprintf("resamples %d to %d of %s", s.First+1, s.First+s.Resamples, f.name),
		Compute: func() error { return a.drawBlock(f, p) },
		Check:   func() error { return p.check(s.Resamples, f.inputs) },
	}
}

// drawBlock trains on one block of resamples.
func (a *app) drawBlock(f fitting, p *predictions) error {
	s := f.settings
	*p = predictions{F: make([][]float64, s.Resamples), Unconverged: map[int]string{}}
	s.OnResample = func(b int, _ []int, f []float64) { p.F[b-s.First] = slices.Clone(f) }
	result, err := f.run(s)
	if err != nil {
		return err
	}
	if result.Status == retrain.Cancelled {
		return a.ctx.Err()
	}
	for _, skipped := range result.Skipped {
		p.Unconverged[skipped.Resample-s.First] = skipped.Err.Error()
	}
	return nil
}
