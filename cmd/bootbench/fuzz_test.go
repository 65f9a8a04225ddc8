package main

import (
	"context"
	"testing"

	"bootbench/cmd/bootbench/internal/usage"
	"bootbench/cmd/bootbench/internal/values"
)

// FuzzOver reads anything as --over, and as ratios: it is refused as the user's fault, or a
// bounded number of values.
func FuzzOver(f *testing.F) {
	for _, text := range []string{"gamma=0.1,0.2", "C=1:2:3", "noise=0.1:10:100001", "noise=0.1:11:100000",
		"gamma=", "=", "C=1:1:2", "noise=1e-320:1e308:9", "C=NaN:1:2"} {
		f.Add(text)
	}
	a := newApp(context.Background(), nil, nil, nil, nil)
	cmd := gridCommand(a)
	f.Fuzz(func(t *testing.T, text string) {
		axes, err := gridAxes(cmd.Flags(), []string{text})
		if err != nil && !usage.Is(err) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && (len(axes) != 1 || len(axes[0].Values) == 0 || len(axes[0].Values) > mostCells) {
			t.Errorf("%q: %v", text, axes)
		}
		if values, err := values.Ratios(text); err == nil && len(values) == 0 {
			t.Errorf("%q holds no ratios", text)
		}
	})
}
