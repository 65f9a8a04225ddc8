package report

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Quote is the error to quote. Its standard error, which a screen shows after +-, is over examples, or over
// whole groups, and over resamples.
type Quote struct {
	Error   Number `json:"error"`
	ErrorSE Number `json:"error_se"`
	// MonteCarloSE is the part of the standard error over resamples; nil without.
	MonteCarloSE *Number `json:"monte_carlo_se,omitempty"`
	// RMSE is the root of a mean square error, nil for others, with its standard error.
	RMSE   *Number `json:"rmse,omitempty"`
	RMSESE *Number `json:"rmse_se,omitempty"`
	// Lower and Upper are the interval of the error of the model of all rows, of level Trained.ErrorLevel,
	// nil of two groups; of other errors the one-sided 95% bound of a rate of about 0, or 1, whose standard
	// error tells nothing.
	Lower *Number `json:"error_lower,omitempty"`
	Upper *Number `json:"error_upper,omitempty"`
}

// A standard error tells nothing of an error rate of less than fewErrors examples, or if a screen shows rate
// and standard error as 0.0%, which it does below shownAsZero.
const fewErrors, shownAsZero = 0.5, 0.0005

// NewQuote is the quote of a mean test loss, with the standard error over examples of its quality, nil if
// unknown, and that over resamples, nil for none.
func NewQuote(testLoss string, mean Number, quality *Quality, monteCarlo *Number) Quote {
	q, u, rate := Quote{Error: mean, ErrorSE: unknown}, units(testLoss), float64(mean)
	if quality != nil {
		q.ErrorSE = quality.ExampleSE
	}
	if monteCarlo != nil {
		q.MonteCarloSE = NumberOf(float64(*monteCarlo))
		if quality == nil {
			q.ErrorSE = *monteCarlo
		} else if se := *monteCarlo; se == se {
			q.ErrorSE = Number(math.Hypot(float64(q.ErrorSE), float64(se)))
		}
	}
	if u.root() {
		q.RMSE, q.RMSESE = NumberOf(float64(u.shown(mean))), NumberOf(float64(u.shownSE(mean, q.ErrorSE)))
	}
	if !u.share() || quality == nil {
		return q
	}
	few := fewErrors / quality.Effective
	if q.ErrorSE < shownAsZero {
		few = max(few, shownAsZero)
	}
	switch {
	case rate < few:
		q.Upper = NumberOf(upperBound(rate, quality.Effective))
	case rate > 1-few:
		q.Lower = NumberOf(1 - upperBound(1-rate, quality.Effective))
	}
	return q
}

// upperBound is the one-sided 95% bound of the probability of an event that a share of n trials had (Clopper
// and Pearson 1934): 1 - 0.05^(1/n) for none.
func upperBound(share, n float64) float64 {
	return distuv.Beta{Alpha: share*n + 1, Beta: n - share*n}.Quantile(0.95)
}

// on is the error on these rows, with its interval or standard error.
func (q *Quote) on(rows string, t *Trained, u units) string {
	within := q.within(t, u)
	switch {
	case q.Error != q.Error:
		return "unknown"
	case u.share():
		return u.text(q.Error) + " of " + rows + " get the wrong label" + nonzero(" (%s)", within)
	}
	return fmt.Sprintf("%s on %s (%s)", u.text(q.Error), rows, join(u.String(), within))
}

// within is the interval, the one-sided 95% bound or the standard error; "" if it is unknown.
func (q *Quote) within(t *Trained, u units) string {
	switch se := q.plusMinus(u); {
	case q.isInterval():
		return fmt.Sprintf("%.3g%% interval %s", 100*cmp.Or(t, &Trained{ErrorLevel: 0.95}).ErrorLevel, se)
	case q.Upper != nil || q.Lower != nil:
		return se + " with 95% confidence"
	case q.ErrorSE == q.ErrorSE:
		return "standard error " + se
	}
	return ""
}

// isInterval reports whether the bounds are of two sides.
func (q *Quote) isInterval() bool { return q.Upper != nil && q.Lower != nil && *q.Lower > 0 }

// plusMinus is the interval, the one-sided bound or the standard error.
func (q *Quote) plusMinus(u units) string {
	switch {
	case q.isInterval():
		return u.text(*q.Lower) + " to " + u.text(*q.Upper)
	case q.Upper != nil:
		return fmt.Sprintf("at most %.2g%%", 100**q.Upper)
	case q.Lower != nil:
		return fmt.Sprintf("at least %.3g%%", 100**q.Lower)
	}
	return u.se(q.Error, q.ErrorSE)
}
