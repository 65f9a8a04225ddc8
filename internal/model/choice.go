package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"gonum.org/v1/gonum/stat"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// Limits of the choice that Auto makes.
const (
	// defaultRankTol is the Spec.RankTol of the low-rank engine for losses other than the square one.
	defaultRankTol = 1e-4

	// Up to ApproximateFrom sites Auto requires for the square loss a residual at which a low-rank answer is
	// exact to the tolerance of the solver: answerShare of the noise variance, with relative errors of 1e-8
	// to 7e-7 in the left-out error and the median variance per point at ratios from 0.3 to 3, up to 3e-5 in
	// single variances. (With noise as large as the signal, at gamma d = 0.003 and ratio 5, the relative
	// error was 5e-6.) If RankTol is set, it requires exactTol for other losses. A hard margin, which any
	// residual softens, is approximated only if K would not fit.
	answerShare = 3e-8
	exactTol    = 1e-12

	// ApproximateFrom is the number of sites above which Auto approximates to RankError, or RankTol if that
	// is set; a matrix that does not fit into memory is approximated at any size.
	ApproximateFrom = 5000

	// probeFrom is the number of sites below which Auto does not probe the rank.
	probeFrom = 400

	// fineFrom is the number of sites, for losses that are not quadratic, from which a factor is taken if it
	// is cheaper. Up to 640, exact sweeps have kernels of their own.
	fineFrom = 700

	// fineTol is the residual, relative to K, that a quarter of the highest rank must reach there; at the
	// highest rank usualResidual will do. The factor goes on to defaultRankTol if it can.
	fineTol = 0.03

	// worthNewton is worthRank for losses that are not quadratic: a product with the Jacobian of sweeps takes
	// 4 M r^2 flops instead of 4 M^2.
	worthNewton = 8

	// worthRank is the number of sites per rank at which the two engines take about the same time: the
	// low-rank one needs 12 M r^2 flops, its factor included, instead of 2 M^3, in smaller and slower
	// products. Measured, it is slower by a quarter at 3.5 and faster by a third at 4.7.
	worthRank = 4
)

// makeMatrix is the kernel matrix in that form.
func makeMatrix(ctx context.Context, m *Model) (linalg.Kernel, error) {
	switch m.Spec.Storage {
	case LowRank:
		return approximate(ctx, m, nil)
	case Auto:
		return chooseMatrix(ctx, m)
	case ScaLAPACK:
		text, err := m.inputs.MarshalBinary()
		if err != nil {
			return nil, err
		}
		k, err := m.Servants.Matrix(m.inputs, text, m.Block, vectorBytes(m), m.MaxBytes)
		if err != nil {
			return nil, err
		}
		return k, k.Check()
	}
	if err := checkExact(m); err != nil {
		return nil, err
	}
	return wholeMatrix(ctx, m)
}

// wholeMatrix is the dense kernel matrix.
func wholeMatrix(ctx context.Context, m *Model) (linalg.Kernel, error) {
	if m.inputs != nil {
		return m.inputs.Gram(ctx)
	}
	return precomputed(m)
}

// factorGoal is the residual at which a factor ends: RankTol or its default, relative to K, or, for the
// square loss by default, a sum per pivot that depends on the noise.
func factorGoal(m *Model) linalg.RankOptions {
	o := linalg.RankOptions{Tol: m.RankTol, Offset: m.Spec.Kernel.Constant}
	if t := loss.TraitsOf(m.Loss); t.Quadratic && o.Tol == 0 {
		o.PerRank = factorShare * m.rankGoal() / rankErrorFactor * t.Noise
	} else if o.Tol == 0 {
		o.Tol = defaultRankTol
	}
	return o
}

// meanVariance is the mean of K_ii without the constant.
func meanVariance(m *Model, k linalg.Columns) (float64, error) {
	diagonal := make([]float64, k.N())
	err := k.Diagonal(diagonal)
	return math.Max(0, stat.Mean(diagonal, nil)-m.Spec.Kernel.Constant), err
}

// checkExact refuses a dense kernel matrix that would not fit, and suggests an engine that would.
func checkExact(m *Model) error {
	need, what := buildBytes(m), fmt.Sprintf("the theory for %d distinct inputs", m.Sites())
	err := linalg.CheckMemory(need, m.MaxBytes, what)
	if err != nil && m.Then != nil {
		all := matrixBytes(m) + m.Then(m)
		err = linalg.CheckMemory(max(need, all), m.MaxBytes, what+", and what follows it,")
	}
	if err == nil || m.Kernel.Kind == kernel.Precomputed {
		return err
	}
	err = fmt.Errorf("%w; the scalapack engine spreads it over machines", err)
	if rank := linalg.RankThatFits(m.Sites(), rankBytes(m)); rank > 0 {
		return fmt.Errorf("%w; the lowrank engine would fit, up to rank %d", err, rank)
	}
	return err
}

