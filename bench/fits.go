package bench

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/gp"
	"bootbench/linalg"
	"bootbench/loss"
)

// timedFits is how many resamples the single fits are timed on.
const timedFits = 7

// fits times single trainings on square loss, each with predictions at all
// sites: on all data, on resamples with repeated rows merged, and on their S
// rows as they come.
func (x *experiment) fits(ctx context.Context) error {
	square, ok := x.model.Loss.(loss.Square)
	if !ok {
		return nil
	}
	x.tell("fits", 0, timedFits)
	var err error
	x.row.FitS = median(x.repeats(), func() {
		if _, e := x.model.FullFit(); e != nil {
			err = e
		}
	})
	if err != nil {
		return err
	}
	merged, err := gp.NewTrainer(x.model.Gram, square.Noise)
	if err != nil {
		return err
	}
	naive, err := gp.NewNaive(x.model.Gram, square.Noise)
	if err != nil {
		return err
	}
	var mergedS, naiveS []float64
	f := make([]float64, x.model.Sites())
	for b := range timedFits {
		if err := ctx.Err(); err != nil {
			return err
		}
		d := x.draw(uint64(b))
		began := time.Now()
		if err := merged.Fit(d.count, d.target); err != nil {
			return err
		}
		if err := merged.Predict(f); err != nil {
			return err
		}
		mergedS = append(mergedS, time.Since(began).Seconds())
		began = time.Now()
		if err := naive.Fit(d.rows, d.rowTargets); err != nil {
			return err
		}
		if err := naive.Predict(f); err != nil {
			return err
		}
		naiveS = append(naiveS, time.Since(began).Seconds())
		x.tell("fits", b+1, timedFits)
	}
	x.row.ResampleFitS, x.row.NaiveFitS = middle(mergedS), middle(naiveS)
	x.row.FitsEquivalent = x.row.TheoryS / x.row.ResampleFitS
	x.row.NaiveFitsEquivalent = x.row.TheoryS / x.row.NaiveFitS
	return nil
}

// drawn is one resample in both forms.
type drawn struct {
	count      []int     // per site
	target     []float64 // mean drawn target per site
	rows       []int     // site of each drawn row
	rowTargets []float64
}

func (x *experiment) draw(b uint64) drawn {
	counts := make([]int, x.model.Set.N())
	x.scheme.Sample(rand.New(rand.NewPCG(x.settings.Seed+1, b)), counts)
	d := drawn{count: make([]int, x.model.Sites()), target: make([]float64, x.model.Sites())}
	for example, k := range counts {
		site, y := x.model.Site[example], x.model.Set.Y[example]
		d.count[site] += k
		d.target[site] += float64(k) * y
		for range k {
			d.rows = append(d.rows, site)
			d.rowTargets = append(d.rowTargets, y)
		}
	}
	for site, k := range d.count {
		if k > 0 {
			d.target[site] /= float64(k)
		}
	}
	return d
}

func middle(times []float64) float64 {
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2]
}

// largestGemm bounds the memory and the time of the dgemm yardstick; its rate
// no longer depends on the order there.
const largestGemm = 4000

// rates measures the rate of a refresh of diag(G) and of dgemm at the same
// order, right after each other.
func (x *experiment) rates() {
	m := x.model.Sites()
	cube := float64(m) * float64(m) * float64(m)
	engine := linalg.NewExact(x.model.Gram)
	d := make([]float64, m)
	for i := range d {
		d[i] = 1 / max(x.model.Gram.At(i, i), 1e-300)
	}
	var err error
	seconds := median(3, func() { err = engine.Refresh(d) })
	if err == nil {
		x.row.RefreshGflops = 2 * cube / 3 / seconds / 1e9
	}
	g := min(m, largestGemm)
	cube = float64(g) * float64(g) * float64(g)
	square := func() blas64.General {
		return blas64.General{Rows: g, Cols: g, Stride: g, Data: make([]float64, g*g)}
	}
	a, b, c := square(), square(), square()
	for i := range a.Data {
		a.Data[i], b.Data[i] = float64(i%7), float64(i%5)
	}
	seconds = median(3, func() { blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) })
	x.row.DgemmGflops = 2 * cube / seconds / 1e9
}
