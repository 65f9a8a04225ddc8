package report

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"bootbench/loss"
)

// Number is a number that is null in JSON if it is not finite.
type Number float64

// MarshalJSON is the number with all its digits, or null.
func (f Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as NaN.
func (f *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// Numbers is a list of such numbers; nil is an empty list.
type Numbers []float64

// MarshalJSON is a list of numbers and nulls.
func (f Numbers) MarshalJSON() ([]byte, error) {
	list := make([]Number, len(f))
	for i, v := range f {
		list[i] = Number(v)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads nulls as NaN.
func (f *Numbers) UnmarshalJSON(text []byte) error {
	var list []Number
	err := json.Unmarshal(text, &list)
	*f = make(Numbers, len(list))
	for i, v := range list {
		(*f)[i] = float64(v)
	}
	return err
}

// NumberOf is a pointer to a number, for optional fields of documents.
func NumberOf(v float64) *Number { f := Number(v); return &f }

// ShortName is the name of a data set or of its generator.
func ShortName(data string) string {
	if rest, ok := strings.CutPrefix(data, "synthetic:"); ok {
		data, _, _ = strings.Cut(rest, ",")
	}
	return data
}

// fileName keeps letters, digits and underscores of the name of a data set.
func fileName(data string) string {
	return strings.Trim(regexp.MustCompile(`\W`).ReplaceAllString(ShortName(data), "-"), "-")
}

func number[T ~float64](v T) string { return either(v != v, "unknown", digits(v, 5)) }

// shortNumber formats a number in a table for people.
func shortNumber(v float64) string { return digits(v, 4) }

// digits formats a number with count digits, without an exponent below 10^9.
func digits[T ~float64](v T, count int) string {
	if a := math.Abs(float64(v)); a >= math.Pow10(count)-0.5 && a < 1e9 {
		unit := math.Pow10(int(math.Log10(a)) + 1 - count)
		return fmt.Sprintf("%.0f", math.Round(float64(v)/unit)*unit)
	}
	return fmt.Sprintf("%.*g", count, v)
}

func seconds(v float64) string { return fmt.Sprintf(either(v >= 100, "%.0f", "%.3g"), v) }

func mebibytes(b int64) string { return fmt.Sprintf("%.1f MiB", float64(b)/(1<<20)) }

func share[T ~float64](e T) string { return fmt.Sprintf("%.1f%%", math.Max(0, 100*float64(e))) }

// join lists the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

func nonzero[T comparable](format string, value T) string {
	var zero T
	if value == zero {
		return ""
	}
	return fmt.Sprintf(format, value)
}

// either is the first of two values if the condition holds, else the second.
func either[T any](condition bool, first, second T) T {
	if condition {
		return first
	}
	return second
}

// units are the units of displayed errors of a test loss: the target's for the square loss, whose errors are
// shown as roots, fractions of wrong labels for the zero-one loss.
type units string

// shares are the units of error rates.
var shares = units(loss.ZeroOne{}.Name())

func (u units) root() bool { return string(u) == loss.SquareTest{}.Name() }

func (u units) share() bool { return u == shares }

// String names the displayed error.
func (u units) String() string {
	switch {
	case u.root():
		return "root mean square"
	case u.share():
		return "share of wrong labels"
	}
	return string(u) + " loss"
}

func (u units) shown(e Number) Number {
	return either(u.root(), Number(math.Sqrt(float64(e))), e)
}

func (u units) digits(shown Number, count int) string {
	return either(u.share(), share(shown), digits(shown, count))
}

func (u units) text(e Number) string { return u.digits(u.shown(e), 4) }

// shownSE is the standard error of an error in these units; of a root, se/(2 root), or of order se^1/2 at 0.
func (u units) shownSE(e, se Number) Number {
	if root := u.shown(e); u.root() {
		return either(root == 0, u.shown(se), se/(2*root))
	}
	return se
}

func (u units) se(e, se Number) string {
	if se != se {
		return "-"
	}
	return u.digits(u.shownSE(e, se), 2)
}
