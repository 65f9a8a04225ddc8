package study

import (
	"fmt"
	"math"
)

// CheckNumbers refuses a list of numbers that is not as long as it must be, or holds
// one that is not finite.
func CheckNumbers(what string, values []float64, length int) error {
	if len(values) != length {
		return fmt.Errorf("%s has %d numbers, not %d", what, len(values), length)
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: number %d is %v", what, i+1, v)
		}
	}
	return nil
}
