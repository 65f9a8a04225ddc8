package kernel

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says which covariance function is meant; the package comment has the
// formulas. The zero Kind is RBF.
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

// Names are those of the kinds, in the order of the constants.
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

// ParseKind reads the name of a kind; the empty name is an error like any
// other name that is not known.
func ParseKind(name string) (Kind, error) {
	if k := slices.Index(Names(), name); k >= 0 {
		return Kind(k), nil
	}
	return 0, fmt.Errorf("no kernel is called %q (there are %s)", name, strings.Join(Names(), ", "))
}

// MarshalText is that of String.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is ParseKind.
func (k *Kind) UnmarshalText(name []byte) (err error) {
	*k, err = ParseKind(string(name))
	return err
}

// known reports whether k is one of the constants.
func (k Kind) known() bool { return k >= RBF && k <= Precomputed }

// radial reports whether the kind depends on the scaled distance alone.
func (k Kind) radial() bool { return k >= RBF && k <= RationalQuadratic }

// Scaled reports whether Gamma or LengthScale set the scale of distances.
func (s Spec) Scaled() bool { return s.Kind.radial() }
