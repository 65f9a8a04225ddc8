package linalg

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The distributed engine against the exact one where its own ways part: an update
// of more sites than a batch holds, estimates, and refusals half way. n is larger
// than the strips and the columns that are made at a time.
func TestDistributedEqualsExact(t *testing.T) {
	const n, moved = fillColumns + 80, 3*leastBatch + 5
	for _, name := range slices.Sorted(maps.Keys(engines)) {
		if !strings.HasPrefix(name, "distributed") && !strings.HasPrefix(name, "scalapack") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			rng := seeded(17)
			k := gaussianGram(n, true, rng)
			d := drawSites(n, siteRegimes["even"], rng)
			exact, e := NewCholeskyEngine(gaussianGram(n, true, seeded(17))), engines[name](k)
			for _, engine := range []Engine{exact, e} {
				if err := engine.Factorize(d); err != nil {
					t.Fatal(err)
				}
				engine.FormG()
			}
			move := drawSites(n, siteRegimes["zeros"], rng)
			chi, b, wantChi, wantB := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
			valid, want := e.PredictDiag(move, chi, b), exact.PredictDiag(move, wantChi, wantB)
			for i := range chi {
				if valid != want || relative(chi[i], wantChi[i], 0) > 1e-10 || relative(b[i], wantB[i], 0) > 1e-10 {
					t.Errorf("estimate at %d: %v, %v (%v), want %v, %v (%v)", i, chi[i], b[i], valid, wantChi[i], wantB[i], want)
				}
			}
			sites, delta := rng.Perm(n)[:moved], make([]float64, moved)
			for p, i := range sites {
				delta[p] = d[i] * (1.8*rng.Float64() - 0.9)
			}
			for _, engine := range []Engine{exact, e} {
				if err := engine.RankUpdate(sites, delta); err != nil {
					t.Fatal(err)
				}
			}
			compareEngines(t, e, exact, 1e-11)
			if err := e.RankUpdate([]int{3, 4}, []float64{1, -1e3}); !errors.Is(err, ErrUpdate) {
				t.Errorf("an update to a negative d: %v", err)
			}
			if got, want := e.Precisions()[3], exact.Precisions()[3]+1; relative(got, want, 0) > 1e-12 {
				t.Errorf("site 3 stands at %v, want %v: growing sites move first", got, want)
			}
		})
	}
}
