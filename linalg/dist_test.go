package linalg_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"bootbench/linalg"
)

// The distributed engine against the exact one where its own ways part: an update
// of more sites than a batch holds, estimates, and refusals half way. n is larger
// than the strips and the 256 columns that are made at a time, and a batch has 16 sites
// or more.
func TestDistributedEqualsExact(t *testing.T) {
	const n, moved = 256 + 80, 3*16 + 5
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
			valid, want := e.PredictDiag(move, chi, b), exact.PredictDiag(move, wantChi, wantB)
			for i := range chi {
				if valid != want || linalg.Relative(chi[i], wantChi[i], 0) > 1e-10 || linalg.Relative(b[i], wantB[i],
					0) > 1e-10 {
					t.Errorf("estimate at %d: %v, %v (%v), want %v, %v (%v)", i, chi[i], b[i], valid, wantChi[i], wantB[i],
						want)
				}
			}
			sites, delta := rng.Perm(n)[:moved], make([]float64, moved)
			for p, i := range sites {
				delta[p] = d[i] * (1.8*rng.Float64() - 0.9)
			}
			for _, engine := range []linalg.Engine{exact, e} {
				if err := engine.RankUpdate(sites, delta); err != nil {
					t.Fatal(err)
				}
			}
			linalg.CompareEngines(t, e, exact, 1e-11)
			if err := e.RankUpdate([]int{3, 4}, []float64{1, -1e3}); !errors.Is(err, linalg.ErrUpdate) {
				t.Errorf("an update to a negative d: %v", err)
			}
			if got, want := e.Precisions()[3], exact.Precisions()[3]+1; linalg.Relative(got, want, 0) > 1e-12 {
				t.Errorf("site 3 stands at %v, want %v: growing sites move first", got, want)
			}
		})
	}
}
