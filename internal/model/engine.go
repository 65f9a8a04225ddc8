package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"bootbench/kernel"
	"bootbench/linalg"
	"bootbench/loss"
)

// Storage says in which form the kernel matrix is held.
type Storage int

// Exact holds all of K, 8 M^2 bytes. LowRank holds K ~ R R' + diag(residual), 8 M
// r bytes at rank r, and never forms K. Auto takes LowRank where that is the
// faster, or the only one that fits into memory. ScaLAPACK spreads K over Spec.Servants.
const (
	Exact Storage = iota
	LowRank
	Auto
	ScaLAPACK
)

var engineNames = [...]string{"exact", "lowrank", "auto", "scalapack"}

func (e Storage) String() string {
	if e < 0 || int(e) >= len(engineNames) {
		return fmt.Sprintf("Engine(%d)", int(e))
	}
	return engineNames[e]
}

// ParseStorage is the engine that String names.
func ParseStorage(name string) (Storage, error) {
	if e := slices.Index(engineNames[:], name); e >= 0 {
		return Storage(e), nil
	}
	return 0, fmt.Errorf("no engine %q (there are auto, exact, lowrank, scalapack)", name)
}

// Limits of the choice that Auto makes.
const (
	// DefaultRankTol is the Spec.RankTol of the low-rank engine for losses other than the
	// square one.
	DefaultRankTol = 1e-4

	// Up to ApproximateFrom sites Auto asks for a residual at which a low-rank
	// answer is the exact one to the tolerance of the solver: answerShare of the
	// noise variance of the square loss, where the left-out error and the median
	// variance per point were off by 1e-8 to 7e-7 at ratios from 0.3 to 3, single
	// variances by up to 3e-5; exactTol for other losses. (Beside noise as
	// large as the signal, at gamma d = 0.003 and ratio 5, the error was off by 5e-6.) A
	// hard margin, which any residual softens, is approximated only where K would not fit.
	answerShare = 3e-8
	exactTol    = 1e-12

	// ApproximateFrom is the number of sites from which on Auto approximates to
	// RankError, or RankTol if that is set; a matrix that does not fit into memory is approximated at any size.
	ApproximateFrom = 5000

	// probeFrom is the number of sites below which Auto does not look.
	probeFrom = 400

	// worthRank is the number of sites per rank at which the two engines take about
	// the same time: counting flops the low-rank one needs 12 M r^2, its factor
	// included, against 2 M^3, in products that are smaller and run slower. Measured,
	// it is slower by a quarter at 3.5 and faster by a third at 4.7.
	worthRank = 4
)

// checkEngine refuses settings of the engine that make no sense.
func (s *Spec) checkEngine() error {
	switch {
	case s.Storage < 0 || int(s.Storage) >= len(engineNames):
		return fmt.Errorf("no engine %d", int(s.Storage))
	case !(s.RankTol >= 0 && s.RankTol < 1):
		return fmt.Errorf("the rank tolerance is %v, must be above 0 and below 1", s.RankTol)
	case !(s.RankError >= 0 && s.RankError < 1):
		return fmt.Errorf("the rank error is %v, must be above 0 and below 1", s.RankError)
	case s.MaxRank < 0:
		return fmt.Errorf("the largest rank is %d, must be at least 1", s.MaxRank)
	case s.Rank < 0:
		return fmt.Errorf("the rank is %d, must be at least 1", s.Rank)
	}
	return s.checkScaLAPACK()
}

// holder chooses the form in which the kernel matrix of a model is held, and makes it.
type holder struct{ *Model }

func (m *Model) holder() holder { return holder{m} }

// limits are the residuals at which a factor ends: a share of K, RankTol or its default, and
// for the square loss, by default, so much per pivot as the noise allows.
func (m holder) limits() (tol, perRank float64) {
	if m.RankTol != 0 {
		return m.RankTol, 0
	}
	if perRank = m.perRank(); perRank > 0 {
		return 0, perRank
	}
	return DefaultRankTol, 0
}

