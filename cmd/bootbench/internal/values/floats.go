package values

import (
	"fmt"
	"strconv"
	"strings"
)

// Floats is a list of numbers.
type Floats []float64

// Set reads numbers between commas.
func (l *Floats) Set(text string) error {
	var list []float64
	for part := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return fmt.Errorf("%q is no list of numbers such as 0.5,2", text)
		}
		list = append(list, v)
	}
	*l = list
	return nil
}

// String is what Set reads, to the last digit.
func (l *Floats) String() string {
	texts := make([]string, len(*l))
	for i, v := range *l {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(texts, ",")
}

// Type is the kind of value, for pflag.
func (l *Floats) Type() string { return "numbers" }
