package model

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"bootbench/linalg"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

// sampleSites is the number of sites on which a rank for the square loss is chosen if there are four times as
// many, or more. Tests take fewer.
var sampleSites = 16384

// sample are the sites of a model whose factor grows on others, so that residuals are not least at its sites.
type sample struct {
	copies  float64        // sites for which each site of the model stands
	columns linalg.Columns // of its sites, and of as many others
	own     []int          // the former, by number among these
	others  []float64      // 1 for the latter, which are the pivots
	factor  *linalg.LowRankPlusDiag
	seen    []rankedAnswer // of Settle, by rising rank
}

// chooseRank is a factor, without jitter, of the rank that Settle chooses for the law m.chosen, by default
// the bootstrap, on a random sample of the sites. Each stands for several, so that it is drawn as often as
// they are together. If most (0: no limit) or memory allow no sufficient rank there is a *linalg.RankError
// with the factor.
func chooseRank(ctx context.Context, m *Model, most int) (*linalg.LowRankPlusDiag, error) {
	if m.chosen == nil {
		m.chosen = resample.Poisson{Ratio: 1}
	}
	n := m.Sites()
	sites, own := rand.New(rand.NewPCG(2, 0)).Perm(n)[:2*sampleSites], []int(nil)
	slices.Sort(sites)
	of := &sample{copies: float64(n / sampleSites), columns: m.inputs.Subset(sites)}
	for k, site := range sites {
		if of.others = append(of.others, float64(k%2)); k%2 == 0 {
			of.own, own = append(of.own, k), append(own, site)
		}
	}
	part, highest := m.part(own), linalg.RankThatFits(n, rankBytes(m))
	part.chosen, part.sample = nil, of
	part.Spec.RankError = nearGoal * m.rankGoal() // the bound of all sites may be a tenth above the sample's
	part.Storage, part.MaxRank = LowRank, min(cmp.Or(most, n), highest)
	k, err := makeMatrix(ctx, part)
	if err != nil {
		return nil, err
	}
	hold(part, k)
	law := resample.Poisson{Ratio: of.copies * m.chosen.Mean()}
	part, s, err := part.Settle(ctx, law, solver.Settings{Engine: linalg.RoughEngine})
	if err != nil {
		return nil, err
	}
	rank, off := part.Rank(), part.RankError(s)
	if m.ofBound, m.start = part.ofBound, nil; s.Status == solver.Converged {
		goal := max(nearGoal*part.rankGoal(), off)
		rank = of.lowest(off, goal)
		m.ofBound = goal / rankErrorBound(part.own(of.factor.Truncate(rank)), s.SitePrecision, 0)
	}
	factor, err := of.factor.Truncate(rank).Extend(ctx, m.inputs, sites, m.Spec.Kernel.Constant)
	if err != nil {
		return nil, err
	}
	if s.Status != solver.Converged {
		trace, _ := factor.Accuracy()
		return nil, &linalg.RankError{Rank: rank, Residual: trace, Factor: factor,
			Memory: part.MaxRank == highest}
	}
	m.start = startOn(factor, part.Factor(), s)
	return factor, nil
}

// lowest is the lowest rank with an error within a goal: the change of the answer up to the last one, with
// the error of that, which falls geometrically between answers.
func (s *sample) lowest(off, goal float64) int {
	last, above := s.seen[len(s.seen)-1], 0.0
	for i, at := range slices.Backward(s.seen) {
		now := math.Abs(at.value-last.value)/last.value + off
		if now = max(now, above); now > goal {
			next, part := float64(s.seen[i+1].rank), math.Log(goal/above)/math.Log(now/above)
			return int(math.Ceil(next * math.Pow(float64(at.rank)/next, part)))
		}
		above = now
	}
	return s.seen[0].rank
}

// part is the model of some of the sites, ascending, without a kernel matrix. Their examples become one, of
// the mean target and their weight.
func (m *Model) part(sites []int) *Model {
	part := *m
	part.inputs, part.Functions, part.Rows = m.inputs.Subset(sites), nil, nil
	part.Site, part.Y = make([]int, len(sites)), make([]float64, len(sites))
	count, mean := siteTargets(m)
	rows, weights := make([]int, len(sites)), make([]float64, len(sites))
	for k, site := range sites {
		part.Site[k], rows[k] = k, m.First[site]
		part.Y[k], weights[k] = mean[site], count[site]
	}
	part.First = part.Site
	part.Spec.Set = m.Set.Subset(rows)
	if m.Merged() > 0 {
		part.Spec.Set.Weights = weights
	}
	return &part
}

// startOn is a start of solves on a factor of all sites, given a solution on one of a sample: each site's
// cavity has the variance that its own residual adds, and what the others add on the average.
func startOn(factor, sample *linalg.LowRankPlusDiag, s *solver.Solution) *solver.Solution {
	others := 0.0
	for i, v := range sample.Residual() {
		others += (1/s.Cavity[i].C - v) / float64(sample.N())
	}
	start := &solver.Solution{Cavity: make([]loss.Cavity, factor.N())}
	for i, v := range factor.Residual() {
		start.Cavity[i].C = 1 / (v + others)
	}
	return start
}

// leastRatio is the least size of resamples for which the rank for as many draws as examples is taken.
const leastRatio = 0.5

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

// copies is the number of sites for which each stands.
func (m *Model) copies() float64 {
	if m.sample == nil {
		return 1
	}
	return m.sample.copies
}

// own is a factor between the sites of the model, of which those of a sample are a part.
func (m *Model) own(factor *linalg.LowRankPlusDiag) *linalg.LowRankPlusDiag {
	if m.sample == nil {
		return factor
	}
	return factor.Subset(m.sample.own)
}
