package values

import (
	"fmt"
	"strconv"
	"strings"
)

// Percent is a share between 0 and 1 that is given in percent.
type Percent float64

// Set reads "0.5%".
func (p *Percent) Set(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(value > 0 && value < 100) {
		return fmt.Errorf("%q is no percentage above 0%% and below 100%%", text)
	}
	*p = Percent(value / 100)
	return nil
}

// String is what Set reads.
func (p *Percent) String() string { return strconv.FormatFloat(100*float64(*p), 'g', -1, 64) + "%" }

// Type is the kind of value, for pflag.
func (p *Percent) Type() string { return "percentage" }
