package flags

import "testing"

// TestSizes: units are powers of 1000 or 1024, and what is no number of bytes is refused.
func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "500MB": 5e8, "8GiB": 8 << 30, "1.5k": 1536, "2 TB": 2e12,
		"64m": 64 << 20, "7B": 7} {
		var b Size
		if err := b.Set(text); err != nil || int64(b) != want {
			t.Errorf("%s: %d, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "NaN", "1e30", "5XB", "GiB", "1iB", "0.1", "1 2"} {
		var b Size
		if err := b.Set(text); err == nil {
			t.Errorf("%q passes as %d bytes", text, b)
		}
	}
}
