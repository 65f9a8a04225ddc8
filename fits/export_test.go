package fits

// NewExpectation computes the moments of the first iterate.
func NewExpectation(p Controls) (Expectation, error) {
	x, err := newIterate(p)
	if err != nil {
		return Expectation{}, err
	}
	return x.expectation()
}

// MakeWide trains one block at a time, in parallel inside.
func (t *Blocks) MakeWide() { t.wide = true }

// Record limits the number of fits that are kept as they are.
func (e *Controlled) Record(most int) { e.recorded = make([]recorded, 0, most) }
