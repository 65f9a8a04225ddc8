package fits_test

import (
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"bootbench/fits"
	"bootbench/internal/model"
	"bootbench/internal/testutil"
	"bootbench/loss"
	"bootbench/resample"
)

// TestWide: fits of a block that runs in parallel inside, on a factor and with sites of several examples, are
// those of blocks on one thread each, to the last bit, by any number of threads.
func TestWide(t *testing.T) {
	spec := specOf(t, "synthetic:waves,n=2500,d=2", loss.Square{Noise: 0.1}, 0.2, 0)
	spec.Storage, spec.RankTol = model.LowRank, 1e-4
	m := modelOf(t, spec)
	s := converge(t, m)
	settings := model.RetrainSettings{Settings: fits.Settings{Resamples: 20, Workers: 2}, Seed: 3}
	problem := fits.Problem{Y: m.Y, Site: m.Site, Sites: m.Sites(),
		Plan: resample.Resamples{Scheme: law, Seed: 3, Y: m.Y}}
	var want [][]float64
	for _, threads := range []int{0, 1, 2, 5} {
		blocks, _, err := model.NewBatch(t.Context(), m, s, settings)
		testutil.Check(t, err)
		if threads > 0 {
			blocks.MakeWide()
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		}
		all := testutil.Must(fits.Train(t.Context(), problem, fits.Batch(blocks), settings.Settings))(t)
		for f := range all {
			testutil.Check(t, f.Err)
			if threads == 0 {
				want = append(want, slices.Clone(f.F))
			} else if !slices.Equal(f.F, want[f.Number]) {
				t.Errorf("fit %d on %d threads is off by %g", f.Number, threads,
					floats.Distance(f.F, want[f.Number], 2))
			}
		}
		if stats := blocks.Stats(); stats.Fits != settings.Resamples {
			t.Errorf("%+v", stats)
		}
	}
}

// TestRecorded: averages do not depend on the number of fits that are kept as they are, for periods that it
// does not divide either, nor on what other tests are asked for.
func TestRecorded(t *testing.T) {
	m, s := ordinary(t)
	for _, scheme := range []resample.Scheme{law, resample.KFold{N: 80, Folds: 8}} {
		var want *fits.Averages
		for _, most := range []int{200, 20, 3} {
			e := testutil.Must(fits.NewControlled(fits.Controls{Solution: s, Scheme: scheme},
				[]loss.Test{squares, loss.ZeroOne{}}[:1+most%2]))(t)
			e.Record(most)
			r := by(40, squares)
			r.Batch.FirstIterate = true
			blocks, _, err := model.NewBatch(t.Context(), m, s, r.RetrainSettings)
			testutil.Check(t, err)
			problem := fits.Problem{Y: m.Y, Plan: resample.Resamples{Scheme: scheme, Seed: 5, Y: m.Y}}
			got := testutil.Must(fits.Estimate(t.Context(), problem, fits.Batch(blocks), e, r.Settings,
				nil))(t)
			if want == nil {
				want = got
			}
			if !slices.Equal(got.Mean, want.Mean) || !slices.Equal(got.VarianceSE, want.VarianceSE) ||
				!slices.Equal(got.OutOfBag, want.OutOfBag) || got.Tests[0].Error != want.Tests[0].Error ||
				!slices.Equal(got.Tests[0].ExamplesSE, want.Tests[0].ExamplesSE) {
				t.Errorf("%s: keeping %d fits changes the averages", scheme.Name(), most)
			}
		}
	}
}
