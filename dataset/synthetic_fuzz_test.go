package dataset

import "testing"

// FuzzSynthetic reads anything as a synthetic set and draws it within a bound of memory.
func FuzzSynthetic(f *testing.F) {
	for _, text := range []string{"friedman1,n=20", "waves,n=5,d=2,seed=1,noise=0.5", "grid,n=9,d=1",
		"rings,n=10,noise=1e308", "blobs,d=0", "words,n=10,d=2000", "friedman1,n=-1",
		"checker,n=9223372036854775807", "\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spec, err := ParseSynthetic(syntheticPrefix + text)
		if err != nil {
			wantError(t, err)
			return
		}
		set, err := spec.Generate(Options{MaxBytes: 1 << 16})
		if err != nil {
			wantError(t, err)
			return
		}
		if set.N() != spec.N {
			t.Errorf("%s has %d examples", text, set.N())
		}
		for _, v := range append(set.X.Data, set.Y...) {
			if checkFinite(v) != nil {
				t.Fatalf("%s holds %v", text, v)
			}
		}
	})
}
