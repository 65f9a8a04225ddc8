package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/internal/model"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/solver"
)

// ScaleRow is one solve of the theory, large as it may be: what it costs in time
// and memory, kernel matrix included. Nothing is retrained.
type ScaleRow struct {
	Setup
	Engine string `json:"engine"` // "exact" or "lowrank": what was used

	Rank         int     `json:"rank,omitempty"`          // of a low-rank kernel matrix
	RankResidual float64 `json:"rank_residual,omitempty"` // its mean residual over the mean of K_ii

	ScaleTimes
	Error float64 `json:"error"` // left-out error
	Convergence
	Linear int `json:"linear"` // iterations of the linear solve for the variances
	Passes int `json:"passes"`

	ExactOff
	PeakBytes int64 `json:"peak_bytes"` // kernel matrix or factor, engine, solution
	Machine
}

// ScaleTimes are the seconds of a solve.
type ScaleTimes struct {
	GramS  float64 `json:"gram_s"`  // of the kernel matrix or its factor
	SolveS float64 `json:"solve_s"` // of start value, all refreshes, variances and left-out error
	TotalS float64 `json:"total_s"` // of both
	SweepS float64 `json:"sweep_s"` // of one sweep of the iteration, on average; 0 where there was one only
}

// ExactOff says how far a low-rank row is from the exact one of the same data and size, where
// such a row came before: ErrorOff is the relative difference of the left-out error,
// VarianceOff the median over sites of that of the variances.
type ExactOff struct {
	Compared    bool    `json:"compared"`
	ErrorOff    float64 `json:"error_off,omitempty"`
	VarianceOff float64 `json:"variance_off,omitempty"`
}

// ScaleTasks solve all cases, size by size; run one after the other, low-rank rows are
// compared with the exact ones before them. Of the settings Seed, Tolerance and MaxSweeps count.
func ScaleTasks(cases []Case, s Settings) ([]Task[ScaleRow], error) {
	known := map[reference]exactAnswer{}
	return tasks(cases, s, "scale", func(x *experiment, ctx context.Context) (ScaleRow, error) {
		return x.scale(ctx, known)
	})
}

// reference names the exact answers that low-rank ones are compared with.
type reference struct {
	data  string
	n     int
	ratio float64
}

type exactAnswer struct {
	error     float64
	variances []float64
}

// scale makes one row.
func (x *experiment) scale(ctx context.Context, known map[reference]exactAnswer) (row ScaleRow, err error) {
	if err := x.build(); err != nil {
		return row, err
	}
	var ends []time.Duration
	began := time.Now()
	answer, err := x.model.Solve(ctx, x.scheme, solver.Settings{
		Tolerance: x.settings.Tolerance, MaxSweeps: x.settings.MaxSweeps,
		Progress: func(s solver.Sweep) { ends = append(ends, s.Elapsed) },
	})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return row, err
	}
	row = x.scaleRow(answer)
	row.Error, _ = answer.LeftOut(x.test)
	row.SolveS, row.GramS = time.Since(began).Seconds(), x.model.GramTime.Seconds()
	row.TotalS = row.GramS + row.SolveS
	if last := len(ends) - 1; last > 0 {
		row.SweepS = (ends[last] - ends[0]).Seconds() / float64(last)
	}
	row.compare(known, answer.Var)
	return row, nil
}

// scaleRow is what a solve says of itself.
func (x *experiment) scaleRow(s *solver.Solution) ScaleRow {
	row := ScaleRow{Setup: x.setup(), Engine: model.Exact.String(), Convergence: convergenceOf(s),
		Linear: s.Stats.Linear, Passes: s.Stats.Passes, PeakBytes: s.Bytes(), Machine: machine()}
	if a, ok := x.model.Approximation(); ok {
		row.Engine, row.Rank, row.RankResidual = model.LowRank.String(), a.Rank, a.Residual
		row.PeakBytes = max(row.PeakBytes, linalg.LowRankBytes(row.Sites, a.Rank))
	}
	return row
}

// compare keeps an exact answer, and sets a low-rank one against it.
func (r *ScaleRow) compare(known map[reference]exactAnswer, variances []float64) {
	key := reference{r.Data, r.N, r.Ratio}
	if r.Rank == 0 {
		known[key] = exactAnswer{r.Error, slices.Clone(variances)}
		return
	}
	exact, ok := known[key]
	if !ok || len(exact.variances) != len(variances) {
		return
	}
	off := make([]float64, 0, len(variances))
	for i, v := range exact.variances {
		if v > 0 {
			off = append(off, math.Abs(variances[i]/v-1))
		}
	}
	if len(off) == 0 {
		return
	}
	r.ExactOff = ExactOff{true, r.Error/exact.error - 1, median(off)}
}

// Growth is the exponent p of the least-squares fit of a N^p to a figure of the
// rows, on logarithmic scales. ok is false where it is not determined: fewer than
// two sizes, or a figure that is not positive.
func Growth(rows []ScaleRow, of func(ScaleRow) float64) (p float64, ok bool) {
	var n, y []float64
	for _, r := range rows {
		if !(of(r) > 0) {
			return 0, false
		}
		n, y = append(n, math.Log(float64(r.N))), append(y, math.Log(of(r)))
	}
	if len(n) < 2 || slices.Max(n) == slices.Min(n) {
		return 0, false
	}
	_, p = stat.LinearRegression(n, y, nil, false)
	return p, true
}

// The smallest size of DefaultScale, and the fixed rank at which the growth with N is that of N
// alone.
const (
	smallestScale = 2500
	fixedRank     = 200
)

// DefaultScale are the experiments that show how far each engine goes: synthetic
// regression (waves in 4 inputs) with the exact engine up to exact examples, and
// with the low-rank engine, at a fixed rank and at a tolerance, up to lowrank
// examples; sizes double from 2500.
func DefaultScale(exact, lowrank int) ([]Case, error) {
	spec, err := waves(max(exact, lowrank))
	if err != nil {
		return nil, err
	}
	full, fixed, tolerant := spec, spec, spec
	fixed.Storage, fixed.Rank = model.LowRank, fixedRank
	tolerant.Storage = model.LowRank
	return []Case{
		{Name: "waves", Spec: full, Ratio: 1, Sizes: doubling(exact)},
		{Name: fmt.Sprintf("waves, rank %d", fixedRank), Spec: fixed, Ratio: 1, Sizes: doubling(lowrank)},
		{Name: "waves", Spec: tolerant, Ratio: 1, Sizes: doubling(lowrank)},
	}, nil
}

// doubling are sizes that double up to most, from 2500 on.
func doubling(most int) []int {
	sizes := []int{most}
	for n := most / 2; n >= smallestScale; n /= 2 {
		sizes = append([]int{n}, sizes...)
	}
	return sizes
}

// waves is synthetic regression on a smooth function of 4 inputs, noise variance
// 0.01 as generated, with the kernel that the function is a sample of: rbf with
// gamma 1/(2 d).
func waves(n int) (model.Spec, error) {
	set, err := generate("waves", n)
	return model.Spec{Set: set, Loss: loss.Square{Noise: 0.01}, Kernel: kernel.Spec{Kind: kernel.RBF}}, err
}
