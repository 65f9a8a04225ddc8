package main

import (
	"slices"
	"strconv"
	"strings"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/internal/dataset"
	"bootbench/loss"
)

// classWeightRange is from where to where a class weight may lie.
var classWeightRange = [2]float64{1e-10, 1e10}

// readClassWeights reads --class-weight for the labels of DATA: "balanced", the weight of the class
// +1, those of -1 and +1, or LABEL=W for one class or both.
func readClassWeights(text string, set *dataset.Set) (loss.ClassWeights, error) {
	if text == "" {
		return loss.ClassWeights{}, nil
	}
	if text == "balanced" {
		return loss.Balanced(set.Y), nil
	}
	classes := set.Labels.Names()
	names := []string{classes.Name(-1), classes.Name(1)}
	var given [2]bool
	weights := [2]float64{1, 1}
	parts := strings.Split(text, ",")
	for k, part := range parts {
		label, number, named := strings.Cut(part, "=")
		class := 1
		switch {
		case named:
			class = slices.Index(names, strings.TrimSpace(label))
		case len(parts) == 2:
			class, number = k, part
		default:
			number = part
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if len(parts) > 2 || class < 0 || given[class] || err != nil {
			return loss.ClassWeights{},
				usage.Errorf("--class-weight %s: take balanced, %s=A,%s=B, or two numbers in this order, or one for "+
					"%[3]s", text, names[0], names[1])
		}
		if !(v >= classWeightRange[0] && v <= classWeightRange[1]) {
			return loss.ClassWeights{}, usage.Errorf("--class-weight is %v, must lie between %v and %v", v,
				classWeightRange[0], classWeightRange[1])
		}
		weights[class], given[class] = v, true
	}
	return loss.ClassWeights{Negative: weights[0], Positive: weights[1]}, nil
}
