package model

import (
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
	// DefaultRankTol is the Spec.RankTol of the low-rank engine for losses other than the square one.
	DefaultRankTol = 1e-4

	// Up to ApproximateFrom sites Auto asks for a residual at which a low-rank answer is the exact one to the
	// tolerance of the solver: answerShare of the noise variance of the square loss, where the left-out error
	// and the median variance per point were off by 1e-8 to 7e-7 at ratios from 0.3 to 3, single variances by up
	// to 3e-5; exactTol for other losses. (Beside noise as large as the signal, at gamma d = 0.003 and ratio 5,
	// the error was off by 5e-6.) A hard margin, which any residual softens, is approximated only where K would
	// not fit.
	answerShare = 3e-8
	exactTol    = 1e-12

	// ApproximateFrom is the number of sites from which on Auto approximates to
	// RankError, or RankTol if that is set; a matrix that does not fit into memory is approximated at any size.
	ApproximateFrom = 5000

	// probeFrom is the number of sites below which Auto does not look.
	probeFrom = 400

	// probeHingeFrom is that number for the hinge loss: on factors of rank 60 of 600 sites their exact
	// fits took 4 to 20 s and missed their tolerance, on the kernel matrix all took 0.4 s.
	probeHingeFrom = 2000

	// worthRank is the number of sites per rank at which the two engines take about the same time: counting
	// flops the low-rank one needs 12 M r^2, its factor included, against 2 M^3, in products that are smaller
	// and run slower. Measured, it is slower by a quarter at 3.5 and faster by a third at 4.7.
	worthRank = 4
)

// choice makes a model with its kernel matrix, in the form that the specification asks for.
type choice struct{ *Model }

// matrix is the kernel matrix in that form.
func (m choice) matrix() (linalg.Kernel, error) {
	switch m.Spec.Storage {
	case LowRank:
		return m.approximate(nil)
	case Auto:
		return m.choose()
	case ScaLAPACK:
		text, err := m.inputs.MarshalBinary()
		if err != nil {
			return nil, err
		}
		k, err := m.Servants.Matrix(m.inputs, text, m.Block, m.Forecast().vectorBytes(), m.MaxBytes)
		if err != nil {
			return nil, err
		}
		return k, k.Check()
	}
	if err := m.checkExact(); err != nil {
		return nil, err
	}
	return m.whole()
}

// whole is all of the kernel matrix.
func (m choice) whole() (linalg.Kernel, error) {
	if m.inputs != nil {
		return m.inputs.Gram()
	}
	return m.given()
}

// goal says at which residual a factor ends: at a share of K, RankTol or its default, or, for the square loss
// by default, at so much per pivot as the noise allows.
func (m choice) goal() linalg.RankOptions {
	o := linalg.RankOptions{Tol: m.RankTol, Offset: m.Spec.Kernel.Constant}
	if square, ok := m.Loss.(loss.Square); ok && o.Tol == 0 {
		o.PerRank = factorShare * m.rankGoal() / rankErrorFactor * square.Noise
	} else if o.Tol == 0 {
		o.Tol = DefaultRankTol
	}
	return o
}

// meanVariance is the mean of K_ii, constant apart.
func (m choice) meanVariance(k linalg.Columns) (float64, error) {
	diagonal := make([]float64, k.N())
	err := k.Diagonal(diagonal)
	return math.Max(0, stat.Mean(diagonal, nil)-m.Spec.Kernel.Constant), err
}

// checkExact refuses a kernel matrix that would not fit, and names the engine that would.
func (m choice) checkExact() error {
	need, what := m.Forecast().buildBytes(), fmt.Sprintf("the theory for %d distinct inputs", m.Sites())
	err := linalg.CheckMemory(need, m.MaxBytes, what)
	if err != nil && m.Then != nil {
		all := m.Forecast().Matrix() + m.Then(m.Model)
		err = linalg.CheckMemory(max(need, all), m.MaxBytes, what+", and what follows it,")
	}
	if err == nil || m.Kernel.Kind == kernel.Precomputed {
		return err
	}
	err = fmt.Errorf("%w; the scalapack engine spreads it over machines", err)
	if rank := linalg.RankThatFits(m.Sites(), m.rankBytes()); rank > 0 {
		return fmt.Errorf("%w; the lowrank engine would fit, up to rank %d", err, rank)
	}
	return err
}

