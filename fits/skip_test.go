package fits_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"bootbench/fits"
	"bootbench/internal/testutil"
	"bootbench/resample"
	"bootbench/train"
)

// errNoFixedPoint is how a fickle trainer fails.
var errNoFixedPoint = errors.New("no fixed point")

// fickle is shrunkMean, but does not converge where example 0 is drawn exactly twice.
type fickle struct{ shrunkMean }

func (t fickle) Fit(set train.Set, f []float64) error {
	if set.Weight[0] == 2 {
		return &fits.UnconvergedError{Err: errNoFixedPoint}
	}
	return t.shrunkMean.Fit(set, f)
}

// TestSkip: resamples whose training does not converge are listed, and the averages are those over the
// others, which a learner that always converges finds.
func TestSkip(t *testing.T) {
	const resamples = 200
	y := []float64{1, -2, 3, 0.5, -1, 2}
	p := problem(resample.Poisson{Ratio: 0.7}, 3, y...)
	p.Extra = 1
	var skipped []int
	others := brute{p: p}
	run(t, p, constant(shrunkMean{}), fits.Settings{Resamples: resamples,
		OnFit: func(b int, weight, f []float64) {
			if weight[0] == 2 {
				skipped = append(skipped, b)
				return
			}
			others.counts = append(others.counts, slices.Clone(weight))
			others.fits = append(others.fits, slices.Clone(f))
		}})
	if len(skipped) < 5 || len(skipped) > 40 {
		t.Fatalf("%d of %d resamples are skipped: no test of much", len(skipped), resamples)
	}
	settings := fits.Settings{Resamples: resamples, Tests: bothTests,
		MaxSkipped: float64(len(skipped)) / resamples}
	want := ""
	for _, workers := range []int{1, 3} {
		settings.Workers = workers
		progress := 0
		settings.Progress = func(done, _ int) { progress = done }
		settings.OnFit = func(b int, _, _ []float64) {
			if slices.Contains(skipped, b) {
				t.Errorf("resample %d is shown", b)
			}
		}
		r := run(t, p, constant(fickle{shrunkMean{}}), settings)
		var found []int
		for _, s := range r.Skipped {
			found = append(found, s.Resample)
			if !errors.Is(s, errNoFixedPoint) {
				t.Errorf("resample %d: %v", s.Resample, s)
			}
		}
		if !slices.Equal(found, skipped) || r.Resamples != resamples-len(skipped) ||
			r.Status != fits.Complete || progress != resamples || r.Stats.Fits+r.Empty != r.Resamples {
			t.Errorf("%d workers: %d resamples, %v, %d fits, skipped %v, want %v", workers, r.Resamples,
				r.Status, r.Stats.Fits, found, skipped)
		}
		others.check(t, r)
		if want == "" {
			want = text(r)
		}
		if got := text(r); got != want {
			t.Errorf("the answer of %d workers differs:\n%s\n%s", workers, got, want)
		}
	}
	settings.OnFit, settings.Progress = nil, nil

	// One fewer may be skipped: the last one ends the run.
	less := settings
	less.MaxSkipped -= 0.5 / resamples
	checkFailure(t, p, constant(fickle{shrunkMean{}}), less, skipped[len(skipped)-1])
	// By default none may.
	less.MaxSkipped = 0
	checkFailure(t, p, constant(fickle{shrunkMean{}}), less, skipped[0])
	// An outcome that is recalled counts as one that is found.
	recall := settings
	recall.Memory = testutil.Recall(func(b int, f []float64) (bool, error) {
		if slices.Contains(skipped, b) {
			return true, &fits.UnconvergedError{Err: errNoFixedPoint}
		}
		return false, nil
	})
	r := run(t, p, constant(shrunkMean{}), recall)
	if got := text(r); got != want {
		t.Errorf("the answer from memory differs:\n%s\n%s", got, want)
	}
}

// TestSkipOnlyUnconverged: other failures end the run, and so does any under
// K-fold, whose folds belong together.
func TestSkipOnlyUnconverged(t *testing.T) {
	y := []float64{1, -2, 3, 0.5, -1, 2}
	s := fits.Settings{Resamples: 12, MaxSkipped: 1}
	p := problem(resample.Poisson{Ratio: 0.7}, 3, y...)
	checkFailure(t, p, constant(trainerFunc(func(_, _, _ []float64) error { return errNoFixedPoint })), s, 0)
	p = problem(resample.KFold{Folds: 3, N: len(y)}, 3, y...)
	checkFailure(t, p, constant(trainerFunc(func(_, _, _ []float64) error {
		return &fits.UnconvergedError{Err: errNoFixedPoint}
	})), s, 0)
}

// checkFailure runs into the failure of a resample.
func checkFailure(t *testing.T, p fits.Problem, trainers fits.Trainers, s fits.Settings, b int) {
	t.Helper()
	var failed *fits.FitError
	if _, err := fits.Run(context.Background(), p, trainers, s); !errors.As(err, &failed) ||
		failed.Resample != b || !errors.Is(err, errNoFixedPoint) {
		t.Errorf("%v, want the failure of resample %d", err, b)
	}
}
