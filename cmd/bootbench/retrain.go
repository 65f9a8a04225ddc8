package main

import (
	"context"
	"fmt"
	"slices"

	"bootbench/cmd/internal/steps"
	"bootbench/internal/answer"
	"bootbench/internal/dataset"
	"bootbench/internal/leaveout"
	"bootbench/internal/model"
	"bootbench/internal/report"
	"bootbench/internal/tune"
	"bootbench/linalg"
	"bootbench/resample"
)

func runRetrain(a *app, o *options, data []string) {
	o.checkScheme(o.ratio)
	p, how := a.read(o, data[0], standard.DefaultSample), o.how
	how.NoPoints, how.Seed, how.Scheme = o.asked.NoPoints, o.asked.Seed, o.designed(o.ratio, p.spec.Set)
	p.spec.Then = func(m *model.Model) int64 { return how.Need(m, p.test) }
	a.ask(p, func(s *answer.Study) report.Result {
		if o.replicates == "" {
			return steps.Must(s.Retrain(a.ctx, how, nil))
		}
		functions, n := len(s.Model.Functions), p.spec.Set.N()
		replicates := make([][]float64, functions) // the predictions of every resample for the examples
		steps.Check(linalg.CheckMemory(16*int64(how.Resamples)*int64(n*functions), o.maxMemory,
			fmt.Sprintf("the predictions of %d resamples for %d examples", how.Resamples, n)))
		r := steps.Must(s.Retrain(a.ctx, how, func(function, _ int, f []float64) {
			replicates[function] = append(replicates[function], s.PerExample(function, f)...)
		}))
		if rows := len(replicates[0]) / n; rows > 0 {
			writeMatrix(o.replicates, rows, n*functions, sideBySide(replicates, n))
		}
		return r
	})
}

func sideBySide(parts [][]float64, n int) (all []float64) {
	for row := range len(parts[0]) / n {
		for _, part := range parts {
			all = append(all, part[row*n:(row+1)*n]...)
		}
	}
	return all
}

func runCV(a *app, o *options, data []string) {
	p := a.read(o, data[0], standard.DefaultSample)
	if o.roc {
		steps.Check(answer.CheckROC(&p.spec))
	}
	v := o.validation(p.spec.Set)
	chosen := v.Permutations > 0 && p.choice.again != nil
	refit := o.refitFeatures || v.Design.Block > 0 && p.spec.Standardize
	if chosen && (o.kernel == autoKernel || p.spec.Pairs) { // the line that repeats must choose, too
		v.Again, p.choice.inside = p.choice.again(tune.IfBetter), true
	}
	switch {
	case refit && chosen && !o.nested:
		refuse("--refit-preprocessing, or --blocks, with --permutations needs a given model, " +
			"or --nested, which does both")
	case o.nested && p.choice.again == nil:
		refuse("--nested chooses the model in every fold, and this one is given: leave out --loss, or " +
			"--nested")
	case o.nested:
		v.Anew, v.Choose, v.Corrects = "a model chosen", p.choice.again(tune.IfBetter), answer.CorrectsChoice
		p.choice.inside = true
	case refit:
		if o.how.Method == model.Batch {
			refuse("--method: without every fold the features are standardised again, and " +
				"models trained one by one: --method batch does not go with it")
		}
		v.Corrects, v.Anew = "preprocessing", "features standardised"
		v.Choose = func(_ context.Context, set *dataset.Set) (model.Spec, error) {
			spec := p.spec
			spec.Set = set
			return spec, nil
		}
	}
	p.spec.FitsAlone = v.Method != model.Batch
	a.ask(p, func(s *answer.Study) report.Result {
		r := steps.Must(s.Validate(a.ctx, v, o.asked.Level))
		if o.roc {
			s.AddROC(a.ctx, r, v.Seed, o.asked.Level)
		}
		return r
	})
}

func (o *options) validation(set *dataset.Set) answer.Validation {
	v := o.cv
	v.Folds, v.Single = o.cvFolds.Number, o.cvFolds.Word
	v.Given, v.Seed, v.Metrics = set.Folds, o.asked.Seed, o.asked.Metrics
	v.Method, v.Workers = o.how.Method, o.how.Workers
	v.Design = resample.Design{N: set.N(), Group: set.Groups, Stratum: set.Strata, Block: o.blocks.Number}
	if o.blocks.Word {
		v.Design.Block = max(1, set.N()/(v.Folds+1))
	}
	if units := set.N(); !o.Given("folds") && v.Design.Block == 0 {
		if set.Groups != nil {
			units = 1 + slices.Max(set.Groups)
		}
		v.Folds = min(v.Folds, units)
	}
	switch {
	case o.Given("fold-column") && (o.grouped() || o.Given("folds", "blocks", "strata")):
		refuse("--fold-column says what the folds are: --folds, --blocks, --groups and --strata do not go " +
			"with it")
	case set.Groups != nil && !o.Given("groups") && v.Folds > 1+slices.Max(set.Groups):
		refuse("--folds %d: the rows are copies of only %d: take fewer folds, or --groups "+
			"none", v.Folds, 1+slices.Max(set.Groups))
	case o.Given("repeats") && (v.Single || o.Given("fold-column", "blocks")):
		refuse("--repeats is for random folds: these are always the same")
	}
	steps.Check(v.Check())
	return v
}

// allMethods is the name for a comparison of the methods.
const allMethods = "all"

func runLOO(a *app, o *options, data []string) {
	methods := []leaveout.Settings{{Method: leaveout.Method(o.method)}}
	if o.method == allMethods {
		methods = leaveout.All()
	}
	a.ask(a.read(o, data[0], standard.DefaultSample), func(s *answer.Study) report.Result {
		r := steps.Must(s.LeaveOneOut(a.ctx, methods...))
		s.AddInterval(a.ctx, r, answer.Validation{Seed: o.asked.Seed}, o.asked.Level)
		return r
	})
}