// rankBytes is the memory that is left for a factor and the engine on it.
func (m choice) rankBytes() int64 {
	return max(1, linalg.Room(m.MaxBytes)-m.Forecast().vectorBytes()-m.Forecast().Margin(-1))
}

// choose is Auto. The exact engine is taken unless a factorisation shows that the rank is low enough, which
// is tried out at a small part of the exact engine's cost.
func (m choice) choose() (linalg.Kernel, error) {
	if exactError := m.checkExact(); exactError != nil {
		if m.inputs == nil {
			return nil, exactError
		}
		m.reason = "the kernel matrix would not fit into memory"
		return m.approximate(exactError)
	}
	sites := m.Sites()
	_, hard := m.Loss.(loss.HardMargin) // any residual softens it, where K is nearly singular by much
	_, hinge := m.Loss.(loss.Hinge)
	if sites < probeFrom || hinge && sites < probeHingeFrom || m.inputs == nil || hard {
		return m.whole()
	}
	loosest, err := m.loosest()
	if err != nil {
		return nil, err
	}
	most := sites / worthRank
	if m.Spec.MaxRank > 0 {
		most = min(most, m.Spec.MaxRank)
	}
	var k linalg.Kernel
	if err = m.probe(loosest, most); err == nil {
		k, err = m.factorise(loosest, most)
	}
	if errors.Is(err, linalg.ErrRank) {
		return m.whole()
	}
	return k, err
}

// approximate makes a factor as fine as it should be, or, unless RankTol is given, as fine
// as MaxRank and memory allow: what that does to an answer is said by its status. exact is why K is not held
// whole; nil: it was not to be.
func (m choice) approximate(exact error) (linalg.Kernel, error) {
	k, err := m.factorise(1, m.Spec.MaxRank)
	var short *linalg.RankError
	switch {
	case !errors.As(err, &short):
		return k, err
	case short.Rank > 0 && m.Spec.RankTol == 0:
		m.limited = true
		return m.jittered(short.Factor), nil
	case short.Rank > 0:
		return nil, err
	case exact != nil:
		return nil, fmt.Errorf("%w; a factor of rank 1 would fit of about %d inputs", exact, m.sitesThatFit(1))
	}
	return nil, fmt.Errorf("%w for a factor of rank 1 of %d distinct inputs; for about %d there would be",
		linalg.ErrMemory, m.Sites(), m.sitesThatFit(1))
}

// RankSuffices reports whether the factor of a solve will probably have this rank at most: it leaves the
// square loss what the noise allows, other losses usualResidual.
func (s Spec) RankSuffices(rank int) bool {
	if rank < 1 {
		return false
	}
	s.Storage, s.MaxRank = LowRank, rank
	if _, square := s.Loss.(loss.Square); !square && s.RankTol == 0 {
		s.RankTol = usualResidual
	}
	m, err := Build(s)
	return err == nil && !m.limited
}

// usualResidual is below the share of K that the ranks that Settle takes for margins leave (magic: 0.003 to
// 0.005).
const usualResidual = 1e-3

// jittered is a factor with the jitter, which is taken off while it is made.
func (m choice) jittered(factor *linalg.LowRankPlusDiag) linalg.Kernel {
	factor.AddDiag(m.Spec.Kernel.Jitter)
	return factor
}

// loosest is the largest residual that Auto allows, and leaves in reason what there is to say for it.
func (m choice) loosest() (float64, error) {
	if m.Sites() >= ApproximateFrom {
		m.reason = "it is faster here"
		return 1, nil
	}
	square, ok := m.Loss.(loss.Square)
	mean, err := m.meanVariance(m.inputs)
	if !ok || mean == 0 {
		m.reason = "numerically the kernel matrix has no higher rank"
		return exactTol, err
	}
	m.reason = "beside the noise the kernel matrix has no higher rank"
	return answerShare * square.Noise / mean, err
}

