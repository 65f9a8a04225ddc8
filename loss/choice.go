package loss

import (
	"fmt"
	"strings"
)

// Parameters are the numbers that training losses take; each reads its own and
// ignores the others.
type Parameters struct {
	Noise float64 // square: noise variance, > 0
	C     float64 // hinge: slope, in (0, 1e100]
}

// Names lists the training losses that ByName knows.
func Names() []string { return []string{"square", "hard", "hinge"} }

// ByName is the training loss of that name. It refuses parameters out of range
// and unknown names.
func ByName(name string, p Parameters) (Loss, error) {
	switch name {
	case "square":
		return orError(NewSquare(p.Noise))
	case "hard":
		return HardMargin{}, nil
	case "hinge":
		return orError(NewHinge(p.C))
	}
	return nil, fmt.Errorf("loss: unknown loss %q (known: %s)", name, strings.Join(Names(), ", "))
}

// orError keeps an invalid loss from its user.
func orError(l Loss, err error) (Loss, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}
