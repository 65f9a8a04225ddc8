package train_test

import (
	"testing"

	"bootbench/train"
)

// TestStatus: each status has its own text, and an error unless it is Converged.
func TestStatus(t *testing.T) {
	seen := map[string]bool{}
	for s := train.Converged; s <= train.Cancelled; s++ {
		seen[s.String()] = true
		if (s.Err() == nil) != (s == train.Converged) {
			t.Errorf("%v has error %v", s, s.Err())
		}
	}
	if len(seen) != 5 {
		t.Errorf("statuses %v", seen)
	}
}
