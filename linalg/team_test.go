package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"bootbench/linalg"
	"bootbench/linalg/dist"
	"bootbench/linalg/dist/disttest"
)

// lowRankAnswers is everything that a low-rank factor and its engine at d can be asked,
// by name.
func lowRankAnswers(t *testing.T, k *linalg.Sym, limit linalg.RankOptions, d []float64) map[string][]float64 {
	t.Helper()
	n := k.N()
	f, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k}, limit)
	if err != nil {
		t.Error(err)
		return nil
	}
	rng := linalg.Seeded(8)
	draw := func(count int) []float64 { return linalg.DrawSites(count, linalg.SiteRegimes["even"], rng) }
	share := f.Sites()
	vector := func(fill func(dst []float64)) []float64 { // of which fill makes the own part
		dst := make([]float64, share.Own())
		fill(dst)
		return share.Gather(dst)
	}
	rows := func(count int) blas64.General { // of own columns
		whole := draw(count * (n + 3))
		return blas64.General{Rows: count, Cols: share.Own(), Stride: n + 3,
			Data: whole[min(share.First, len(whole)):]}
	}
	gatherRows := func(of blas64.General) (all []float64) {
		for r := range of.Rows {
			all = append(all, share.Gather(of.Data[r*of.Stride:][:of.Cols])...)
		}
		return all
	}
	a := map[string][]float64{"residual": append(share.Gather(f.Residual()), 1)} // in units of K_ii
	for _, pivot := range f.Pivots() {
		a["pivots"] = append(a["pivots"], float64(pivot))
	}
	x := draw(n)
	a["K x"] = make([]float64, n)
	f.MulVec(a["K x"], x)
	a["element"] = append([]float64{f.At(n-1, 0), f.At(0, n/2)}, share.Gather(linalg.Diagonal(f))...)
	a["coordinates"] = draw(2 * f.Rank())
	f.Coordinates(a["coordinates"])
	a["vectors"] = make([]float64, 2*n)
	f.Vectors(a["vectors"], a["coordinates"])

	var some []int
	for i := n / 3; i < n; i += 2 {
		some = append(some, i)
	}
	if a["eigenvalues"], err = f.Eigenvalues(some); err != nil {
		t.Error(err)
	}
	system, shift := f.Subset(some).System(), draw(len(some))
	shift[0] = math.Inf(1)
	if err := system.Factorize(shift); err != nil {
		t.Error(err)
	}
	a["system"] = draw(len(some))
	system.Solve(a["system"])
	if c, ok := f.Coarsen(); ok {
		a["coarser"] = make([]float64, n)
		c.(*linalg.LowRankPlusDiag).MulVec(a["coarser"], x)
	}

	e, x, d := f.Engine(), share.Of(x), share.Of(d)
	if err := e.Factorize(d); err != nil {
		t.Error(err)
		return nil
	}
	chi, b := e.Diag()
	a["chi"], a["b"] = share.Gather(chi), share.Gather(b)
	a["G x"] = vector(func(dst []float64) { e.MulVecOffDiag(dst, x) })
	a["G o G x"] = vector(func(dst []float64) { e.MulVecSquaredOffDiag(dst, x) })
	a["row"] = vector(func(dst []float64) { e.Row(dst, n-1) })
	many, product := rows(3), rows(3)
	e.MulRows(product, many)
	a["rows"] = gatherRows(product)
	whole := blas64.General{Rows: n, Cols: n, Stride: n + 3, Data: draw(n * (n + 3))}
	e.CopyG(whole)
	a["all of G"] = whole.Data
	single := func(from blas64.General) blas32.General {
		to := blas32.General{Rows: from.Rows, Cols: from.Cols, Stride: from.Stride,
			Data: make([]float32, len(from.Data))}
		for i, v := range from.Data {
			to.Data[i] = float32(v)
		}
		return to
	}
	product32 := single(product)
	e.Product32().MulRows(product32, single(many))
	for i, v := range product32.Data {
		product.Data[i] = float64(v)
	}
	a["single precision"] = gatherRows(product)
	predicted := make([]float64, 4)
	e.Predictor(x, d).Predict(draw(2*e.InputDim()), predicted[:2], predicted[2:])
	a["predictions"] = predicted
	moved := make([]float64, share.Own())
	a["predicted diagonals"] = vector(func(dst []float64) {
		e.PredictDiag(share.Of(linalg.DrawSites(n, linalg.SiteRegimes["zeros"], rng)), dst, moved)
	})
	a["predicted diagonals"] = append(a["predicted diagonals"], share.Gather(moved)...)
	if c := e.Coarse(); c != nil {
		chi, _ := c.Diag()
		a["coarse chi"] = share.Gather(chi)
	}
	addBiased(t, a, f, share, x, d, draw)
	return a
}

