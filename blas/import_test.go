//go:build !openblas

package blas

import (
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// callers is a BLAS that the program binds before it imports this package: variables are initialised before
// the package's init functions run, and the init function of this file runs last.
type callers struct{ gonum.Implementation }

var _ = func() bool {
	blas64.Use(callers{})
	blas32.Use(callers{})
	return true
}()

var kept bool

func init() {
	_, double := blas64.Implementation().(callers)
	_, single := blas32.Implementation().(callers)
	kept = double && single
}

func TestImportKeepsTheCallersBLAS(t *testing.T) {
	if !kept {
		t.Error("importing the package has bound another BLAS")
	}
}

// TestImplementation: Syrk and Trmm use the tiles of pureGo only in the place of gonum's BLAS.
func TestImplementation(t *testing.T) {
	defer blas64.Use(blas64.Implementation())
	for _, c := range []struct{ used, want blas.Float64 }{
		{gonum.Implementation{}, pureGo{}}, {pureGo{}, pureGo{}}, {callers{}, callers{}},
	} {
		blas64.Use(c.used)
		if got := implementation(); got != c.want {
			t.Errorf("%T, not %T in the place of %T", got, c.want, c.used)
		}
	}
}
