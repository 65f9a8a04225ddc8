package main

import (
	"testing"
	"time"
)

// TestAnnouncement: the time comes from the flops of the engine, and what is advised is what the
// data allow.
func TestAnnouncement(t *testing.T) {
	if got, want := refreshFlops(2000, 0)/refreshFlops(1000, 0), 8.0; got != want {
		t.Errorf("twice the sites take %v times the flops, want %v", got, want)
	}
	if got, want := refreshFlops(1000, 200)/refreshFlops(1000, 100), 4.0; got != want {
		t.Errorf("twice the rank takes %v times the flops, want %v", got, want)
	}
	if rate := gemmRate(); !(rate > 1e7 && rate < 1e13) {
		t.Errorf("dgemm at %v flops a second", rate)
	}
	for _, c := range []struct {
		rank    int
		lowRank bool
		want    string
	}{
		{0, true, "19000 distinct inputs: the solve takes 12 min at least; --engine lowrank --max-rank 500 is " +
			"faster, and says by how much it may change the error"},
		{2500, false, "19000 distinct inputs at rank 2500: the solve takes 12 min at least"},
	} {
		if got := announcement(19000, c.rank, 12*time.Minute+9*time.Second, c.lowRank); got != c.want {
			t.Errorf("rank %d: %q, want %q", c.rank, got, c.want)
		}
	}
}
