package svm

import (
	"flag"
	"os"
	"testing"
)

// TestMain fixes the seed of the property tests, so that a run can be repeated;
// -rapid.seed=0 draws a new one each time.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
