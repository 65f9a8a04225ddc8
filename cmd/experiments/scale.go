package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"bootbench/bench"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// scaleStudy solves the theory for Gaussian process regression at growing N, with both
// engines. Nothing is retrained.
func scaleStudy(f *flag.FlagSet) func(context.Context, []string, *output) error {
	exact := f.Int("exact", 5000, "largest `N` of the exact engine; N, N/2, ... down to 2500")
	low := f.Int("lowrank", 50000, "largest `N` of the low-rank engine")
	return func(ctx context.Context, _ []string, o *output) error {
		if *exact < 2 || *low < 2 {
			return fmt.Errorf("-exact is %d and -lowrank %d; both must be at least 2", *exact, *low)
		}
		cases, err := scaleCases(*exact, *low)
		if err != nil {
			return err
		}
		groups := make([][]scaleRow, len(cases))
		type exactAnswer struct {
			row       scaleRow
			variances []float64
		}
		known := map[int]exactAnswer{}
		for i, c := range cases {
			for _, n := range doubling(c.most) {
				row, variances, err := c.solve(ctx, n)
				if err != nil {
					return fmt.Errorf("%s, n = %d: %w", c.name, n, err)
				}
				if row.Rank == 0 {
					known[n] = exactAnswer{row, variances}
				} else if exact, ok := known[n]; ok && exact.row.Data == row.Data {
					row.Compared, row.ErrorOff = true, row.Error/exact.row.Error-1
					row.VarianceOff = medianOff(variances, exact.variances)
				}
				groups[i] = append(groups[i], row)
			}
		}
		return writeScale(o, groups)
	}
}

// scaleCase is a model that is solved at sizes up to most.
type scaleCase struct {
	name string
	spec model.Spec
	most int
}

// fixedRank is the rank at which the growth with N is that of N alone.
const fixedRank = 200

// scaleCases show how far each engine goes, on a smooth function of 4 inputs with the kernel that it is a
// sample of: the exact engine, and the low-rank one at a fixed rank and at a tolerance.
func scaleCases(exact, lowrank int) ([]scaleCase, error) {
	set, err := dataset.Load(fmt.Sprintf("synthetic:waves,n=%d", max(exact, lowrank)), dataset.Options{})
	if err != nil {
		return nil, err
	}
	// The noise is as generated, gamma 1/(2 d) by default.
	full := model.Spec{Set: set, Loss: loss.Square{Noise: 0.01}, Kernel: kernel.Spec{Kind: kernel.RBF}}
	fixed, tolerant := full, full
	fixed.Storage, fixed.Rank = model.LowRank, fixedRank
	tolerant.Storage = model.LowRank
	return []scaleCase{{"waves", full, exact}, {fmt.Sprintf("waves, rank %d", fixedRank), fixed, lowrank},
		{"waves", tolerant, lowrank}}, nil
}

// doubling are sizes that double up to most, from 2500 on.
func doubling(most int) []int {
	sizes := []int{most}
	for n := most / 2; n >= 2500; n /= 2 {
		sizes = append(sizes, n)
	}
	slices.Reverse(sizes)
	return sizes
}

// scaleRow is one solve of the theory: what it costs in time and memory, kernel matrix included.
type scaleRow struct {
	bench.Setup
	Engine       string  `json:"engine"` // "exact" or "lowrank": what was used
	Rank         int     `json:"rank"`   // of a low-rank kernel matrix
	RankResidual float64 `json:"rank_residual"`
	GramS        float64 `json:"gram_s"`  // seconds of the kernel matrix or its factor
	SolveS       float64 `json:"solve_s"` // of start value, all refreshes, variances and left-out error
	TotalS       float64 `json:"total_s"` // of both
	SweepS       float64 `json:"sweep_s"` // of one sweep, on average; 0 where there was one only
	Error        float64 `json:"error"`   // left-out error
	bench.Convergence
	Linear int `json:"linear"` // iterations of the linear solve for the variances
	Passes int `json:"passes"`
	// Of a low-rank row, if an exact one of the same data and size came before: the relative difference of the
	// left-out error, and the median over sites of that of the variances.
	Compared    bool    `json:"compared"`
	ErrorOff    float64 `json:"error_off"`
	VarianceOff float64 `json:"variance_off"`
	PeakBytes   int64   `json:"peak_bytes"` // kernel matrix or factor, engine, solution
	bench.Machine
}

