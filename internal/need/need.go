// Package need shortens tests: it returns the values of a call that must not fail,
//
//	set := need.One(dataset.Open("boston"))(t)
//
// and ends the test if it does.
package need

// T is a test, benchmark or property.
type T interface {
	Helper()
	Fatal(args ...any)
}

// One is the value of a call.
func One[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Two is the two values of a call.
func Two[V, W any](v V, w W, err error) func(T) (V, W) {
	return func(t T) (V, W) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v, w
	}
}
