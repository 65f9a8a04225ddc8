package train

// Trainer trains one weighted training set after the other over the same N examples. It serves one goroutine.
type Trainer interface {
	// Fit trains with weights >= 0, not all 0, and targets of the examples, and overwrites f with the
	// predictions at the sites, followed by those at new inputs. It keeps none of them.
	Fit(weight, target, f []float64) error
}

// Resumer is a Trainer that may start at the end of its last fit, of the same targets and of weights that
// were smaller by the factor times.
type Resumer interface {
	Trainer
	Resume(times float64, weight, target, f []float64) error
}

// Counter is a Trainer that knows about how many multiplications its last fit took.
type Counter interface {
	Trainer
	Operations() float64
}
