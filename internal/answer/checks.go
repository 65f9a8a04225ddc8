package answer

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"bootbench/fits"
	"bootbench/internal/calibration"
	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/resample"
	"bootbench/solver"
)

// fewExamples is the number below which errors, intervals and probabilities are rough.
const fewExamples = 20

// fewGroups is the effective number of groups below which Student's t and the normal law differ by a sixth.
const fewGroups = 8

// judgement are the checks of an error, for every command: Trained is nil for models of fewer rows.
func judgement(e *report.Quote, t *report.Trained, q *report.Quality, set *dataset.Set) report.Checks {
	return slices.Concat(q.Check(e.Error), FewChecks(set), imbalance(q, set), correction(e, t, q))
}

// correction says that the error of a chosen model on the rows that chose it differs from the error that is
// corrected for the choice by more than two standard errors, and lies outside the interval, which counts that
// few rows, or rows of which none or all are wrong, tell little of the standard error.
func correction(e *report.Quote, t *report.Trained, q *report.Quality) report.Checks {
	if t == nil || t.Uncorrected == nil {
		return nil
	}
	if e.Lower != nil && *e.Lower <= *t.Uncorrected && *t.Uncorrected <= *e.Upper {
		return nil
	}
	off := float64((e.Error - *t.Uncorrected) / e.ErrorSE)
	if !(math.Abs(off) > 2) {
		return nil
	}
	plain, corrected := float64(*t.Uncorrected), float64(e.Error)
	const many = 20 // standard errors, of which few rows cannot tell more
	than := ""
	if math.Abs(off) > many {
		than = "more than "
	}
	if q != nil && q.RSquared != nil {
		plain, corrected = math.Sqrt(plain), math.Sqrt(corrected)
	}
	return report.Checks{report.Correction.Check(off,
		"quote the corrected error, and choose fewer numbers or take more rows",
		"without correction for the %s the error is %.4g; corrected it is %.4g, which differs by %s%.2g "+
			"standard errors", strings.Join(t.CorrectedFor, " and "), plain, corrected, than,
		math.Min(many, math.Abs(off)))}
}

// chosenBy says that rows that no block of the training has have chosen hyperparameters.
func chosenBy(rows string, chosen []string, cure string) report.Checks {
	if len(chosen) == 0 {
		return nil
	}
	return report.Checks{report.Correction.Check(float64(len(chosen)), cure, "%s: chosen by all rows, "+
		"also by %s, so that the error may be too low", strings.Join(chosen, ", "), rows)}
}

// unequal is the ratio of the largest to the smallest class from which on the balanced error is shown.
const unequal = 9

// imbalance is the verdict by the balanced error where classes are unequal: its standard error is at most
// half the root of the sum of 1/n over the classes, by their number.
func imbalance(q *report.Quality, set *dataset.Set) report.Checks {
	if q == nil || q.Balanced == nil || set.AreNumbers() {
		return nil
	}
	count := classSizes(set)
	few := slices.Min(count)
	if slices.Max(count) < unequal*few || few < 2 {
		return nil
	}
	k, variance := float64(len(count)), 0.0
	for _, rows := range count {
		variance += 0.25 / float64(rows)
	}
	chance, verdict := 1-1/k, "nothing that these rows can show"
	if float64(*q.Balanced) < chance-2*math.Sqrt(variance)/k {
		verdict = "something"
	} else if q.Ranks {
		verdict = "no more than to rank the classes"
	}
	share := float64(few) / float64(set.N())
	return report.Checks{report.Imbalance.Check(share, "judge by the balanced error",
		"%.2g%% of the rows are of class %s: by the balanced error, %.3g against %.3g by guessing, the "+
			"model has learned %s", 100*share, set.Levels()[slices.Index(count, few)], *q.Balanced, chance,
		verdict)}
}

