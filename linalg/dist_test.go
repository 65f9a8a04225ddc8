package linalg_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"bootbench/linalg"
)

// The distributed engine against the exact one: all of G, and estimates. n is larger
// than the strips and the 256 columns that are made at a time.
func TestDistributedEqualsExact(t *testing.T) {
	const n = 256 + 80
	for _, name := range slices.Sorted(maps.Keys(linalg.Engines)) {
		if !strings.HasPrefix(name, "distributed") && !strings.HasPrefix(name, "scalapack") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rng := linalg.Seeded(17)
			k := linalg.GaussianGram(n, true, rng)
			d := linalg.DrawSites(n, linalg.SiteRegimes["even"], rng)
			exact, e := linalg.NewCholeskyEngine(linalg.GaussianGram(n, true, linalg.Seeded(17))),
				linalg.Engines[name](k)
			for _, engine := range []linalg.Engine{exact, e} {
				if err := engine.Factorize(d); err != nil {
					t.Fatal(err)
				}
				engine.FormG()
			}
			move := linalg.DrawSites(n, linalg.SiteRegimes["zeros"], rng)
			chi, b, wantChi, wantB := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			valid, want := linalg.NewResponse(e).PredictDiag(move, chi, b),
				linalg.NewResponse(exact).PredictDiag(move, wantChi, wantB)
			for i := range chi {
				if valid != want || linalg.Relative(chi[i], wantChi[i], 0) > 1e-10 || linalg.Relative(b[i], wantB[i],
					0) > 1e-10 {
					t.Errorf("estimate at %d: %v, %v (%v), want %v, %v (%v)", i, chi[i], b[i], valid, wantChi[i], wantB[i],
						want)
				}
			}
			linalg.CompareEngines(t, e, exact, 1e-11)
		})
	}
}
