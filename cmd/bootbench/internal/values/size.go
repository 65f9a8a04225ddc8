// Package values reads the values of flags that are more than a number or a text.
package values

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes on the command line, 0 where it is not given.
type Size int64

// String is the number as --help shows it.
func (b *Size) String() string {
	if *b == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type is the flag's type in --help.
func (b *Size) Type() string { return "SIZE" }

// Set reads a number with a unit: none or B, K, M, G, T with B (powers of 1000)
// or with nothing or iB (powers of 1024), in any case.
func (b *Size) Set(text string) error {
	lower := strings.ToLower(strings.TrimSpace(text))
	digits := strings.TrimRight(lower, "kmgtib")
	unit, value := strings.TrimSpace(lower[len(digits):]), 0.0
	value, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	factor, known := unitOf(unit)
	bytes := value * factor
	if err != nil || !known || !(bytes >= 1 && bytes < math.MaxInt64) {
		return fmt.Errorf("%q is not a size such as 500MB or 8GiB", text)
	}
	*b = Size(bytes)
	return nil
}

func unitOf(unit string) (factor float64, known bool) {
	if unit == "" || unit == "b" {
		return 1, true
	}
	power := strings.IndexByte("kmgt", unit[0]) + 1
	switch unit[1:] {
	case "", "ib":
		return math.Pow(1024, float64(power)), power > 0
	case "b":
		return math.Pow(1000, float64(power)), power > 0
	}
	return 0, false
}
