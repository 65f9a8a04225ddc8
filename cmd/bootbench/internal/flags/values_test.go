package flags

import (
	"math"
	"slices"
	"testing"
)

// TestBytes: units are powers of 1000 or 1024, and what is no number of bytes is refused.
func TestBytes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500MB": 5e8, "8GiB": 8 << 30, "1.5k": 1536,
		"2 TB": 2e12,
		"64m":  64 << 20, "7B": 7,
		"": 0, "0": 0, "-1": 0, "NaN": 0, "1e30": 0, "5XB": 0, "GiB": 0, "1iB": 0, "0.1": 0, "1 2": 0} {
		var got int64
		if _, err := Bytes(&got)(text); (err != nil) != (want == 0) || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
}

// FuzzLists: lists of numbers and of steps are refused, or hold finite numbers of their range, and what Join
// writes of them reads back; sizes and percentages are above 0.
func FuzzLists(f *testing.F) {
	for _, seed := range []string{"", "1", "1,2.5", "1e-3,1e300", ",", "nan", "inf,1", "1:10:4", "0.1:5:20",
		"1:2",
		"1:1:1", "10:1:3", "1:2:999999999", "-1", "0x1p-2", "1_0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var list []float64
		for name, read := range map[string]Reader{"numbers": Numbers(&list, Above(0)),
			"steps": ReadSteps(&list)} {
			list = nil
			if _, err := read(text); err != nil {
				continue
			}
			bad := func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }
			if len(list) == 0 || slices.ContainsFunc(list, bad) {
				t.Fatalf("%s: %q is read as %v", name, text, list)
			}
			first := list
			list = nil
			if _, err := read(Join(first)); err != nil || !slices.Equal(list, first) {
				t.Fatalf("%s: %q is read as %v, that as %v, %v", name, text, first, list, err)
			}
		}
		var bytes int64
		if _, err := Bytes(&bytes)(text); err == nil && bytes <= 0 {
			t.Fatalf("%q is %d bytes", text, bytes)
		}
		var share float64
		if _, err := Percentage(&share)(text); err == nil && !(share > 0 && share < math.Inf(1)) {
			t.Fatalf("%q is %v", text, share)
		}
	})
}
