package main

import (
	"fmt"
	"strconv"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
	"bootbench/dataset"
	"bootbench/loss"
	"bootbench/model"
)

// quickFit chooses a model where none is asked for: DATA has no preset and no --loss is
// given. It sets the flags of what it chose, as if they had been given, so that whatever
// depends on the command line sees them.
func (a *app) quickFit(m *modelFlags, set *dataset.Set) (about string, err error) {
	if _, known := model.PresetFor(set); known || m.given("loss") {
		return "", nil
	}
	if set.Task == dataset.Regression && twoValues(set.Y) {
		if err := set.Classify(""); err != nil {
			return "", err
		}
	}
	spec, open, err := m.openSpec(set)
	if err != nil {
		return "", err
	}
	fit, err := model.FitQuickly(a.ctx, spec, func(done, total int) {
		a.console.Progress("choosing a model",
			done, total)
	})
	if err != nil {
		return "", err
	}
	var again []string
	for _, flag := range append([]string{"loss"}, open...) {
		value := chosenValue(&fit.Spec, flag)
		if err := m.flags.Set(flag, value); err != nil {
			return "", usage.Errorf("--%s: %w", flag, err)
		}
		again = append(again, "--"+flag, value)
	}
	a.chosen = again
	return fmt.Sprintf("%s, %d models on %d examples", fit.Criterion, fit.Models, fit.Examples), nil
}

// twoValues reports whether targets have exactly two values.
func twoValues(y []float64) bool {
	var other *float64
	for i, v := range y {
		switch {
		case v == y[0]:
		case other == nil:
			other = &y[i]
		case v != *other:
			return false
		}
	}
	return other != nil
}

// openSpec is the model that the flags leave open, and the flags to be chosen beside
// --loss. With --noise or --C given, the loss has it and only --gamma is open.
func (m *modelFlags) openSpec(set *dataset.Set) (spec model.Spec, open []string, err error) {
	m.loss = loss.Square{}.Name()
	parameter := "noise"
	if set.Task == dataset.Classification {
		m.loss, parameter = loss.Hinge{}.Name(), "C"
	}
	m.flags.Lookup("loss").Changed = true
	if !m.given(parameter) {
		open = append(open, parameter)
		m.noise = values.NewVariance(1)
	}
	if spec, _, err = m.spec(set); err != nil {
		return spec, nil, err
	}
	spec.Storage, spec.RankTol, spec.MaxRank = model.Exact, 0, 0
	if weights := loss.WeightsOf(spec.Loss); len(open) > 0 && weights != (loss.ClassWeights{}) {
		spec.Loss = loss.Hinge{ClassWeights: weights}
	} else if len(open) > 0 {
		spec.Loss = nil
	}
	if spec.Kernel.Scaled() && !m.given("gamma", "length-scale") {
		open = append(open, "gamma")
	}
	return spec, open, nil
}

// chosenValue is the value of a flag in a complete model.
func chosenValue(spec *model.Spec, flag string) string {
	value := spec.Kernel.Gamma
	switch l := spec.Loss.(type) {
	case loss.Square:
		if flag == "noise" {
			value = l.Noise
		}
	case loss.Hinge:
		if flag == "C" {
			value = l.C
		}
	}
	if flag == "loss" {
		return spec.Loss.Name()
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}
