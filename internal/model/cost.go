package model

import (
	"cmp"
	"context"
	"math"

	"bootbench/fits"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/train"
)

// pilotFits are trained to count their operations, unless fewer than leastFits are requested, which take less
// time than a rough theory.
const pilotFits, leastFits = 2, 60

// Cost is the cost of fits with weights of a law; fits of a support vector machine are counted in the first
// fits of a plan, if there is one.
func (m *Model) Cost(ctx context.Context, law resample.CountDistribution, plan resample.Plan) fits.Cost {
	w := fits.Work{Loss: m.Loss, Sites: m.Sites(), Rank: cmp.Or(m.Rank(), m.Sites()), Kept: kept(m, law)}
	if plan != nil && counts(m) {
		w.Operations = pilot(ctx, m, plan)
	}
	return fits.CostOf(w)
}

// kept is the fraction of the sites in a fit.
func kept(m *Model, law resample.CountDistribution) float64 {
	return 1 - resample.ProbZero(law, m.Set.N()/m.Sites())
}

// pilot is the mean number of operations of a plan's first fits; 0 if they fail.
func pilot(ctx context.Context, m *Model, plan resample.Plan) float64 {
	of, err := m.LossTrainers(0)
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
	return sum / pilotFits
}

// counts reports whether the model's own trainer counts its operations.
func counts(m *Model) bool {
	return loss.TraitsOf(m.Loss).Margin && m.Form() != ScaLAPACK && !m.TrainedOnFactor()
}

// mayBlock reports whether AutoMethod may train that many fits in blocks.
func mayBlock(m *Model, resamples int) bool {
	return loss.TraitsOf(m.Loss).Proximal != nil && m.Form() != ScaLAPACK && resamples >= leastFits
}

// Cheapest is the method of the least cost for fits with weights of a law. Of downdates, which predict only
// the examples that a fit leaves out, it makes use if these suffice. On a factor, where a step of a single
// trainer takes r^2 M operations, blocks are always faster.
func Cheapest(ctx context.Context, m *Model, law resample.CountDistribution, plan resample.Plan,
	resamples int, leftOut bool) RetrainMethod {
	count := float64(resamples)
	blocks, downdates := mayBlock(m, resamples), leftOut && (CanDowndate(m) || leavesOneOut(m, law, plan))
	if blocks && m.TrainedOnFactor() {
		return Batch
	} else if !blocks && !downdates {
		return Single
	}
	c := m.Cost(ctx, law, plan)
	least, method := count*c.Single, Single
	if cost := c.Rough + count*c.Block; blocks && cost < least {
		least, method = cost, Batch
	}
	if cost := c.Inverse + count*c.Downdate; downdates && cost < least {
		method = Downdate
	}
	return method
}

// leavesOneOut reports whether a plan leaves one example of a support vector machine out at a time, each from
// the training on all (svm.Downdate).
func leavesOneOut(m *Model, law resample.CountDistribution, plan resample.Plan) bool {
	folds, _ := law.(resample.KFold)
	_, same := plan.(resample.Resamples) // targets
	return same && folds.Folds == m.Set.N() && counts(m) && m.Rows == nil
}

// singlePays reports whether Refine trains one by one. Blocks need no further solve there, and every fit also
// needs its first iterate. Copies of the kernel's rows for single trainers must fit into memory.
func singlePays(ctx context.Context, m *Model, law resample.CountDistribution, plan resample.Plan,
	settings RetrainSettings) bool {
	if !counts(m) || settings.Resamples < leastFits {
		return false
	}
	shared, _ := trainerBytes(m, m.Sites())
	if m.CheckBeside(refineBytes(m, settings.complete())+shared, "") != nil {
		return false
	}
	c := m.Cost(ctx, law, plan)
	return !math.IsInf(c.Single, 1) && c.Single+c.First < c.Block
}
