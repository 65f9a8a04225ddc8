package flags

import "testing"

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
