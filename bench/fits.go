package bench

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
	"bootbench/train/gp"
)

// A time is the median of at most mostTimed runs, which begin within the budget.
const (
	mostTimed = 7
	budget    = 500 * time.Millisecond
)

// fits times single trainings, each with predictions at all sites: on all data, and on resamples with
// repeated rows merged. For square loss it also times fits of the S rows without merging.
func (x *experiment) fits(ctx context.Context, row *report.CompareRow) (err error) {
	x.tell("fits", 0, 1)
	once, draws := slices.Repeat([]float64{1}, x.model.Set.N()), make([]drawn, mostTimed)
	for b := range draws {
		draws[b] = x.draw(b)
	}
	for i, m := range x.trained {
		all, resample, err := x.fitSeconds(ctx, m, once, draws)
		if err := cmp.Or(ctx.Err(), err); err != nil && i == 0 {
			return err
		} else if err == nil && (i == 0 || resample < row.ResampleFitS) {
			row.FitS, row.ResampleFitS = all, resample
		}
	}
	row.LIBSVMFitS, row.LIBSVMIsBound = x.libsvmSeconds(ctx, once)
	if t := loss.TraitsOf(x.model.Loss); t.Quadratic && x.trained[0].Gram() != nil {
		row.NaiveFitS, err = medianSeconds(mostTimed, func(b int) error {
			_, err := naive(x.trained[0].Gram(), t.Noise, draws[b])
			return err
		})
	}
	x.tell("fits", 1, 1)
	return cmp.Or(ctx.Err(), err)
}

// fitSeconds times trainings of a model on all data, and on resamples.
func (x *experiment) fitSeconds(ctx context.Context, m *model.Model, once []float64, draws []drawn) (all,
	resample float64, err error) {
	of, err := m.LossTrainers(0)
	if err != nil {
		return 0, 0, err
	}
	learn, err := of.Trainer()
	if err != nil {
		return 0, 0, err
	}
	fit := func(weight []float64) error {
		learned, err := learn(train.Set{Y: m.Y, Site: m.Site, Weight: weight, Stop: train.Until(ctx)})
		return cmp.Or(ctx.Err(), err, learned.Status.Err())
	}
	if all, err = medianSeconds(mostTimed, func(int) error { return fit(once) }); err != nil {
		return 0, 0, err
	}
	resample, err = medianSeconds(mostTimed, func(b int) error { return fit(draws[b].weight) })
	return all, resample, err
}

// naive fits all rows of a resample, each as a site of its own.
func naive(k *linalg.Sym, noise float64, d drawn) (*train.Result, error) {
	rows := linalg.ZeroSym(len(d.rows))
	for p, i := range d.rows {
		for q, row := p, rows.Row(p); q < len(d.rows); q++ {
			row[q-p] = k.At(i, d.rows[q])
		}
	}
	trainer, err := gp.NewTrainer(rows, noise)
	if err != nil {
		return nil, err
	}
	return trainer.Train(train.Set{Y: d.targets, Weight: slices.Repeat([]float64{1}, len(d.rows))})
}

// medianSeconds is the median wall time of f(0) ... f(n-1) in seconds, of those that begin within the budget.
func medianSeconds(n int, f func(b int) error) (float64, error) {
	var times []float64
	for start := time.Now(); len(times) < n && (len(times) == 0 || time.Since(start) < budget); {
		began := time.Now()
		if err := f(len(times)); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began).Seconds())
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
	resample.Resamples{Scheme: x.scheme, Seed: x.settings.Seed + 1, Y: x.model.Y}.Fit(b, d.weight)
	for example, w := range d.weight {
		for range int(w) {
			d.rows = append(d.rows, x.model.Site[example])
			d.targets = append(d.targets, x.model.Y[example])
		}
	}
	return d
}

// largestGemm bounds the order of the dgemm benchmark; the rate is constant there.
const largestGemm = 4000

// rates measures the rate of a factorisation with diag(G) and of dgemm at the same order, right after each
// other, in Gflop/s.
func (x *experiment) rates() (refresh, dgemm float64) {
	if x.model.Factor() != nil {
		return 0, 0 // the engine factorises no matrix of order M
	}
	m := x.model.Sites()
	engine, d := linalg.NewCholeskyEngine(x.model.Gram()), linalg.Diagonal(x.model.Gram())
	for i, v := range d {
		d[i] = 1 / max(v, 1e-300)
	}
	if seconds, err := medianSeconds(3, func(int) error { return engine.Factorize(d) }); err == nil {
		refresh = 2 * math.Pow(float64(m), 3) / 3 / seconds / 1e9
	}
	g := min(m, largestGemm)
	a, b, c := linalg.NewMatrix(g, g), linalg.NewMatrix(g, g), linalg.NewMatrix(g, g)
	for i := range a.Data {
		a.Data[i], b.Data[i] = float64(i%7), float64(i%5)
	}
	seconds, _ := medianSeconds(3, func(int) error {
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, blas64.General(a), blas64.General(b), 0, blas64.General(c))
		return nil
	})
	return refresh, 2 * math.Pow(float64(g), 3) / seconds / 1e9
}
