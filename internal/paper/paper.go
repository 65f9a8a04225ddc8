// Package paper computes what the figures of Malzahn and Opper 2003 ([M03]) and
// Malzahn and Opper 2004 ([M04]) show, from the data and models that they name:
// the analytic theory beside Monte-Carlo retraining.
package paper

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/model"
	"bootbench/internal/refit"
	"bootbench/internal/retrain"
	"bootbench/loss"
	"bootbench/resample"
)

// Settings of a computation. The zero value means the defaults.
type Settings struct {
	// Resamples are the retrainings of a point of a learning curve; moments and
	// densities take MomentsFactor times as many. Default DefaultResamples.
	Resamples int
	Seed      uint64 // of the resamples; default 0
	Workers   int    // retrainings at a time; default GOMAXPROCS
}

// DefaultResamples is the Resamples of zero Settings.
const DefaultResamples = 1000

// MomentsFactor is how many times the resamples of a curve's point go into moments
// and densities: the default gives twice M03's 5000.
const MomentsFactor = 10

// fineBin is the width of the bins that predictions are counted in; wider bins
// are made of them.
const fineBin = 0.1

// Reference is what retraining gives at one ratio, at the sites and then at the new inputs.
type Reference struct {
	*retrain.Result
	bins     []map[int]int // per place: resamples by number of the fine bin
	negative []float64     // share of the resamples that predict below 0
}

// retrain draws factor times the resamples of the settings, judges by a test loss and counts the predictions
// at the sites and at new inputs, whose kernel rows are given.
func (s Settings) retrain(ctx context.Context, m *model.Model, scheme resample.Scheme, test loss.Test,
	cross blas64.General, factor int) (*Reference, error) {
	places := m.Sites() + cross.Rows
	ref := &Reference{bins: make([]map[int]int, places), negative: make([]float64, places)}
	for i := range ref.bins {
		ref.bins[i] = map[int]int{}
	}
	resamples := factor * cmp.Or(s.Resamples, DefaultResamples)
	settings := retrain.Settings{Resamples: resamples, Workers: s.Workers, Tests: []loss.Test{test},
		OnFit: func(_ int, _, f []float64) {
			for i, v := range f {
				if v < 0 {
					ref.negative[i] += 1 / float64(resamples)
				}
				ref.bins[i][int(math.Floor(v/fineBin))]++
			}
		}}
	var err error
	ref.Result, err = refit.RetrainSingly(ctx, m, scheme, refit.RetrainSettings{Settings: settings, Seed: s.Seed,
		Cross: cross})
	if err == nil && ref.Status != retrain.Complete {
		err = ctx.Err()
	}
	return ref, err
}

// histogram is the share of the resamples in bins of the given width, a
// multiple of fineBin: bin i begins at (first+i) width.
func (ref *Reference) histogram(place int, width float64) (first int, shares []float64) {
	per := width / fineBin
	last := math.MinInt
	first = math.MaxInt
	wide := func(fine int) int { return int(math.Floor((float64(fine) + 0.5) / per)) }
	for fine := range ref.bins[place] {
		first, last = min(first, wide(fine)), max(last, wide(fine))
	}
	if last < first {
		return 0, nil
	}
	shares = make([]float64, last-first+1)
	for fine, n := range ref.bins[place] {
		shares[wide(fine)-first] += float64(n) / float64(ref.Resamples)
	}
	return first, shares
}
