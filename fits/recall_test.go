package fits_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/resample"
	"bootbench/train"
)

// refusing is a trainer that must not be asked.
type refusing struct{ fits *atomic.Int64 }

func (r refusing) Fit(train.Set, []float64) error {
	r.fits.Add(1)
	return errors.New("asked to fit")
}

// TestRecall: a run over blocks by number, and one that recalls their
// predictions, average exactly as one run over all.
func TestRecall(t *testing.T) {
	y := []float64{1, -2, 3, 0.5, -1, 2}
	problem := problem(resample.Poisson{Ratio: 0.7}, 9, y...)
	problem.Extra = 1
	mean := constant(shrunkMean{})
	run := func(trainers fits.Trainers, s fits.Settings) *fits.Averages {
		t.Helper()
		s.Workers, s.Tests = 3, bothTests
		r := testutil.Must(fits.Run(context.Background(), problem, trainers, s))(t)
		r.Stats = fits.Stats{}
		return r
	}
	whole := run(mean, fits.Settings{Resamples: 70})
	kept := map[int][]float64{}
	for _, first := range []int{50, 0, 20} {
		size := map[int]int{0: 20, 20: 30, 50: 20}[first]
		next := first
		run(mean, fits.Settings{First: first, Resamples: size, OnFit: func(b int, _, f []float64) {
			if b != next {
				t.Errorf("resample %d, want %d", b, next)
			}
			next++
			kept[b] = slices.Clone(f)
		}})
	}
	var trained atomic.Int64
	recalled := run(constant(refusing{&trained}),
		fits.Settings{Resamples: 70, Memory: testutil.Recall(func(b int, f []float64) (bool, error) {
			copy(f, kept[b])
			return true, nil
		})})
	if !reflect.DeepEqual(whole, recalled) || trained.Load() > 0 {
		t.Errorf("recalled %+v\nwant %+v\n%d fits", recalled, whole, trained.Load())
	}
	lost := errors.New("lost")
	_, err := fits.Run(context.Background(), problem, mean, fits.Settings{Resamples: 5,
		Memory: testutil.Recall(func(b int, _ []float64) (bool, error) {
			if b == 3 {
				return false, lost
			}
			return false, nil
		})})
	var fit *fits.FitError
	if !errors.Is(err, lost) || !errors.As(err, &fit) || fit.Resample != 3 {
		t.Errorf("a block that cannot be read: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	part := testutil.Must(fits.Run(ctx, problem, mean, fits.Settings{Resamples: 1000,
		Memory: testutil.Recall(func(int, []float64) (bool, error) { cancel(); return true, nil })}))(t)
	if part.Status != fits.Cancelled || part.Resamples > 100 {
		t.Errorf("%v after %d fits are recalled", part.Status, part.Resamples)
	}
}
