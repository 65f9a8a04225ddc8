package report

import (
	"fmt"
	"math"

	"bootbench/internal/null"
	"bootbench/loss"
)

// units are those in which errors of a test loss are read: the target's for the square loss, whose errors are
// shown as roots, shares of wrong labels for the zero-one loss.
type units string

func (u units) root() bool { return string(u) == loss.SquareTest{}.Name() }

func (u units) share() bool { return string(u) == loss.ZeroOne{}.Name() }

// String names what text shows.
func (u units) String() string {
	switch {
	case u.root():
		return "root mean square"
	case u.share():
		return "share of wrong labels"
	}
	return string(u) + " loss"
}

// text is an error.
func (u units) text(e null.Float) string {
	switch {
	case u.root():
		return digits(math.Sqrt(float64(e)), 4)
	case u.share():
		return share(e)
	}
	return digits(e, 4)
}

// se is the standard error of an error; of a root, se/(2 root).
func (u units) se(e, se null.Float) string {
	switch {
	case u.root():
		return digits(float64(se)/2/math.Sqrt(float64(e)), 2)
	case u.share():
		return share(se)
	}
	return digits(se, 2)
}

// fall is the difference of two errors.
func (u units) fall(from, to null.Float) string {
	switch {
	case u.root():
		return digits(math.Sqrt(float64(from))-math.Sqrt(float64(to)), 2)
	case u.share():
		return share(from - to)
	}
	return digits(from-to, 2)
}

// withSE is an error with its standard error and its units.
func (u units) withSE(e, se null.Float) string {
	text := u.text(e) + " +- " + u.se(e, se)
	if u.share() {
		return text
	}
	return fmt.Sprintf("%s (%s)", text, u)
}