// solve makes the row of the first n examples, and returns the theory's variances.
func (c scaleCase) solve(ctx context.Context, n int) (row scaleRow, variances []float64, err error) {
	spec, scheme := c.spec, resample.Poisson{Ratio: 1}
	spec.Set = bench.First(spec.Set, n, 0)
	m, err := model.Build(spec)
	if err != nil {
		return row, nil, err
	}
	var ends []time.Duration
	began := time.Now()
	s, err := m.Solve(ctx, scheme, solver.Settings{
		Progress: func(s solver.Sweep) { ends = append(ends, s.Elapsed) }})
	if err := cmp.Or(err, ctx.Err()); err != nil {
		return row, nil, err
	}
	row = scaleRow{Setup: bench.NewSetup(c.name, m, scheme), Engine: model.Exact.String(),
		Convergence: bench.NewConvergence(s), Linear: s.Stats.Linear, Passes: s.Stats.Passes, PeakBytes: s.Bytes(),
		Machine: bench.NewMachine(), GramS: m.GramTime.Seconds()}
	row.Error, _ = s.LeftOut(loss.SquareTest{})
	row.SolveS = time.Since(began).Seconds()
	row.TotalS = row.GramS + row.SolveS
	if last := len(ends) - 1; last > 0 {
		row.SweepS = (ends[last] - ends[0]).Seconds() / float64(last)
	}
	if a, ok := m.Approximation(); ok {
		row.Engine, row.Rank, row.RankResidual = model.LowRank.String(), a.Rank, a.Residual
		row.PeakBytes = max(row.PeakBytes, linalg.LowRankBytes(row.Sites, a.Rank))
	}
	return row, slices.Clone(s.Var), nil
}

// medianOff is the median relative difference of two lists where the second is above 0.
func medianOff(values, exact []float64) float64 {
	off := quotients(values, exact)
	for i := range off {
		off[i] = math.Abs(off[i] - 1)
	}
	return median(off)
}

// growth is the exponent p of the least-squares fit of a n^p to the seconds of the
// rows, on logarithmic scales; NaN for fewer than two sizes.
func growth(rows []scaleRow) float64 {
	var n, y []float64
	for _, r := range rows {
		n, y = append(n, math.Log(float64(r.N))), append(y, math.Log(r.TotalS))
	}
	if len(n) < 2 {
		return math.NaN()
	}
	_, p := stat.LinearRegression(n, y, nil, false)
	return p
}

func writeScale(o *output, groups [][]scaleRow) error {
	rows := slices.Concat(groups...)
	var cells [][]string
	for _, r := range rows {
		errorOff, varianceOff := "-", "-"
		if r.Compared {
			errorOff, varianceOff = fmt.Sprintf("%.2g%%", 100*r.ErrorOff), fmt.Sprintf("%.2g%%", 100*r.VarianceOff)
		}
		cells = append(cells, []string{r.Data, r.Engine, fmt.Sprint(r.N), fmt.Sprint(r.Rank),
			seconds(r.GramS), seconds(r.SolveS), seconds(r.SweepS),
			fmt.Sprint(r.Refreshes.Exact + r.Refreshes.Single), fmt.Sprint(r.Refreshes.Diagonal + r.Linear + r.Passes),
			fmt.Sprintf("%.1f", float64(r.PeakBytes)/(1<<20)), number(r.Error), errorOff, varianceOff, r.Status})
	}
	if err := o.table([]string{"data", "engine", "n", "rank", "kernel s", "solve s",
		"sweep s", "refreshes", "products", "MiB", "error", "error off", "var off", "status"}, cells); err != nil {
		return err
	}
	if err := writeCSV(o, "scale.csv", rows); err != nil {
		return err
	}
	for _, group := range groups {
		if p := growth(group); !math.IsNaN(p) {
			fmt.Fprintf(o, "%s, %s engine: time grows like n^%.2f\n", group[0].Data, group[0].Engine, p)
		}
	}
	return o.figures(scaleFigure(groups))
}

// scaleFigure shows seconds and memory against N.
func scaleFigure(groups [][]scaleRow) *report.Figure {
	times := report.Panel{X: report.Axis{Label: "examples n", Log: true},
		Y: report.Axis{Label: "seconds", Log: true}}
	memory := report.Panel{X: times.X, Y: report.Axis{Label: "GiB", Log: true}}
	for i, group := range groups {
		seconds := report.Series{Label: group[0].Data + ", " + group[0].Engine, Mark: report.Joined, Colour: i}
		bytes := report.Series{Mark: report.Joined, Colour: i}
		for _, r := range group {
			seconds.Add(float64(r.N), r.TotalS)
			bytes.Add(float64(r.N), float64(r.PeakBytes)/(1<<30))
		}
		times.Series, memory.Series = append(times.Series, seconds), append(memory.Series, bytes)
	}
	return &report.Figure{
		Name: "scale", Title: "the theory across N", Panels: []report.Panel{times, memory},
		Caption: "Seconds of the whole solve, kernel matrix or factor included, and memory, of the exact and the " +
			"low-rank engine.",
	}
}
