package model

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// For the square loss a rank of many sites is chosen while a factor grows. The theory is solved whenever
// the rank has grown by a third, and the stated error of a rank is referenceShare times the change of the
// left-out error from there, or from a rank between, to a reference, a rank at least referenceRatio times
// as high. Errors fall so fast with the rank that this change is nearly the whole error: doc/accuracy.md.
const (
	referenceShare = 2
	referenceRatio = 1.7
	// leastReference is the least rank of a reference: below it, where nothing is learnt yet, answers may
	// agree. leastOfBound is the least error that is stated, as a fraction of the bound.
	leastReference = 32
	leastOfBound   = 0.002
	// accepted times the goal of a choice is accepted at the rank at which it was expected.
	accepted   = 1.05
	sampleSeed = 2
)

// Four times as many sites, or more, have pivots from a random sample of sampleSites, and the theory is
// solved on as many others, of which each stands for several. Tests take fewer.
var sampleSites = 16384

// sampled reports whether a rank is chosen on a sample: fewer sites take a rank by the bound or by the fit to
// all data (enoughRank), which costs less than the theory at a higher rank.
func (m *Model) sampled() bool { return m.inputs != nil && m.Sites() >= 4*sampleSites }

// rankChoice is the choice of a rank.
type rankChoice struct {
	model    *Model // of the sites on which the theory is solved
	among    []int  // these, by number among the sites of the factor
	times    int    // number of sites for which each stands
	law      resample.CountDistribution
	goal     float64
	settings solver.Settings // From is the last solution
	seen     []rankedAnswer  // by rising rank
	residual []float64       // of the last factor
	settled  bool            // an answer was accepted
	cause    error
}

// chooseRank is a factor, without jitter, of the smallest rank whose error for the theory of m.chosen, by
// default the bootstrap, is within the goal; it sets ofBound and start. If that is above most (0: no limit)
// or needs too much memory, there is a *linalg.RankError with the factor of the highest rank.
func chooseRank(ctx context.Context, m *Model, most int) (*linalg.LowRankPlusDiag, error) {
	if m.chosen == nil {
		m.chosen = resample.Poisson{Ratio: 1}
	}
	n := m.Sites()
	c := &rankChoice{times: n / sampleSites, goal: nearGoal * m.rankGoal()}
	c.settings.Tolerance, c.settings.Engine = min(mostRough, m.rankGoal()/10), linalg.RoughEngine
	limit := linalg.RankOptions{Offset: m.Spec.Kernel.Constant}
	highest := min(cmp.Or(most, n), linalg.RankThatFits(n, rankBytes(m)))
	sites := rand.New(rand.NewPCG(sampleSeed, 0)).Perm(n)[:2*(n/c.times)]
	slices.Sort(sites)
	limit.Weight = make([]float64, len(sites))
	var judged []int
	for k, site := range sites {
		if limit.Weight[k] = float64(k % 2); k%2 == 0 {
			c.among, judged = append(c.among, k), append(judged, site)
		}
	}
	columns := m.inputs.Subset(sites)
	c.model, c.law = m.part(judged), copies{m.chosen, c.times}
	limit.MaxRank = max(1, min(len(judged), int(2*referenceRatio*float64(highest))))
	exact := true
	limit.Enough = func(factor *linalg.LowRankPlusDiag) bool {
		exact = !c.look(ctx, factor, highest)
		return !exact
	}
	factor, err := linalg.PivotedCholesky(ctx, columns, limit)
	if err = cmp.Or(c.cause, err); err != nil {
		return nil, err
	}
	exact = exact && factor.Rank() < limit.MaxRank
	at, found := c.choose(ctx, factor, highest, exact)
	if c.cause != nil {
		return nil, c.cause
	}
	factor = factor.Truncate(at.rank)
	if m.ofBound = 0; at.error > 0 {
		m.ofBound = at.error / at.bound
	}
	if factor, err = factor.Extend(ctx, m.inputs, sites, limit.Offset); err != nil {
		return nil, err
	}
	m.start = c.start(factor)
	if !found {
		trace, _ := factor.Accuracy()
		err = &linalg.RankError{Rank: at.rank, Residual: trace, Factor: factor,
			Memory: highest < cmp.Or(most, n)}
	}
	return factor, err
}

