package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bootbench/internal/dataset"
	"bootbench/internal/model"
	"bootbench/internal/tune"
	"bootbench/loss"
)

// chooseModel is the problem of a data set without a preset for which no loss is given: a small search
// chooses the square loss and its noise, or hinge and its C, and the kernel's gamma, unless they are given.
func chooseModel(a *app, m *modelFlags, t *testFlags, set *dataset.Set) (*problem, error) {
	if err := classifyTwoValues(set); err != nil {
		return nil, err
	}
	p, err := m.problem(t, set, model.Preset{Loss: m.startLoss(set)})
	if err != nil {
		return nil, err
	}
	open, names := m.leaveOpen(p.spec)
	fit, err := tune.Quickly(a.ctx, open, func(done, total int) {
		a.console.Progress("choosing a model", done, total)
	})
	if err != nil {
		return nil, err
	}
	p.spec.Loss, p.spec.Kernel = fit.Spec.Loss, fit.Spec.Kernel
	about, _ := loss.About(p.spec.Loss.Name())
	parameters, _ := loss.ParametersOf(p.spec.Loss)
	if err := checkParameters(about, parameters); err != nil {
		return nil, err
	}
	p.choice.by = fmt.Sprintf("%s, %d models on %d examples", fit.Criterion, fit.Models, fit.Examples)
	p.choice.flags = append([]string{"--loss", about.Name}, chosenFlags(&p.spec, names...)...)
	return p, nil
}

// startLoss is the loss from which a search starts.
func (m *modelFlags) startLoss(set *dataset.Set) loss.Loss {
	if square := (loss.Square{Noise: 1}); set.Task == dataset.Regression || m.loss == square.Name() {
		return square
	}
	return loss.Hinge{C: 1}
}

// leaveOpen is a specification without what the search is to choose, and the names of that.
func (m *modelFlags) leaveOpen(spec model.Spec) (open model.Spec, names []string) {
	open = spec
	open.Storage, open.RankTol, open.MaxRank = model.Exact, 0, 0
	about, _ := loss.About(spec.Loss.Name())
	if !m.given(about.Takes...) {
		names, open.Loss = slices.Clone(about.Takes), nil
		if weights := loss.WeightsOf(spec.Loss); weights != (loss.ClassWeights{}) {
			open.Loss = loss.Hinge{ClassWeights: weights}
		}
	}
	if spec.Kernel.Scaled() && !m.given("gamma", "length-scale") {
		names = append(names, "gamma")
	}
	return open, names
}

// chosenFlags are the flags that give the values which hyperparameters have in a specification.
func chosenFlags(spec *model.Spec, names ...string) (flags []string) {
	for _, name := range names {
		over, err := spec.Hyperparameters(name)
		if err != nil { // it has no such hyperparameter
			continue
		}
		var texts []string
		if weights := loss.WeightsOf(spec.Loss); name == "class-weight" && weights.Negative != 1 {
			texts = []string{strconv.FormatFloat(weights.Negative, 'g', -1, 64)}
		}
		for _, h := range over {
			texts = append(texts, strconv.FormatFloat(h.Value(spec), 'g', -1, 64))
		}
		flags = append(flags, "--"+name, strings.Join(texts, ","))
	}
	return flags
}

// classifyTwoValues makes classes of targets that have exactly two values.
func classifyTwoValues(set *dataset.Set) error {
	distinct := map[float64]bool{}
	for _, v := range set.Y {
		if distinct[v] = true; len(distinct) > 2 {
			return nil
		}
	}
	if set.Task == dataset.Classification || len(distinct) != 2 {
		return nil
	}
	return set.Classify("")
}
