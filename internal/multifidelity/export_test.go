package multifidelity

// NewExpectation computes the moments of the first iterate.
func NewExpectation(p Problem) (Expectation, error) {
	x, err := newIterate(p)
	if err != nil {
		return Expectation{}, err
	}
	return x.expectation()
}
