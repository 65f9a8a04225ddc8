package loss

import (
	"errors"
	"fmt"
	"math"

	"bootbench/loss/internal/counts"
)

// maxTargets bounds the different targets of one site.
const maxTargets = 200

// checkLabels refuses a site without examples, or with labels other than -1 and +1.
func checkLabels(name string, y []float64) error {
	if len(y) == 0 {
		return errNoTarget
	}
	for j, v := range y {
		if v != 1 && v != -1 {
			return fmt.Errorf("loss: target %d of a site is %g; the %s loss takes labels -1 and +1",
				j+1, v, name)
		}
	}
	return nil
}

// checkTargets refuses a site without examples, with targets that are not finite,
// or with more different ones than maxTargets.
func checkTargets(name string, y []float64) error {
	if err := checkFinite(y); err != nil {
		return err
	}
	if distinct, _ := counts.Distinct(y); len(distinct) > maxTargets {
		return fmt.Errorf("loss: %d different targets at one input; the %s loss takes at most %d (a jitter "+
			"makes every example its own input)",
			len(distinct), name, maxTargets)
	}
	return nil
}

// checkFinite refuses a site without examples or with targets that are not finite.
func checkFinite(y []float64) error {
	if len(y) == 0 {
		return errNoTarget
	}
	for j, v := range y {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("loss: target %d of a site is %g, not a finite number", j+1, v)
		}
	}
	return nil
}

var errNoTarget = errors.New("loss: a site needs at least one target")

// maxParameter keeps sums of parameters times counts finite.
const maxParameter = 1e100

// checkPositive refuses a parameter outside (0, maxParameter].
func checkPositive(name string, v float64) error {
	if !(v > 0 && v <= maxParameter) {
		return fmt.Errorf("loss: %s must be positive and at most %g, got %g", name, float64(maxParameter), v)
	}
	return nil
}