// look solves the theory on a factor that has grown by a third, and reports whether a rank below is enough,
// or the highest one can be judged.
func (c *rankChoice) look(ctx context.Context, factor *linalg.LowRankPlusDiag, highest int) bool {
	if k := len(c.seen) - 1; k >= 0 && 3*factor.Rank() < 4*c.seen[k].rank {
		return false
	}
	at, ok := c.answer(ctx, factor)
	if !ok {
		return c.cause != nil
	}
	c.seen = append(c.seen, at)
	if rank := c.lowest(false); rank > 0 {
		c.settled = c.judge(c.at(ctx, factor, rank)) <= accepted*c.goal
		return c.settled || c.cause != nil
	}
	return judgedRank(at.rank, false) >= highest
}

// at is the number of the answer at a rank of a factor.
func (c *rankChoice) at(ctx context.Context, factor *linalg.LowRankPlusDiag, rank int) int {
	k, known := slices.BinarySearchFunc(c.seen, rank, func(a rankedAnswer, r int) int { return a.rank - r })
	if !known {
		answer, _ := c.answer(ctx, factor.Truncate(rank))
		c.seen = slices.Insert(c.seen, k, answer)
	}
	return k
}

// judgedRank is the highest rank for which a rank is a reference.
func judgedRank(rank int, exact bool) int {
	switch {
	case exact:
		return rank
	case rank < leastReference:
		return 0
	}
	return int(float64(rank) / referenceRatio)
}

// answer solves the theory on a factor.
func (c *rankChoice) answer(ctx context.Context, factor *linalg.LowRankPlusDiag) (at rankedAnswer, ok bool) {
	at.rank = factor.Rank()
	factor = factor.Subset(c.among)
	m := on(c.model, jittered(c.model, factor))
	c.residual = factor.Residual()
	m.ofBound = 0
	s, err := solve(ctx, m, c.law, c.settings)
	if err == nil {
		err = ctx.Err()
	}
	if c.cause = err; err != nil || s.Status != solver.Converged {
		return at, false
	}
	c.settings.From = &solver.Solution{SitePrecision: s.SitePrecision, Cavity: s.Cavity}
	at.value, _ = s.LeftOut(DefaultTest(m.Set))
	if at.bound = m.RankError(s); m.Set.AreNumbers() {
		at.value *= 1 - c.fitted(s)
	}
	return at, true
}

// fitted is the part of the left-out error that is there because a site has one target, not one for each for
// which it stands: about the mean of sum_j G_ij^2 d_j^2/b_i^2.
func (c *rankChoice) fitted(s *solver.Solution) float64 {
	engine, err := s.Engine()
	if err != nil {
		return 0
	}
	_, b := engine.Diag()
	sum, square := make([]float64, len(b)), make([]float64, len(b))
	floats.MulTo(square, s.SitePrecision, s.SitePrecision)
	engine.MulVecSquaredOffDiag(sum, square)
	floats.Div(sum, b)
	floats.Div(sum, b)
	return (1 - 1/float64(c.times)) * floats.Sum(sum) / float64(len(b))
}

// judge states the error of answer i, as if the last one were exact.
func (c *rankChoice) judge(i int) float64 {
	last, change := c.seen[len(c.seen)-1], 0.0
	for _, between := range c.seen[i:] {
		change = max(change, math.Abs(between.value-last.value))
	}
	c.seen[i].error = max(referenceShare*change/last.value, leastOfBound*c.seen[i].bound)
	return c.seen[i].error
}

// lowest is the lowest rank at which the error, between answers falling geometrically, is within the goal,
// provided that the last answer is a reference for it; else 0.
func (c *rankChoice) lowest(exact bool) int {
	goal, above := c.goal, math.Inf(1)
	for i, at := range c.seen {
		now := c.judge(i)
		if !(now <= goal) {
			above = now
			continue
		}
		rank := float64(at.rank)
		if i > 0 {
			part := math.Log(above/goal) / math.Log(above/now)
			rank = math.Ceil(rank * math.Pow(float64(c.seen[i-1].rank)/rank, 1-part))
		}
		if int(rank) <= judgedRank(c.seen[len(c.seen)-1].rank, exact) {
			return int(rank)
		}
		break
	}
	return 0
}