// noise is the noise variance of the square loss over the mean of K_ii, constant
// apart; infinite for other losses.
func (m holder) noise(k linalg.Columns) (float64, error) {
	square, ok := m.Loss.(loss.Square)
	if !ok {
		return math.Inf(1), nil
	}
	diagonal := make([]float64, k.N())
	if err := k.Diagonal(diagonal); err != nil {
		return 0, err
	}
	mean := 0.0
	for _, v := range diagonal {
		mean += (v - m.Spec.Kernel.Constant) / float64(len(diagonal))
	}
	if !(mean > 0) {
		return math.Inf(1), nil
	}
	return square.Noise / mean, nil
}

// hold brings the kernel matrix into the form that the specification asks for.
func (m holder) hold() error {
	switch m.Spec.Storage {
	case LowRank:
		err := m.approximate()
		if noRankFits(err) {
			return fmt.Errorf("%w for a factor of rank 1 of %d distinct inputs; for about %d there would be",
				linalg.ErrMemory, m.Sites(), m.sitesThatFit(1))
		}
		return err
	case Auto:
		return m.choose()
	case ScaLAPACK:
		return m.spread()
	}
	if err := m.checkExact(); err != nil {
		return err
	}
	return m.gram()
}

// checkExact refuses a kernel matrix that would not fit, and names the engine
// that would.
func (m holder) checkExact() error {
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
	if m.byColumns() == nil {
		return err
	}
	if rank := linalg.RankThatFits(m.Sites(), m.rankBytes()); rank > 0 {
		return fmt.Errorf("%w; the lowrank engine would fit, up to rank %d", err, rank)
	}
	return err
}

// room is the memory that there is.
func (m holder) room() int64 {
	if m.MaxBytes > 0 {
		return m.MaxBytes
	}
	if room, known := linalg.AvailableMemory(); known {
		return room
	}
	return math.MaxInt64
}

// rankBytes is the memory that is left for a factor and the engine on it.
func (m holder) rankBytes() int64 {
	return max(1, m.room()-m.Forecast().vectorBytes()-m.Forecast().Margin(-1))
}

// choose is Auto. The exact engine is taken unless a factorisation shows that
// the rank is low enough, which is tried out at a small part of the exact
// engine's cost.
func (m holder) choose() error {
	if exactError := m.checkExact(); exactError != nil {
		if m.byColumns() == nil {
			return exactError
		}
		m.reason = "the kernel matrix would not fit into memory"
		err := m.approximate()
		if noRankFits(err) {
			return fmt.Errorf("%w; a factor of rank 1 would fit of about %d inputs", exactError, m.sitesThatFit(1))
		}
		return err
	}
	sites := m.Sites()
	_, hard := m.Loss.(loss.HardMargin) // any residual softens it, where K is nearly singular by much
	if sites < probeFrom || m.byColumns() == nil || hard {
		return m.gram()
	}
	loosest, err := m.loosest()
	if err != nil {
		return err
	}
	most := sites / worthRank
	if m.Spec.MaxRank > 0 {
		most = min(most, m.Spec.MaxRank)
	}
	err = m.probe(loosest, most)
	if err == nil {
		err = m.factorise(loosest, most)
	}
	if errors.Is(err, linalg.ErrRank) {
		return m.gram()
	}
	return err
}

// noRankFits reports that there was no memory for a factor of any rank.
func noRankFits(err error) bool {
	var short *linalg.RankError
	return errors.As(err, &short) && short.Rank == 0
}

// approximate makes a factor as fine as it should be, or, unless RankTol is given, as fine
// as MaxRank and memory allow: what that does to an answer is said by its status.
func (m holder) approximate() error {
	err := m.factorise(1, m.Spec.MaxRank)
	var short *linalg.RankError
	if errors.As(err, &short) && m.Spec.RankTol == 0 && short.Rank > 0 {
		m.limited = true
		m.hand(short.Factor)
		return nil
	}
	return err
}

