package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// ShortName is the name of a data set, of a generated one that of its generator.
func ShortName(data string) string {
	if rest, ok := strings.CutPrefix(data, "synthetic:"); ok {
		data, _, _ = strings.Cut(rest, ",")
	}
	return data
}

// nameWidth is the width of a column of data sets of the given names.
func nameWidth(data []string) int {
	width := len("data")
	for _, name := range data {
		width = max(width, utf8.RuneCountInString(ShortName(name)))
	}
	return width
}

// fileName keeps letters, digits and underscores of the name of a data set.
func fileName(data string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, ShortName(data)), "-")
}

// number writes a figure with the digits that a reader can use.
func number[T ~float64](v T) string {
	if v != v {
		return "unknown"
	}
	return digits(v, 5)
}

// digits writes a number with so many digits, without an exponent below 10^9.
func digits[T ~float64](v T, count int) string {
	if a := math.Abs(float64(v)); a >= math.Pow10(count)-0.5 && a < 1e9 {
		unit := math.Pow10(int(math.Log10(a)) + 1 - count)
		return fmt.Sprintf("%.0f", math.Round(float64(v)/unit)*unit)
	}
	return fmt.Sprintf("%.*g", count, v)
}

// seconds writes a wall time in seconds.
func seconds(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// mebibytes writes a number of bytes.
func mebibytes(b int64) string { return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20)) }

// join lists the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// nonzero formats a value, "" for 0.
func nonzero[T int | float64](format string, value T) string {
	if value == 0 {
		return ""
	}
	return fmt.Sprintf(format, value)
}
