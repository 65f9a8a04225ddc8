// Package fixedseed fixes the seed of the property tests of a package that imports it, so that
// a run can be repeated; -rapid.seed=0 draws a new one each time.
package fixedseed

import (
	"flag"

	_ "pgregory.net/rapid" // which makes the flag
)

func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
