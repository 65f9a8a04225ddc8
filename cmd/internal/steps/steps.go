// Package steps runs the steps of a command, which the first error ends: it is the error of the command.
// Errors travel as panics of a type of their own, and never leave Run.
package steps

// failure is an error that ends the steps.
type failure struct{ error }

// Check ends the steps if there is an error.
func Check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Must is the value of a step, whose error ends the steps.
func Must[V any](v V, err error) V {
	Check(err)
	return v
}

// Run runs steps, and returns the error that ended them.
func Run(steps func()) (err error) {
	defer func() {
		p := recover()
		if f, ok := p.(failure); ok {
			err = f.error
		} else if p != nil {
			panic(p)
		}
	}()
	steps()
	return nil
}
