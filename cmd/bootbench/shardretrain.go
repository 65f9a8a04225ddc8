package main

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/model"
	"bootbench/resample"
	"bootbench/retrain"
	"bootbench/solver"
)

// blockResamples is the number of resamples in one task of retrain.
const blockResamples = 100

// predictions are those of a block of resamples, at all sites. Where there are
// none the training did not converge, and Unconverged says why.
type predictions struct {
	F           [][]float64
	Unconverged map[int]string
}

// retrainBlocks retrains by blocks of resamples, those of this process or all,
// and gives the whole answer where every block is there, nil otherwise. The
// answer averages over the resamples in their order, as one run would.
func (s *session) retrainBlocks(sub *subject, scheme resample.Scheme, settings retrain.Settings) (*retrain.Result, error) {
	blocks := make([]predictions, (settings.Resamples+blockResamples-1)/blockResamples)
	whole := true
	for number := range blocks {
		filled, err := s.study.Do(number, sub.blockKey(scheme, settings, number), &blocks[number], func() error {
			return s.drawBlock(sub, scheme, settings, number, &blocks[number])
		})
		if err != nil {
			return nil, err
		}
		whole = whole && filled
	}
	if !whole {
		return nil, nil
	}
	settings.Lookup = func(b int, f []float64) (bool, error) {
		block, at := &blocks[b/blockResamples], b%blockResamples
		if why, failed := block.Unconverged[at]; failed {
			return true, &retrain.UnconvergedError{Err: errors.New(why)}
		}
		copy(f, block.F[at])
		return true, nil
	}
	return sub.Retrain(s.ctx, scheme, blas64.General{}, settings)
}

// drawBlock retrains on one block of resamples. How many may be skipped is for
// the whole answer to say.
func (s *session) drawBlock(sub *subject, scheme resample.Scheme, settings retrain.Settings, number int, p *predictions) error {
	settings.First = number * blockResamples
	settings.Resamples = min(blockResamples, settings.Resamples-settings.First)
	settings.MaxSkipped = 1
	*p = predictions{F: make([][]float64, settings.Resamples), Unconverged: map[int]string{}}
	settings.OnResample = func(b int, _ []int, f []float64) { p.F[b-settings.First] = slices.Clone(f) }
	result, err := sub.Retrain(s.ctx, scheme, blas64.General{}, settings)
	if err != nil {
		return err
	}
	if result.Status == retrain.Cancelled {
		return s.ctx.Err()
	}
	for _, skipped := range result.Skipped {
		p.Unconverged[skipped.Resample-settings.First] = skipped.Err.Error()
	}
	return nil
}

// blockKey names everything that a block depends on.
func (sub *subject) blockKey(scheme resample.Scheme, settings retrain.Settings, number int) string {
	first := number * blockResamples
	return fmt.Sprintf("resamples %d to %d of %s seed=%d", first+1, min(settings.Resamples, first+blockResamples), sub.key(scheme), settings.Seed)
}

// key names the data, the scheme and the model.
func (sub *subject) key(scheme resample.Scheme) string { return specKey(&sub.Spec, scheme) }

func specKey(spec *model.Spec, scheme resample.Scheme) string {
	return fmt.Sprintf("%s, ratio %v%s%s%+v %s%+v %+v standardize=%v", spec.Set.Name, scheme.Mean(), detail, spec.Set.Digest(),
		scheme, spec.Loss.Name(), spec.Loss, spec.Kernel, spec.Standardize)
}

// solveKey names everything that a solve depends on.
func solveKey(spec *model.Spec, scheme resample.Scheme, settings solver.Settings, t *testFlags) string {
	return fmt.Sprintf("%s %+v tol=%v method=%v sweeps=%d engine=%v rank=%v,%v", specKey(spec, scheme), *t,
		settings.Tolerance, settings.Method, settings.MaxSweeps, spec.Storage, spec.RankTol, spec.MaxRank)
}
