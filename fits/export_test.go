package fits

// NewExpectation computes the moments of the first iterate.
func NewExpectation(p Controls) (Expectation, error) {
	x, err := newIterate(p)
	if err != nil {
		return Expectation{}, err
	}
	return x.expectation()
}