// rankBytes is the memory available for a factor and its engine.
func rankBytes(m *Model) int64 {
	return max(1, linalg.Room(m.MaxBytes)-vectorBytes(m)-solveBytes(m, -1))
}

// chooseMatrix is Auto. It takes the exact engine unless a factorisation, much cheaper than the exact engine,
// shows that the rank is low enough.
func chooseMatrix(ctx context.Context, m *Model) (linalg.Kernel, error) {
	if exactError := checkExact(m); exactError != nil {
		if m.inputs == nil {
			return nil, exactError
		}
		m.reason = "the kernel matrix would not fit into memory"
		return approximate(ctx, m, exactError)
	}
	sites := m.Sites()
	t := loss.TraitsOf(m.Loss)
	if sites < probeFrom || !t.Quadratic && sites < fineFrom || m.inputs == nil || t.Dense ||
		m.Spec.FitsAlone && t.Margin && sites < ApproximateFrom {
		return wholeMatrix(ctx, m)
	}
	if !t.Quadratic && sites < ApproximateFrom && m.RankTol == 0 {
		return chooseFine(ctx, m)
	}
	loosest, err := loosestResidual(m)
	if err != nil {
		return nil, err
	}
	most := sites / worthRank
	if m.Spec.MaxRank > 0 {
		most = min(most, m.Spec.MaxRank)
	}
	err = probeRank(ctx, m, loosest, most)
	if errors.Is(err, linalg.ErrRank) {
		return wholeMatrix(ctx, m)
	} else if err != nil {
		return nil, err
	}
	k, err := factorise(ctx, m, loosest, most)
	if errors.Is(err, linalg.ErrRank) {
		return wholeMatrix(ctx, m)
	}
	return k, err
}

// chooseFine is chooseMatrix for few sites and a loss that is not quadratic.
func chooseFine(ctx context.Context, m *Model) (linalg.Kernel, error) {
	most := m.Sites() / worthNewton
	if m.Spec.MaxRank > 0 {
		most = min(most, m.Spec.MaxRank)
	}
	k, err := factoriseFine(ctx, m, most)
	switch {
	case errors.Is(err, linalg.ErrRank) || errors.Is(err, linalg.ErrMemory):
		return wholeMatrix(ctx, m)
	case err != nil:
		return nil, err
	}
	m.fine, m.reason = true, "it is faster here"
	return k, nil
}

// factoriseFine makes a factor of the usual accuracy, if a quarter of the rank suffices for fineTol.
func factoriseFine(ctx context.Context, m *Model, most int) (linalg.Kernel, error) {
	if _, err := linalg.PivotedCholesky(ctx, m.inputs, linalg.RankOptions{Tol: fineTol, MaxRank: most / 4,
		Offset: m.Spec.Kernel.Constant}); err != nil {
		return nil, err
	}
	k, err := factorise(ctx, m, defaultRankTol, most)
	var short *linalg.RankError
	if errors.As(err, &short) && short.Residual <= usualResidual {
		return jittered(m, short.Factor), nil
	}
	return k, err
}

// approximate makes a factor to the goal, or, unless RankTol is given, to the limits of MaxRank and memory;
// the answer's status reports the effect. exact is the reason for no dense K, nil if none was requested.
func approximate(ctx context.Context, m *Model, exact error) (linalg.Kernel, error) {
	k, err := factorise(ctx, m, 1, m.Spec.MaxRank)
	var short *linalg.RankError
	switch {
	case !errors.As(err, &short):
		return k, err
	case short.Rank > 0 && m.Spec.RankTol == 0:
		m.limited = true
		return jittered(m, short.Factor), nil
	case short.Rank > 0:
		return nil, err
	case exact != nil:
		return nil, fmt.Errorf("%w; a factor of rank 1 would fit of about %d inputs", exact,
			sitesThatFit(m, 1))
	}
	return nil, fmt.Errorf("%w for a factor of rank 1 of %d distinct inputs; for about %d there would be",
		linalg.ErrMemory, m.Sites(), sitesThatFit(m, 1))
}

// RankSuffices reports whether the factor of a solve will probably have at most this rank: to the goal of the
// noise for the square loss, to usualResidual for other losses.
func (s Spec) RankSuffices(ctx context.Context, rank int) bool {
	if rank < 1 {
		return false
	}
	s.Storage, s.MaxRank = LowRank, rank
	if !loss.TraitsOf(s.Loss).Quadratic && s.RankTol == 0 {
		s.RankTol = usualResidual
	}
	m, err := Build(ctx, s)
	return err == nil && !m.limited
}

// usualResidual is below the relative residual at the ranks that Settle chooses for margins (magic: 0.003 to
// 0.005).
const usualResidual = 1e-3

