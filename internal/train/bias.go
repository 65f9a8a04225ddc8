package train

import (
	"errors"
	"math"
)

// ErrNoFiniteBias says that no finite bias is the best: a loss that goes on falling as the
// predictor grows was trained on examples of one class, or a likelihood leaves the
// posterior of the bias without a mean there.
var ErrNoFiniteBias = errors.New(
	"no finite bias is the best: the training examples are of one class, and the loss goes on falling as the " +
		"predictor grows")

// farMargin is a predictor, in units of the largest target and of 1, beyond which the sign
// of a loss's slope does not change.
const farMargin = 30

// Far is a predictor beyond which no loss of these examples changes the sign of its slope.
func (g *Groups) Far() float64 {
	far := float64(farMargin)
	for _, y := range g.Y {
		far = max(far, farMargin*math.Abs(y))
	}
	return far
}
