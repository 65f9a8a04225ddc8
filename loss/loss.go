// Package loss holds training losses, as sites of the theory, and test losses.
//
// A training loss enters the theory only through its proximal map (T3). Each loss maps the Gaussian cavity of
// a site to the moments of the predictor there (T4), its law over resamples, and the expected test loss of a
// left-out example (M03-45, 46).
//
// A site is a distinct input. It holds one or several examples; its total count is the sum of theirs.
package loss

import "bootbench/resample"

// Cavity is the Gaussian law h ~ N(Mean, Var) of the predictor at a site trained without that site, and the
// curvature C > 0 of the rest of the model there (T2): C = c, Mean = gc/c, Var = -lc/c^2 >= 0.
type Cavity struct {
	C, Mean, Var float64
}

// Moments are the moments of a site (T4): mean and variance over resamples of the predictor, and Shrinkage =
// o = 1 - c chi in [0, 1], the relative reduction of the site's response by its examples. Response = 1 -
// Shrinkage = c chi is summed separately, so that both are relatively accurate. Then chi = Response/c, and
// the new d = 1/chi - c is c Shrinkage/Response. Response is 0 only if the site's examples are always
// present, or if it underflows.
type Moments struct {
	Mean, Var, Shrinkage, Response float64
}

// Loss is a convex training loss l(f, y).
type Loss interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y).
	Value(f, y float64) float64
	// Site prepares the loss for a site whose examples have targets y (length >= 1) and occupation numbers
	// that follow law. It refuses targets outside the loss's domain.
	Site(y []float64, law resample.CountDistribution) (Site, error)
}

// Proximal is a convex loss known by its value and its proximal map, which suffice for the theory (T4) and a
// trainer (T1).
type Proximal interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is l(f, y); +Inf outside the domain.
	Value(f, y float64) float64
	// Prox is the proximal map of several examples at one input (T3),
	//
	//	f = argmin c/2 (f-h)^2 + sum_j k_j l(f, y_j),
	//
	// and its slope df/dh in [0, 1]. c > 0; weights k_j >= 0, one for each of the targets y. Without weight
	// f = h and the slope is 1.
	Prox(c, h float64, y, k []float64) (f, slope float64)
}

// Site is a loss bound to the targets of a site's examples and the law of their counts. Its methods are safe
// for concurrent use.
type Site interface {
	// Moments are the site's moments under a cavity (T4).
	Moments(Cavity) Moments
	// Distribution is the law over resamples of the predictor at the site (M03-60, M04-18).
	Distribution(Cavity) Distribution
	// LeftOut is the expected test loss of the site's example number copy,
	// given that this example is left out of the resample (M03-46).
	LeftOut(cav Cavity, copy int, test Test) float64
}

// Quadratic is a site whose d and c do not depend on the targets (square loss): the fixed point splits into
// T10 and one linear solve (T11).
type Quadratic interface {
	Site
	// Responses are the averages of (T9) over the site's count k:
	//	a1 = E 1/(c+k/s2), pull = 1 - c a1 = E (k/s2)/(c+k/s2),
	//	a2 = E 1/(c+k/s2)^2, e2 = E (v/s2^2)/(c+k/s2)^2,
	// with v = WithinSiteVar of the site's examples and k: k for draws with replacement.
	Responses(c float64) (a1, pull, a2, e2 float64)
	// Spread is the variance of 1/(c+k/s2) over k, a2 - a1^2 without cancellation. a1 and pull are the ones
	// of Responses at the same c.
	Spread(c, a1, pull float64) float64
	// Target is the mean and the population variance of the site's targets.
	Target() (mean, variance float64)
}

// Test is a loss of left-out predictions.
type Test interface {
	// Name is the loss's name on the command line.
	Name() string
	// Value is the loss of prediction f for target y.
	Value(f, y float64) float64
	// Gaussian is E Value(h, y) over h ~ N(mean, variance), variance >= 0.
	Gaussian(mean, variance, y float64) float64
}

// breakpointer is a Test whose Value has jumps or kinks, needed if the law of a prediction is a truncated
// Gaussian.
type breakpointer interface {
	Test
	// Breakpoints are the predictions f where Value is not smooth for target y.
	Breakpoints(y float64) []float64
}
