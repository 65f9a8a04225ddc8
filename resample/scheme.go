package resample

import (
	"fmt"
	"math"
	"strings"
)

// Names lists the schemes that ByName knows.
func Names() []string { return []string{"poisson", "multinomial"} }

// ByName is the scheme of that name for n examples, at ratio nu = S/N in
// (0, 1e9]. The multinomial scheme takes S = nu n rounded to the nearest
// integer, and refuses S = 0.
func ByName(name string, ratio float64, n int) (Scheme, error) {
	if n < 1 {
		return nil, fmt.Errorf("resample: cannot draw from %d examples", n)
	}
	if err := checkRatio(ratio); err != nil {
		return nil, err
	}
	switch name {
	case "poisson":
		return Poisson{Ratio: ratio}, nil
	case "multinomial":
		size := math.Round(ratio * float64(n))
		if size < 1 {
			return nil, fmt.Errorf("resample: ratio %g of %d examples leaves resamples without a draw", ratio, n)
		}
		return Multinomial{Size: int(size), N: n}, nil
	}
	return nil, fmt.Errorf("resample: unknown scheme %q (known: %s)", name, strings.Join(Names(), ", "))
}

// Zero is P(k = 0) for the total count of n examples, with its digits kept
// where the law has a method Zero(n int) float64 of its own: the window of
// Counts knows nothing below 1e-17.
func Zero(law Law, n int) float64 {
	if exact, ok := law.(interface{ Zero(n int) float64 }); ok {
		return exact.Zero(n)
	}
	return law.Counts(n).Zero()
}
