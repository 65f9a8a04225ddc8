package model

import (
	"cmp"
	"context"

	"bootbench/fits"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
)

// cost is the time of fits at M sites, in nanoseconds of one core, from operation counts only, so that a
// choice does not depend on the machine: its terms are those of BenchmarkCost, and only ratios matter.
type cost struct {
	solve  float64 // of a rough theory for blocks
	block  float64 // of a fit in a block
	single float64 // of a fit by the loss's own trainer
}

// pilotFits are trained to count their operations, unless fewer than leastFits are requested, which take less
// time than a rough theory. Fits in blocks take about kinkIterations if the loss has kinks.
const pilotFits, leastFits, kinkIterations = 2, 60, 22

// costOf is the cost of a plan's fits. A fit in a block takes k products with G in single precision and k
// proximal maps at all sites: about kinkIterations if the loss has kinks, 10 for the square loss. A single
// fit takes one Cholesky factorisation, or several by Newton's method; for support vector machines it is
// counted by pilots.
func costOf(ctx context.Context, m *Model, plan resample.Plan) cost {
	sites, width := float64(m.Sites()), float64(m.Sites())
	if factor := m.Factor(); factor != nil {
		width = min(width, 2*float64(factor.Rank()))
	}
	iteration := sites * (20 + 0.04*width)
	switch t := loss.TraitsOf(m.Loss); {
	case t.Quadratic:
		return cost{sites * (6e4 + 0.015*sites*sites), 10 * iteration, sites * (500 + 0.0035*sites*sites)}
	case t.Margin:
		return cost{sites * (1.3e5 + 0.05*sites*sites), kinkIterations * iteration, pilotCost(ctx, m, plan)}
	}
	return cost{sites * (2.6e5 + 0.05*sites*sites), 20 * iteration, 20 * sites * sites}
}

// pilotCost is the cost of single fits of a support vector machine, counted in the plan's first fits; else 0.
func pilotCost(ctx context.Context, m *Model, plan resample.Plan) float64 {
	if !counts(m) || plan == nil {
		return 0
	}
	of, err := m.Machine(0)
	if err != nil {
		return 0
	}
	learn, err := of.Trainer()
	if err != nil {
		return 0
	}
	weight, sum := make([]float64, m.Set.N()), 0.0
	for r := range pilotFits {
		target := plan.Fit(r, weight)
		learned, err := learn(train.Set{Y: target, Site: m.Site, Weight: weight, Stop: train.Until(ctx)})
		if err != nil || learned.Status != train.Converged {
			return 0
		}
		sum += learned.SVM.Operations
	}
	return 3 * sum / pilotFits
}

// counts reports whether the model's own trainer counts its operations.
func counts(m *Model) bool {
	_, onFactor := m.TrainedOnFactor()
	return loss.TraitsOf(m.Loss).Margin && m.Form() != ScaLAPACK && !onFactor
}

// blocksPay reports whether AutoMethod trains blocks; without a plan, whether it may. On a low-rank factor
// blocks are always faster: a step of a single trainer takes r^2 M flops.
func blocksPay(ctx context.Context, m *Model, plan resample.Plan, settings fits.Settings) bool {
	count := cmp.Or(settings.Resamples, fits.DefaultResamples)
	switch {
	case loss.TraitsOf(m.Loss).Proximal == nil || m.Form() == ScaLAPACK || count < leastFits:
		return false
	case m.Form() == LowRank || plan == nil && counts(m):
		return true
	}
	c := costOf(ctx, m, plan)
	return c.solve+float64(count)*c.block < float64(count)*c.single
}

// singlePays reports whether Refine trains one by one. Blocks need no further solve there, and every fit also
// needs its first iterate. Copies of the kernel's rows for single trainers must fit into memory.
func singlePays(ctx context.Context, m *Model, plan resample.Plan, settings RetrainSettings) bool {
	if !counts(m) || settings.Resamples < leastFits {
		return false
	}
	shared, _ := m.trainerBytes(m.Sites())
	if m.CheckBeside(refineBytes(m, settings)+shared, "") != nil {
		return false
	}
	c := costOf(ctx, m, plan)
	return c.single > 0 && c.single+c.block/kinkIterations < c.block
}