// probe fails with ErrRank if the rank cannot be as low as most, because that of a random subset of the
// sites, not much larger than most, is higher. A quarter of the rank must reach a quarter of the digits
// first: residuals of smooth kernels fall geometrically at most, or nearly so, and most that fail do so here.
func (m choice) probe(loosest float64, most int) error {
	order := rand.New(rand.NewPCG(1, 0)).Perm(m.Sites())
	for _, part := range []int{4, 1} {
		limit := m.goal()
		limit.MaxRank = most / part
		columns := m.inputs.Subset(order[:min(len(order), limit.MaxRank+limit.MaxRank/4)])
		if limit.PerRank > 0 {
			mean, err := m.meanVariance(columns)
			if err != nil {
				return err
			}
			limit.Tol = math.Min(0.1, limit.PerRank/mean*float64(most)/float64(m.Sites()))
			limit.PerRank = 0
		}
		limit.Tol = math.Pow(math.Min(loosest, limit.Tol), 1/float64(part))
		if _, err := linalg.PivotedCholesky(columns, limit); err != nil {
			return err
		}
	}
	return nil
}

// factorise makes the low-rank form, to the tolerance or the loosest one allowed.
func (m choice) factorise(loosest float64, most int) (linalg.Kernel, error) {
	columns, err := m.columns()
	if err != nil {
		return nil, err
	}
	limit := m.goal()
	limit.MaxRank, limit.MaxBytes = most, m.rankBytes()
	switch {
	case loosest < 1 && limit.PerRank > 0: // it takes the place of what is allowed per pivot
		limit.Tol, limit.PerRank = loosest, 0
	case loosest < 1:
		limit.Tol = math.Min(loosest, limit.Tol)
	case limit.PerRank > 0 && !m.byBound && m.Sites() >= ApproximateFrom:
		limit.Enough = m.enough(m.Loss.(loss.Square).Noise)
	}
	factor, err := linalg.PivotedCholesky(columns, limit)
	var short *linalg.RankError
	if errors.As(err, &short) && short.Memory {
		return nil, fmt.Errorf("%w: %w", linalg.ErrMemory, err)
	}
	if err != nil {
		return nil, err
	}
	return m.jittered(factor), nil
}

// sitesThatFit is the number of sites of which a factor of this rank would fit into memory
// with all else that grows with them.
func (m choice) sitesThatFit(rank int) int {
	each := (m.Forecast().vectorBytes() + m.Forecast().Margin(-1)) / int64(m.Sites())
	return sort.Search(m.Sites(), func(n int) bool {
		return linalg.LowRankBytes(n+1, rank)+each*int64(n+1) > linalg.Room(m.MaxBytes)
	})
}

// columns hands out the kernel matrix by columns, without its jitter.
func (m choice) columns() (linalg.Columns, error) {
	if m.inputs != nil {
		return m.inputs, nil
	}
	if err := m.checkExact(); err != nil {
		return nil, err
	}
	k, err := m.given()
	if err != nil {
		return nil, err
	}
	k.AddDiag(-m.Spec.Kernel.Jitter)
	return k, nil
}

// given reads the features as rows of a kernel matrix over the examples.
func (m choice) given() (*linalg.Sym, error) {
	n := m.Set.N()
	if m.Set.D() != n {
		return nil, fmt.Errorf("a precomputed kernel needs as many features as examples, got %d and %d", m.Set.D(),
			n)
	}
	k, err := linalg.SymFromDense(n, m.Set.X.Data, precomputedTolerance)
	if err != nil {
		return nil, fmt.Errorf("precomputed kernel: %w", err)
	}
	if m.Merged() > 0 {
		all := k
		k = linalg.NewSym(len(m.First))
		for i, first := range m.First {
			row := k.Row(i)
			for j := range row {
				row[j] = all.At(first, m.First[i+j])
			}
		}
	}
	return k, m.Kernel.Complete(k)
}