// addBiased adds what an engine with a bias answers, of own sites and with vectors over all of them
// (linalg.Whole).
func addBiased(t *testing.T, a map[string][]float64, f *linalg.LowRankPlusDiag, share linalg.Share, x,
	d []float64, draw func(count int) []float64) {
	t.Helper()
	e := linalg.WithBias(f).Engine()
	if err := e.Factorize(d); err != nil {
		t.Error(err)
		return
	}
	chi, b := e.Diag()
	a["biased chi"], a["biased b"] = share.Gather(chi), share.Gather(b)
	product := make([]float64, len(x))
	e.MulVecOffDiag(product, x)
	a["biased G x"] = share.Gather(product)
	e.MulVecSquaredOffDiag(product, x)
	a["biased G o G x"] = share.Gather(product)
	predicted := make([]float64, 4)
	e.Predictor(x, d).Predict(draw(2*e.InputDim()), predicted[:2], predicted[2:])
	a["biased predictions"] = predicted
	n := f.N()
	whole, row := linalg.Whole(e), make([]float64, n)
	whole.Row(row, n/2)
	a["biased row"] = row
	rows := blas64.General{Rows: 2, Cols: n, Stride: n, Data: draw(2 * n)}
	a["biased rows"] = make([]float64, 2*n)
	whole.MulRows(blas64.General{Rows: 2, Cols: n, Stride: n, Data: a["biased rows"]}, rows)
	a["biased responses"] = linalg.Responses(whole, rows).Data
	a["biased variance"] = []float64{linalg.BiasVariance(whole, rows.Data[:n])}
}

// teamAccuracy is what an answer may be off by where those in double precision may be by accuracy.
func teamAccuracy(what string, accuracy float64) float64 {
	switch what {
	case "single precision":
		return math.Max(accuracy, 1e-6)
	case "single precision squares": // what is left of the diagonal, ten times as large
		return math.Max(accuracy, 1e-4)
	}
	return accuracy
}

// A factor over a team is that of one process: the same pivots, and every answer to the
// rounding of sums in another order, some 1e-15, which the triangle of the pivots, whose
// smallest are 1e-4, and the smallest residuals magnify by 1e5, the harsh d by the condition
// of M (1e10, as in TestReadOuts). All members have the same bits. Sizes with members that hold
// nothing, and more pivots than a panel has.
func TestTeamEqualsOneProcess(t *testing.T) {
	for _, c := range []struct {
		n, members int
		regime     string
		accuracy   float64
	}{
		{2, 3, "even", 1e-12}, {40, 2, "even", 1e-9}, {40, 3, "zeros", 1e-9}, {150, 4, "even", 1e-9},
		{150, 2, "strong", 1e-4}, {150, 3, "decades", 1e-4},
	} {
		t.Run(fmt.Sprintf("n=%d/members=%d/d=%s", c.n, c.members, c.regime), func(t *testing.T) {
			k := linalg.GaussianGram(c.n, false, linalg.Seeded(4))
			limit := linalg.RankOptions{Tol: 1e-8}
			d := linalg.DrawSites(c.n, linalg.SiteRegimes[c.regime], linalg.Seeded(5))
			want := lowRankAnswers(t, k, limit, d)
			got := make([]map[string][]float64, c.members)
			disttest.OnRanks(1, c.members, func(g dist.Grid) {
				limit := limit
				limit.Team = dist.NewTeam(g)
				got[g.Rank()] = lowRankAnswers(t, k, limit, d)
			})
			for what, want := range want {
				for rank := range got {
					accuracy := teamAccuracy(what, c.accuracy)
					compareVectors(t, fmt.Sprintf("%s on rank %d", what, rank), want, got[rank][what], accuracy)
					if !slices.EqualFunc(got[rank][what], got[0][what],
						func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) }) {
						t.Errorf("%s: rank %d has other bits than rank 0", what, rank)
					}
				}
			}
		})
	}
}

// compareVectors compares to a share of the largest element.
func compareVectors(t *testing.T, what string, want, got []float64, accuracy float64) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	largest, worst := 0.0, 0.0
	for i, v := range want {
		largest, worst = math.Max(largest, math.Abs(v)), math.Max(worst, math.Abs(v-got[i]))
	}
	if !(worst <= accuracy*largest) {
		t.Errorf("%s is off by %.1e of its largest value", what, worst/largest)
	}
}

// A matrix that is no kernel's, or columns that cannot be had on one member alone, are an
// error on all.
func TestTeamRefuses(t *testing.T) {
	k := linalg.GaussianGram(60, false, linalg.Seeded(4))
	k.Set(50, 55, 3) // no correlation
	disttest.OnRanks(1, 2, func(g dist.Grid) {
		if _, err := linalg.PivotedCholesky(linalg.SymColumns{Sym: k},
			linalg.RankOptions{Team: dist.NewTeam(g)}); err == nil {
			t.Errorf("rank %d: an indefinite matrix has a factor", g.Rank())
		}
	})
	fault := errors.New("not to be had")
	disttest.OnRanks(1, 2, func(g dist.Grid) {
		columns := failingColumns{linalg.SymColumns{Sym: k}, nil}
		if g.Rank() == 1 {
			columns.err = fault
		}
		_, err := linalg.PivotedCholesky(columns, linalg.RankOptions{Team: dist.NewTeam(g)})
		if err == nil || errors.Is(err, fault) != (g.Rank() == 1) {
			t.Errorf("rank %d: %v", g.Rank(), err)
		}
	})
}

type failingColumns struct {
	linalg.SymColumns
	err error
}

func (c failingColumns) Columns(dst []float64, sites []int, first, last int) error {
	if c.err != nil {
		return c.err
	}
	return c.SymColumns.Columns(dst, sites, first, last)
}