// choose is the answer at the rank to take, at most highest, after the factor has grown, and whether its
// error is within the goal.
func (c *rankChoice) choose(ctx context.Context, factor *linalg.LowRankPlusDiag,
	highest int, exact bool) (at rankedAnswer, found bool) {
	c.at(ctx, factor, factor.Rank())
	top := judgedRank(factor.Rank(), exact)
	if rank := c.lowest(exact); !c.settled && rank > 0 {
		c.at(ctx, factor, rank)
	}
	for i, seen := range c.seen {
		if c.judge(i) <= accepted*c.goal && seen.rank <= min(top, highest) {
			return c.seen[i], true
		}
	}
	k := c.at(ctx, factor, min(highest, factor.Rank()))
	if c.judge(k); c.seen[k].rank > top { // without a reference
		c.seen[k].error = 0
	}
	return c.seen[k], exact && c.seen[k].rank == factor.Rank()
}

// start is a start of solves on a factor of all sites, nil without a solution: each site's cavity has the
// variance that its own residual adds, and what the others add on the average.
func (c *rankChoice) start(factor *linalg.LowRankPlusDiag) *solver.Solution {
	from := c.settings.From
	if from == nil {
		return nil
	}
	others := 0.0
	for i, v := range c.residual {
		others += (1/from.Cavity[i].C - v) / float64(len(c.residual))
	}
	start := &solver.Solution{Cavity: make([]loss.Cavity, factor.N())}
	for i, v := range factor.Residual() {
		start.Cavity[i].C = 1 / (v + others)
	}
	return start
}

// settleChosen is Settle where chooseRank has chosen the rank: it is chosen again if the law draws more
// examples, or far fewer.
func settleChosen(ctx context.Context, m *Model, law resample.CountDistribution,
	settings solver.Settings) (*Model, *solver.Solution, error) {
	if of := m.chosen.Mean() * (1 + 1e-9); law.Mean() > of || law.Mean() < leastRatio*of {
		other := *m
		other.chosen, other.limited = law, false
		k, err := makeMatrix(ctx, &other)
		if hold(&other, k); err != nil || other.Form() == Exact {
			return &other, nil, err
		}
		m = &other
	}
	if settings.From == nil {
		settings.From = m.start
	}
	s, err := m.Solve(ctx, law, settings)
	if err != nil || s.Status != solver.TooCoarse || m.Spec.Storage != Auto || checkExact(m) != nil {
		return m, s, err
	}
	k, err := wholeMatrix(ctx, m)
	return on(m, k), nil, err
}

// leastRatio is the least size of resamples for which the rank for as many draws as examples is taken.
const leastRatio = 0.5

// part is the model of some of its sites, ascending, without a kernel matrix.
func (m *Model) part(sites []int) *Model {
	part, number := *m, make([]int, m.Sites())
	part.Functions, part.Site, part.First = nil, nil, make([]int, len(sites))
	for k, site := range sites {
		number[site] = k + 1
	}
	var rows []int
	for i, site := range m.Site {
		if k := number[site] - 1; k >= 0 {
			if m.First[site] == i {
				part.First[k] = len(rows)
			}
			part.Site, rows = append(part.Site, k), append(rows, i)
		}
	}
	pick := func(all []float64) (some []float64) {
		for _, i := range rows {
			if all != nil {
				some = append(some, all[i])
			}
		}
		return some
	}
	part.Spec.Set, part.inputs = m.Set.Subset(rows), m.inputs.Subset(sites)
	part.Function.Y, part.Function.Rows = pick(m.Y), pick(m.Rows)
	return &part
}

// copies is the law of the counts at a site that stands for others: each example has several copies.
type copies struct {
	resample.CountDistribution
	times int
}

func (c copies) Mean() float64 { return float64(c.times) * c.CountDistribution.Mean() }

func (c copies) Counts(n int) resample.Counts { return c.CountDistribution.Counts(c.times * n) }

func (c copies) Absent() float64 { return resample.ProbZero(c.CountDistribution, c.times) }

func (c copies) WithinSiteVar(n int, k float64) float64 {
	return c.CountDistribution.WithinSiteVar(c.times*n, k)
}