// FewChecks are the checks of an estimate from few examples or groups, or from few that have the weight.
func FewChecks(set *dataset.Set) report.Checks {
	n := set.N()
	const moreRows = "take more rows, or read the errors as rough"
	switch effective := calibration.Effective(n, set.Weights, set.Groups); {
	case set.Groups != nil && effective < 1+1e-6:
		return report.Checks{report.FewGroups.Check(effective, "take rows of more groups",
			"one group has all the weight: nothing is known of others")}
	case set.Groups != nil && effective < fewGroups:
		t, count := distuv.StudentsT{Sigma: 1, Nu: effective - 1}, 1+slices.Max(set.Groups)
		if count == 2 { // doc/accuracy.md
			return report.Checks{report.FewGroups.Check(effective, "take rows of more groups, three at least",
				"the rows are in 2 groups: errors by models of the other group are of one difference, "+
					"which does not tell how it varies, so that they have no interval, and standard errors "+
					"are rough")}
		}
		return report.Checks{report.FewGroups.Check(effective, "take rows of more groups",
			"the rows are in %d groups, which count like %.2g of equal size: standard errors are rough, and "+
				"a 95%% interval takes %.2g of them to each side (Student's t), not 2; it holds about 9 "+
				"times in 10", count, effective, t.Quantile(0.975))}
	case set.Groups == nil && effective < fewExamples && n >= fewExamples:
		return report.Checks{report.UnevenWeights.Check(effective, "take more rows, or more equal weights",
			"errors are rough, and so are their standard errors: the weights make the rows "+
				"count like %.2g of equal weight", effective)}
	case set.AreNumbers() && n < fewExamples:
		return report.Checks{report.FewRows.Check(float64(n), moreRows,
			"errors from %d rows are rough, and so are their standard errors", n)}
	case set.AreNumbers():
		return nil
	}
	count := classSizes(set)
	if class := slices.Index(count, 1); class >= 0 && len(count) == 2 {
		return report.Checks{report.RareClass.Check(1, "take more rows of this class",
			"class %s has one row: probabilities cannot be checked, and are "+
				"little more than shares of the classes", set.Levels()[class])}
	}
	if n < fewExamples {
		return report.Checks{report.FewRows.Check(float64(n), moreRows,
			"probabilities from %d rows are rough", n)}
	}
	return nil
}

// addModel adds the findings about a model and the resamples that train it.
func addModel(f *report.Findings, m *model.Model, scheme resample.Scheme) {
	f.Remark(m.Warnings()...)
	if share := model.EmptyShare(m, scheme); share > 0.05 {
		f.Add(report.ConstantModels.Check(share, "take a larger ratio, or more rows",
			"%.0f%% of the resamples are empty: they predict 0, the prior mean, and are in the averages",
			100*share))
	}
	const rare = "take more rows of the rare class, or strata"
	switch share := model.MissingClass(m, scheme); {
	case share > 0.5:
		f.Add(report.ConstantModels.Check(share, rare,
			"%.0f%% of the resamples lack one of the two classes: their classifier is constant", 100*share))
	case m.Bias && share > 0.01:
		f.Add(report.ConstantModels.Check(share, rare,
			"%.2g%% of the resamples lack one of the two classes: they predict the other class, "+
				"which the theory ignores", 100*share))
	}
}

// addSolution adds why a solution has not converged, what the kernel cannot tell, and remarks.
func addSolution(f *report.Findings, s *solver.Solution) {
	if s.Status != solver.Converged && s.Warnings != nil {
		cure := "take a softer margin, a larger jitter or more sweeps"
		if s.Status == solver.TooCoarse {
			cure = "take Spec.Storage exact, or allow a higher rank, more memory or a larger error"
		}
		f.Add(report.NotConverged.Check(s.Residual, cure, "%s", strings.Join(s.Warnings, "; ")))
	} else {
		f.Remark(s.Warnings...)
	}
	if n := len(s.Problem.Y); s.Stats.Alone > 0 {
		f.Add(report.Narrow.Check(float64(s.Stats.Alone), "take a larger length scale",
			"at %d of %d inputs the kernel is so narrow that no other row has an influence: the left-out "+
				"prediction is 0 there and counts as half an error", s.Stats.Alone, n))
	}
}

func addFits(f *report.Findings, r *fits.Averages) {
	f.Remark(r.Warnings...)
	all := r.Resamples + len(r.Skipped)
	if skipped := len(r.Skipped); skipped > 0 {
		f.Add(report.NotConverged.Check(float64(skipped), "take a softer margin or another tolerance",
			"%d of %d resamples are not in the averages: their training did not converge (the first: %v)",
			skipped, all, r.Skipped[0]))
	}
	if r.Empty > 0 {
		f.Add(report.ConstantModels.Check(float64(r.Empty), "take a larger ratio, or more rows",
			"%d of %d resamples were empty and predict the prior mean 0", r.Empty, r.Resamples))
	}
	if r.OneClass > 0 {
		f.Add(report.ConstantModels.Check(float64(r.OneClass), "take more rows of the rare class, or strata",
			"%d of %d resamples were of one class and predict its label", r.OneClass, r.Resamples))
	}
	if len(r.Tests) > 0 {
		f.Add(neverLeftOut(r.Tests[0].Examples)...)
	}
}

func neverLeftOut(errors []float64) report.Checks {
	never := floats.Count(math.IsNaN, errors)
	if never == 0 {
		return nil
	}
	return report.Checks{report.FewResamples.Check(float64(never), "take more resamples",
		"%d of %d rows were never left out and do not count in the left-out error", never, len(errors))}
}

// otherColumns says how new rows differ from the columns of the data.
func otherColumns(in *dataset.Inputs) (all report.Checks) {
	for _, note := range in.Notes {
		all = append(all, report.OtherColumns.Check(1, "compare the columns of both files", "%s", note))
	}
	return all
}

func notComputed(format string, args ...any) report.Check {
	return report.NotComputed.Check(1, "ask for less, or change what the text names", format, args...)
}
