package main

import (
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// noiseFlag is a noise variance: a number in squared units of the target, or a share of
// its variance in percent.
type noiseFlag struct {
	value   float64
	percent bool
}

// Set reads "30" or "10%".
func (n *noiseFlag) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return err
	}
	*n = noiseFlag{value, percent}
	return nil
}

// String is what Set reads; "" for none.
func (n *noiseFlag) String() string {
	switch {
	case n.percent:
		return strconv.FormatFloat(n.value, 'g', -1, 64) + "%"
	case n.value == 0:
		return ""
	}
	return strconv.FormatFloat(n.value, 'g', -1, 64)
}

// Type is the kind of value, for pflag.
func (n *noiseFlag) Type() string { return "variance" }

// of is the variance of the noise of targets.
func (n *noiseFlag) of(y []float64) float64 {
	if !n.percent {
		return n.value
	}
	return n.value / 100 * stat.PopVariance(y, nil)
}
