package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Spec describes a covariance function A k(x, x') + B. The zero Spec is an rbf kernel of length scale
// sqrt(d). A field that the kind does not use must be zero: Validate refuses others.
type Spec struct {
	// Kind of covariance function; default RBF.
	Kind Kind `json:"kind"`

	// Gamma >= 0. For the kinds that depend on distance it is 1/(2 L^2) of one length scale L, and excludes
	// LengthScale; for Poly it multiplies x . x'. Zero means 1/(2d), d the number of features, unless
	// LengthScale is given.
	Gamma float64 `json:"gamma,omitempty"`

	// LengthScale holds one length scale > 0 for all features, or one for each, in units of the features.
	// Only for the kinds that depend on distance. Empty: see Gamma.
	LengthScale []float64 `json:"length_scale,omitempty"`

	// Degree >= 1 of Poly; zero means 3.
	Degree int `json:"degree,omitempty"`

	// Coef0 >= 0 of Poly (a negative one is not a covariance); default 0.
	Coef0 float64 `json:"coef0,omitempty"`

	// Amplitude A > 0 multiplies k; zero means 1.
	Amplitude float64 `json:"amplitude"`

	// Constant B >= 0 is added to every covariance, a penalised bias term; default 0.
	Constant float64 `json:"constant"`

	// Jitter J >= 0 is added to the diagonal of a Gram matrix over training
	// examples, never to a covariance with a new input; default 0.
	Jitter float64 `json:"jitter"`
}

// Named points to a number of the kernel: gamma, length-scale (of one feature, from 0, if each has one),
// coef0, amplitude, constant or jitter. It is nil if the kernel has no such number.
func (s *Spec) Named(name string, feature int) *float64 {
	scales := len(s.LengthScale)
	switch {
	case name == "gamma" && (s.Kind.radial() || s.Kind == Poly) && scales == 0:
		return &s.Gamma
	case name == "length-scale" && scales > 0:
		return &s.LengthScale[max(0, feature)]
	case name == "coef0" && s.Kind == Poly:
		return &s.Coef0
	case name == "amplitude":
		return &s.Amplitude
	case name == "constant":
		return &s.Constant
	case name == "jitter":
		return &s.Jitter
	}
	return nil
}

// Validate reports the first error of s as a kernel on d >= 1 features. For Precomputed d is ignored.
func (s Spec) Validate(d int) error {
	switch {
	case !s.Kind.known():
		return fmt.Errorf("kernel kind %d is not known", int(s.Kind))
	case s.Kind != Precomputed && d < 1:
		return errors.New("the inputs have no features")
	}
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"gamma", s.Gamma}, {"coef0", s.Coef0},
		{"amplitude", s.Amplitude}, {"constant", s.Constant}, {"jitter", s.Jitter},
	} {
		if !(v.value >= 0 && v.value <= math.MaxFloat64) {
			return fmt.Errorf("kernel %s must be finite and not negative, not %v", v.name, v.value)
		}
	}
	return s.validateUse(d)
}

// validateUse refuses settings that the kind would ignore, a number of length scales that does not fit, and
// length scales of which one, or its inverse, is not a finite number above 0.
func (s Spec) validateUse(d int) error {
	switch n := len(s.LengthScale); {
	case s.Degree < 0:
		return fmt.Errorf("kernel degree must be at least 1, not %d", s.Degree)
	case s.Gamma != 0 && !s.Kind.radial() && s.Kind != Poly:
		return fmt.Errorf("kernel %v takes no gamma", s.Kind)
	case n > 0 && !s.Kind.radial():
		return fmt.Errorf("kernel %v takes no length scale", s.Kind)
	case n > 0 && s.Gamma != 0:
		return errors.New("give either gamma or length scales to the kernel, not both")
	case s.Degree != 0 && s.Kind != Poly:
		return fmt.Errorf("kernel %v takes no degree", s.Kind)
	case s.Coef0 != 0 && s.Kind != Poly:
		return fmt.Errorf("kernel %v takes no coef0", s.Kind)
	case n > 1 && n != d:
		return fmt.Errorf("%d length scales for %d features: give 1 or %d", n, d, d)
	}
	for j, l := range s.LengthScale {
		if !(l > 0 && l <= math.MaxFloat64) || math.IsInf(1/l, 0) {
			return fmt.Errorf("length scale %d must be finite and above zero, not %v", j+1, l)
		}
	}
	return nil
}

// inverseScales are the factors 1/L of differences, given or default: one for all features, or one for each.
func (s Spec) inverseScales() []float64 {
	if len(s.LengthScale) == 0 {
		return []float64{2 * math.Sqrt(s.Gamma/2)} // sqrt(2 gamma) without overflow
	}
	inverse := make([]float64, len(s.LengthScale))
	for j, l := range s.LengthScale {
		inverse[j] = 1 / l
	}
	return inverse
}

// WithDefaults is s on d features with the documented defaults of its fields.
func (s Spec) WithDefaults(d int) Spec {
	s.Amplitude = cmp.Or(s.Amplitude, 1)
	if (s.Kind.radial() || s.Kind == Poly) && s.Gamma == 0 && len(s.LengthScale) == 0 {
		s.Gamma = 1 / (2 * float64(d))
	}
	if s.Kind == Poly {
		s.Degree = cmp.Or(s.Degree, 3)
	}
	return s
}

// Kind is a covariance function; the package comment has the formulas. The zero Kind is RBF.
type Kind int

// The kinds of covariance functions.
const (
	RBF Kind = iota
	Matern12
	Matern32
	Matern52
	RationalQuadratic
	Linear
	Poly
	Precomputed
)

// Names are the names of the kinds, in the order of the constants.
func Names() []string {
	return []string{"rbf", "matern12", "matern32", "matern52", "rq", "linear", "poly", "precomputed"}
}

// String is the name that ParseKind reads.
func (k Kind) String() string {
	if !k.known() {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return Names()[k]
}

// ParseKind reads the name of a kind; the empty name is an error.
func ParseKind(name string) (Kind, error) {
	if k := slices.Index(Names(), name); k >= 0 {
		return Kind(k), nil
	}
	return 0, fmt.Errorf("no kernel is called %q (there are %s)", name, strings.Join(Names(), ", "))
}

// MarshalText is the text of String, and UnmarshalText is ParseKind.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
func (k *Kind) UnmarshalText(name []byte) (err error) {
	*k, err = ParseKind(string(name))
	return err
}

// known reports whether k is one of the constants, and radial whether it depends only on the scaled distance.
func (k Kind) known() bool  { return k >= RBF && k <= Precomputed }
func (k Kind) radial() bool { return k >= RBF && k <= RationalQuadratic }

// Scaled reports whether Gamma or LengthScale set the scale of distances.
func (s Spec) Scaled() bool { return s.Kind.radial() }
