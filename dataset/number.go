package dataset

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// parseNumber reads a finite number from a cell; blanks around it are ignored.
func parseNumber(cell string) (float64, error) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return 0, errors.New("empty cell (missing values are not supported)")
	}
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s is beyond the range of a float64", quote(cell))
	case err != nil:
		return 0, fmt.Errorf("%s is not a number", quote(cell))
	}
	return v, checkFinite(v)
}

// checkFinite refuses NaN and infinities.
func checkFinite(v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%v is not a finite number", v)
	}
	return nil
}

// isNumeric reports whether a cell reads as a number, NaN and Inf included.
func isNumeric(cell string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