// hand makes a factor the kernel matrix.
func (m holder) hand(factor *linalg.LowRankPlusDiag) {
	factor.AddDiag(m.Spec.Kernel.Jitter)
	m.Gram, m.Factor = nil, factor
}

// loosest is the largest residual that Auto allows, and leaves in reason what
// there is to say for it.
func (m holder) loosest() (float64, error) {
	if m.Sites() >= ApproximateFrom {
		m.reason = "it is faster here"
		return 1, nil
	}
	noise, err := m.noise(m.byColumns())
	if math.IsInf(noise, 1) {
		m.reason = "numerically the kernel matrix has no higher rank"
		return exactTol, err
	}
	m.reason = "beside the noise the kernel matrix has no higher rank"
	return answerShare * noise, err
}

// loosestAt is the residual, as a share of K, that a factor of this rank may leave.
func (m holder) loosestAt(k linalg.Columns, rank int) (float64, error) {
	tol, perRank := m.limits()
	if perRank == 0 {
		return tol, nil
	}
	noise, err := m.noise(k)
	return math.Min(0.1, perRank/m.Loss.(loss.Square).Noise*noise*float64(rank)/float64(m.Sites())), err
}

// probe fails with ErrRank if the rank cannot be as low as most, because that of
// a random subset of the sites, not much larger than most, is higher. A quarter of the
// rank must reach a quarter of the digits first: residuals of smooth kernels fall
// geometrically at most, or nearly so, and most that fail do so here.
func (m holder) probe(loosest float64, most int) error {
	order := rand.New(rand.NewPCG(1, 0)).Perm(m.Sites())
	for _, part := range []int{4, 1} {
		rank := most / part
		columns := m.someColumns(order[:min(len(order), rank+rank/4)])
		tolerance, err := m.loosestAt(columns, most)
		if err != nil {
			return err
		}
		tolerance = math.Pow(math.Min(loosest, tolerance), 1/float64(part))
		if _, err = linalg.PivotedCholesky(columns, linalg.RankOptions{Tol: tolerance, MaxRank: rank,
			Offset: m.Spec.Kernel.Constant}); err != nil {
			return err
		}
	}
	return nil
}

// factorise makes the low-rank form, to the tolerance or the loosest one allowed.
// With Spec.Rank it stops there and nowhere else.
func (m holder) factorise(loosest float64, most int) error {
	columns, err := m.columns()
	if err != nil {
		return err
	}
	tol, perRank := m.limits()
	limit := linalg.RankOptions{Tol: tol, PerRank: perRank, MaxRank: most, MaxBytes: m.rankBytes(),
		Offset: m.Spec.Kernel.Constant}
	if loosest < 1 { // it takes the place of what is allowed per pivot
		limit.PerRank = 0
		if limit.Tol = loosest; tol > 0 {
			limit.Tol = math.Min(loosest, tol)
		}
	}
	if m.Spec.Rank > 0 {
		limit.Tol, limit.PerRank, limit.MaxRank = 0, 0, m.Spec.Rank
		need := linalg.LowRankBytes(m.Sites(), m.Spec.Rank) + m.Forecast().vectorBytes() +
			m.Forecast().Margin(-1)
		if err := linalg.CheckMemory(need, m.MaxBytes, fmt.Sprintf("a factor of rank %d for %d distinct inputs",
			m.Spec.Rank, m.Sites())); err != nil {
			return fmt.Errorf("%w; rank %d would fit, or rank %d of %d inputs", err, linalg.RankThatFits(m.Sites(),
				m.rankBytes()), m.Spec.Rank, m.sitesThatFit(m.Spec.Rank))
		}
	}
	factor, err := linalg.PivotedCholesky(columns, limit)
	var short *linalg.RankError
	if errors.As(err, &short) && short.Memory {
		return fmt.Errorf("%w: %w", linalg.ErrMemory, err)
	}
	if err != nil {
		return err
	}
	m.hand(factor)
	return nil
}

