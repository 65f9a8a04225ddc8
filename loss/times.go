package loss

import "fmt"

// Times is a loss multiplied by v > 0, the importance weight of examples. It refuses losses that are no
// multiples of one another: likelihoods, whose scale is the posterior's, and losses of the caller.
func Times(l Loss, v float64) (Loss, error) {
	if v == 1 || l.Name() == (HardMargin{}).Name() {
		return l, nil
	}
	p, known := ParametersOf(l)
	switch about, _ := About(l.Name()); {
	case !known || len(about.Takes) == 0:
		return nil, fmt.Errorf(
			"loss: %s takes no weights: take square, hinge, hinge2, logistic, eps, absolute or huber",
			l.Name())
	case about.Takes[0] == "noise":
		p.Noise /= v
	default:
		p.C *= v
	}
	return ByName(l.Name(), p)
}
