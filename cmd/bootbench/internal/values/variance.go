package values

import (
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Variance is that of noise: a number in squared units of the target, or a share of
// its variance in percent.
type Variance struct {
	value   float64
	percent bool
}

// Set reads "30" or "10%".
func (v *Variance) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return err
	}
	*v = Variance{value, percent}
	return nil
}

// String is what Set reads; "" for none.
func (v *Variance) String() string {
	switch {
	case v.percent:
		return strconv.FormatFloat(v.value, 'g', -1, 64) + "%"
	case v.value == 0:
		return ""
	}
	return strconv.FormatFloat(v.value, 'g', -1, 64)
}

// Type is the kind of value, for pflag.
func (v *Variance) Type() string { return "variance" }

// Of is the variance of the noise of targets.
func (v *Variance) Of(y []float64) float64 {
	if !v.percent {
		return v.value
	}
	return v.value / 100 * stat.PopVariance(y, nil)
}
