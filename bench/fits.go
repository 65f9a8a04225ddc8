package bench

import (
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/gp"
	"bootbench/internal/train"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
)

// timedFits is the number of resamples for timing single fits.
const timedFits = 7

// fits times single trainings, each with predictions at all sites: on all data, and on resamples with
// repeated rows merged. For square loss it also times fits of the S rows without merging.
func (x *experiment) fits(ctx context.Context) (fits SingleFits, err error) {
	x.tell("fits", 0, timedFits)
	learn, err := x.model.Learner()
	if err != nil {
		return fits, err
	}
	fit := func(weight []float64) error {
		learned, err := learn(train.Set{Y: x.model.Set.Y, Site: x.model.Site, Weight: weight,
			Stop: x.model.Stop})
		if err != nil {
			return err
		}
		return learned.Status.Err()
	}
	once := slices.Repeat([]float64{1}, x.model.Set.N())
	if fits.FitS, err = medianSeconds(x.repeats(), func(int) error { return fit(once) }); err != nil {
		return fits, err
	}
	draws := make([]drawn, timedFits)
	for b := range draws {
		draws[b] = x.draw(b)
	}
	fits.ResampleFitS, err = medianSeconds(timedFits, func(b int) error {
		defer x.tell("fits", b+1, timedFits)
		if err := ctx.Err(); err != nil {
			return err
		}
		return fit(draws[b].weight)
	})
	if square, ok := x.model.Loss.(loss.Square); ok && err == nil {
		fits.NaiveFitS, err = x.naiveFit(square.Noise, draws)
	}
	return fits, err
}

// naiveFit is the time of a fit of all S rows of a resample, repeated rows not merged.
func (x *experiment) naiveFit(noise float64, draws []drawn) (seconds float64, err error) {
	k, err := x.model.Dense()
	if err != nil {
		return 0, err
	}
	trainer, err := gp.NewTrainer(k, noise, false)
	if err != nil {
		return 0, err
	}
	f := make([]float64, x.model.Sites())
	return medianSeconds(timedFits, func(b int) error {
		return trainer.FitRows(draws[b].rows, draws[b].targets, f)
	})
}

// medianSeconds is the median wall time of f(0) ... f(n-1) in seconds.
func medianSeconds(n int, f func(b int) error) (float64, error) {
	times := make([]float64, n)
	for b := range times {
		began := time.Now()
		if err := f(b); err != nil {
			return 0, err
		}
		times[b] = time.Since(began).Seconds()
	}
	return Median(times), nil
}

// Median is the median of values, the upper one of an even number; NaN for none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// drawn is one resample: the weights of the examples, and its rows one by one.
type drawn struct {
	weight  []float64
	rows    []int // site of each drawn row
	targets []float64
}

func (x *experiment) draw(b int) drawn {
	d := drawn{weight: make([]float64, x.model.Set.N())}
	resample.Resamples{Scheme: x.scheme, Seed: x.settings.Seed + 1, Y: x.model.Set.Y}.Fit(b, d.weight)
	for example, w := range d.weight {
		for range int(w) {
			d.rows = append(d.rows, x.model.Site[example])
			d.targets = append(d.targets, x.model.Set.Y[example])
		}
	}
	return d
}

// largestGemm bounds the order of the dgemm benchmark; the rate is constant there.
const largestGemm = 4000

// rates measures the rate of a factorisation with diag(G) and of dgemm at the same
// order, right after each other.
func (x *experiment) rates() (r Rates) {
	if x.model.Factor() != nil {
		return r // the engine factorises no matrix of order M
	}
	m := x.model.Sites()
	engine := linalg.NewCholeskyEngine(x.model.Gram())
	d := make([]float64, m)
	for i := range d {
		d[i] = 1 / max(x.model.Gram().At(i, i), 1e-300)
	}
	if seconds, err := medianSeconds(3, func(int) error { return engine.Factorize(d) }); err == nil {
		r.RefreshGflops = 2 * math.Pow(float64(m), 3) / 3 / seconds / 1e9
	}
	g := min(m, largestGemm)
	square := func() blas64.General {
		return blas64.General{Rows: g, Cols: g, Stride: g, Data: make([]float64, g*g)}
	}
	a, b, c := square(), square(), square()
	for i := range a.Data {
		a.Data[i], b.Data[i] = float64(i%7), float64(i%5)
	}
	seconds, _ := medianSeconds(3, func(int) error {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
		return nil
	})
	r.DgemmGflops = 2 * math.Pow(float64(g), 3) / seconds / 1e9
	return r
}