// sitesThatFit is the number of sites of which a factor of this rank would fit into memory
// with all else that grows with them.
func (m holder) sitesThatFit(rank int) int {
	each := (m.Forecast().vectorBytes() + m.Forecast().Margin(-1)) / int64(m.Sites())
	return sort.Search(m.Sites(), func(n int) bool {
		return linalg.LowRankBytes(n+1, rank)+each*int64(n+1) > m.room()
	})
}

// columns hands out the kernel matrix by columns, without its jitter.
func (m holder) columns() (linalg.Columns, error) {
	if columns := m.byColumns(); columns != nil {
		return columns, nil
	}
	if err := m.checkExact(); err != nil {
		return nil, err
	}
	if err := m.gram(); err != nil {
		return nil, err
	}
	m.Gram.AddDiag(-m.Spec.Kernel.Jitter)
	return linalg.SymColumns{Sym: m.Gram}, nil
}

// byColumns hands it out from inputs; nil where it is precomputed.
func (m holder) byColumns() linalg.Columns {
	if m.inputs == nil {
		return nil
	}
	return m.inputs
}

// someColumns is byColumns for the listed sites only.
func (m holder) someColumns(sites []int) linalg.Columns {
	return m.inputs.Subset(sites)
}

// Matrix is the kernel matrix in the form in which it is held, with the bias.
func (m *Model) Matrix() linalg.Kernel {
	switch {
	case m.Spread != nil:
		return m.Spread
	case m.Factor != nil && m.Bias:
		return linalg.WithBias(m.Factor)
	case m.Factor != nil:
		return m.Factor
	case m.Bias:
		return linalg.WithBias(m.Gram)
	}
	return m.Gram
}

// Dense is the kernel matrix held whole, for what needs it so: Monte-Carlo
// retraining, and training a support vector machine. A low-rank matrix is
// multiplied out for it, if that fits into memory, and kept.
func (m *Model) Dense() (*linalg.Sym, error) {
	if m.Spread != nil {
		return nil, errNotWhole
	}
	m.making.Lock()
	defer m.making.Unlock()
	if m.Gram == nil {
		if err := linalg.CheckMemory(linalg.SymBytes(m.Sites()), m.MaxBytes,
			fmt.Sprintf("training on %d distinct inputs, which needs the whole kernel matrix,",
				m.Sites())); err != nil {
			return nil, err
		}
		m.Gram = m.Factor.Dense()
	}
	return m.Gram, nil
}

// Approximation says how a low-rank kernel matrix was come by, and how good it
// is.
type Approximation struct {
	Rank int
	// mean residual over the mean of K_ii, constant apart: the relative error of R R' in the trace norm
	Residual  float64
	Largest   float64 // largest residual: no element of K - R R' is larger; in units of the kernel
	Automatic bool    // chosen by Auto
}

// Approximation is that of a low-rank model; ok is false for an exact one.
func (m *Model) Approximation() (a Approximation, ok bool) {
	if m.Factor == nil {
		return a, false
	}
	a.Rank, a.Automatic = m.Factor.Rank(), m.Spec.Storage == Auto
	a.Residual, a.Largest = m.Factor.Accuracy()
	return a, true
}

// Warnings say what the user of an answer should know about the model.
func (m *Model) Warnings() []string {
	a, approximate := m.Approximation()
	if !approximate || !a.Automatic {
		return m.notes
	}
	return append(slices.Clone(m.notes),
		fmt.Sprintf("the lowrank engine was chosen because %s: rank %d for %d distinct inputs, mean residual "+
			"%.1e of the kernel's variance, "+
			"kept as a variance of each input's own; --engine exact computes without it", m.reason, a.Rank, m.Sites(),
			a.Residual))
}
