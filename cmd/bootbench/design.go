package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/resample"
)

// checkScheme refuses settings of the scheme that are wrong for any DATA.
func (o *options) checkScheme(ratios ...float64) {
	kfold := o.scheme == resample.KFold{}.Name()
	if o.Given("folds") && !kfold && (o.Lookup("by") == nil || o.by != tune.Folds) {
		refuse("--folds belongs to --scheme kfold, not to %s", o.scheme)
	}
	for _, ratio := range ratios {
		switch {
		case kfold && o.Given("ratio") && ratio != 1:
			refuse("--ratio: --scheme kfold takes --folds instead")
		case ratio > 1 && (o.scheme == "subsample" || o.scheme == "bernoulli"):
			refuse("--ratio is %v, must be at most 1 with --scheme %s: nothing is drawn twice", ratio,
				o.scheme)
		}
	}
}

// generates reports whether resamples have other targets, which the trained model generates.
func (o *options) generates() bool { return slices.Contains(resample.GeneratedNames(), o.scheme) }

// schemeOver is a scheme by its name at a ratio over a design.
func (o *options) schemeOver(d resample.Design, name string, ratio float64) (resample.Scheme, error) {
	s, err := d.Of(name, resample.Options{Ratio: ratio, Folds: o.folds})
	if err != nil {
		flag := "--ratio"
		if d.Group != nil || d.Stratum != nil || d.Block > 0 {
			flag = "--groups, --strata or --blocks"
		} else if name == "kfold" {
			flag = "--folds"
		}
		err = usage.Errorf("%s: %s", flag, strings.TrimPrefix(err.Error(), "resample: "))
	}
	return s, err
}

// designed is the scheme at a ratio over the groups, strata and blocks of a data set; stratified by class if
// one is small, unless a scheme was given, or a class has too few rows for the ratio.
func (o *options) designed(ratio float64, set *dataset.Set) resample.Scheme {
	n, given, note := set.N(), o.Given("scheme"), ""
	d := resample.Design{N: n, Group: set.Groups, Stratum: set.Strata, Block: o.blocks.Number}
	if o.blocks.Word {
		d.Block = int(math.Ceil(math.Cbrt(float64(n))))
	}
	plain := d
	if d.Group == nil && d.Stratum == nil && d.Block == 0 && !given && !o.alike {
		var class string
		var rows int
		if d.Stratum, class, rows = answer.SmallClass(set); d.Stratum != nil {
			note = fmt.Sprintf("%d rows of class %s: resamples are drawn within the classes (--scheme "+
				"poisson draws all rows alike)", rows, class)
		}
	}
	name := o.scheme
	if name == (resample.Poisson{}).Name() && !given && (d.Stratum != nil || d.Block > 0) {
		name = resample.Multinomial{}.Name()
	}
	s, err := o.schemeOver(d, name, ratio)
	if err != nil && note != "" {
		return steps.Must(o.schemeOver(plain, o.scheme, ratio))
	}
	steps.Check(err)
	if note != "" && !slices.Contains(set.Notes, note) {
		set.Notes = append(set.Notes, note)
	}
	switch {
	case !resample.IsDependent(s):
	case resample.ProbAbsent(s, 0) == 0:
		refuse("--ratio %g leaves no group out, on which to test: take less", ratio)
	case o.Given("refine") && o.asked.Exact == answer.No:
		refuse("--refine none: where groups or blocks are drawn the theory does not hold, and " +
			"exact resamples answer: take --refine auto")
	case o.covarianceMatrix != "" || o.asked.Quantiles != nil ||
		slices.Contains(o.asked.Metrics, report.Jackknife):
		refuse("covariances, quantiles and the jackknife are the theory's, which " +
			"does not hold where groups or blocks are drawn: retrain --replicates writes the predictions " +
			"of resamples")
	}
	return s
}

// noGroups is the value of --groups by which copies of rows are rows on their own.
const noGroups = "none"

func (o *options) grouped() bool { return o.Given("groups") && o.read.Groups != noGroups }

// groupCopies makes groups of rows that are copies of each other, unless another design or what is asked of a
// command forbids groups, and says so.
func (o *options) groupCopies(command string, set *dataset.Set) report.Checks {
	site, copies := set.Copies()
	if site == nil || o.Given("groups", "strata", "fold-column") || o.generates() {
		return nil
	}
	theory := o.Given("covariance", "quantiles") || o.Given("refine") && o.asked.Exact == answer.No ||
		o.method == "theory" || slices.Contains(o.asked.Metrics, report.Jackknife)
	if theory || o.Given("blocks", "scheme") || slices.Contains([]string{"compare", "loo", "rows"}, command) {
		return report.Checks{report.CopiesApart.Check(float64(copies),
			"take cv, which leaves copies out together", "%d of %d rows are copies of others: errors of "+
				"rows whose copies are trained on are too small", copies, set.N())}
	}
	set.Groups = site
	return report.Checks{report.CopiedRows.Check(float64(copies),
		"take --groups none if each is a row for itself",
		"%d of %d rows are copies of others: they are drawn and left out together", copies, set.N())}
}