// jittered is a factor plus the jitter, which its factorisation excludes.
func jittered(m *Model, factor *linalg.LowRankPlusDiag) linalg.Kernel {
	factor.AddDiag(m.Spec.Kernel.Jitter)
	return factor
}

// loosestResidual is the largest residual that Auto allows; it sets reason.
func loosestResidual(m *Model) (float64, error) {
	if m.Sites() >= ApproximateFrom {
		m.reason = "it is faster here"
		return 1, nil
	}
	t := loss.TraitsOf(m.Loss)
	mean, err := meanVariance(m, m.inputs)
	if !t.Quadratic || mean == 0 {
		m.reason = "numerically the kernel matrix has no higher rank"
		return exactTol, err
	}
	m.reason = "beside the noise the kernel matrix has no higher rank"
	return answerShare * t.Noise / mean, err
}

// probeRank fails with ErrRank if the rank exceeds most already for a random subset of the sites, not much
// larger than most. First a quarter of the rank must reach a quarter of the digits: residuals of smooth
// kernels decay at most geometrically, and most failures occur here.
func probeRank(ctx context.Context, m *Model, loosest float64, most int) error {
	order := rand.New(rand.NewPCG(1, 0)).Perm(m.Sites())
	for _, part := range []int{4, 1} {
		limit := factorGoal(m)
		limit.MaxRank = most / part
		columns := m.inputs.Subset(order[:min(len(order), limit.MaxRank+limit.MaxRank/4)])
		if limit.PerRank > 0 {
			mean, err := meanVariance(m, columns)
			if err != nil {
				return err
			}
			limit.Tol = math.Min(0.1, limit.PerRank/mean*float64(most)/float64(m.Sites()))
			limit.PerRank = 0
		}
		limit.Tol = math.Pow(math.Min(loosest, limit.Tol), 1/float64(part))
		if _, err := linalg.PivotedCholesky(ctx, columns, limit); err != nil {
			return err
		}
	}
	return nil
}

// factorise makes the low-rank form, to the tolerance or the loosest allowed one.
func factorise(ctx context.Context, m *Model, loosest float64, most int) (linalg.Kernel, error) {
	limit := factorGoal(m)
	columns, err := kernelColumns(m)
	if err != nil {
		return nil, err
	}
	var factor *linalg.LowRankPlusDiag
	limit.MaxRank, limit.MaxBytes = most, rankBytes(m)
	switch {
	case loosest < 1 && limit.PerRank > 0: // loosest replaces PerRank
		limit.Tol, limit.PerRank = loosest, 0
	case loosest < 1:
		limit.Tol = math.Min(loosest, limit.Tol)
	case limit.PerRank > 0 && !m.byBound && m.Sites() >= ApproximateFrom && !m.sampled():
		limit.Enough = enoughRank(m)
	}
	if limit.PerRank > 0 && m.sampled() {
		factor, err = chooseRank(ctx, m, most)
	} else {
		factor, err = linalg.PivotedCholesky(ctx, columns, limit)
	}
	var short *linalg.RankError
	if errors.As(err, &short) && short.Memory {
		return nil, fmt.Errorf("%w: %w", linalg.ErrMemory, err)
	}
	if err != nil {
		return nil, err
	}
	return jittered(m, factor), nil
}

// sitesThatFit is the number of sites for which a factor of this rank and everything else would fit into
// memory.
func sitesThatFit(m *Model, rank int) int {
	each := (vectorBytes(m) + solveBytes(m, -1)) / int64(m.Sites())
	return sort.Search(m.Sites(), func(n int) bool {
		return linalg.LowRankBytes(n+1, rank)+each*int64(n+1) > linalg.Room(m.MaxBytes)
	})
}

// kernelColumns is the kernel matrix by columns, without its jitter.
func kernelColumns(m *Model) (linalg.Columns, error) {
	if m.inputs != nil {
		return m.inputs, nil
	}
	if err := checkExact(m); err != nil {
		return nil, err
	}
	k, err := precomputed(m)
	if err != nil {
		return nil, err
	}
	k.AddDiag(-m.Spec.Kernel.Jitter)
	return k, nil
}

// precomputed is the precomputed kernel matrix over the examples, whose rows are the features.
func precomputed(m *Model) (*linalg.Sym, error) {
	n := m.Set.N()
	if m.Set.D() != n {
		return nil, fmt.Errorf("a precomputed kernel needs as many features as examples, got %d and %d",
			m.Set.D(), n)
	}
	k, err := linalg.SymFromDense(n, m.Set.X.Data, precomputedTolerance)
	if err != nil {
		return nil, fmt.Errorf("precomputed kernel: %w", err)
	}
	if m.Merged() > 0 {
		all := k
		k = linalg.ZeroSym(len(m.First))
		for i, first := range m.First {
			row := k.Row(i)
			for j := range row {
				row[j] = all.At(first, m.First[i+j])
			}
		}
	}
	return k, m.Kernel.Complete(k)
}
