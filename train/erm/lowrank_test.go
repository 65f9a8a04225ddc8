package erm_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/linalg"
	"bootbench/train"
	"bootbench/train/erm"
)

// TestLowRank: on a factor K~ = R R' + diag(delta) every loss finds the predictor that it
// finds on K~ multiplied out, for resamples with absent sites and for all data, within what
// the two gaps allow. At rank 40 of 60, and of 60, where delta is rounding; with a jitter.
func TestLowRank(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 1))
	whole, p := small(rng, 60, 90, 0)
	for _, rank := range []int{0, 12, 40, 60} {
		factor := testutil.Must(linalg.PivotedCholesky(t.Context(), whole,
			linalg.RankOptions{MaxRank: max(1, rank)}))(t)
		if rank == 12 {
			factor.AddDiag(0.01)
		}
		k := factor.Dense()
		for _, l := range losses() {
			trainer := testutil.Must(erm.NewTrainer(factor, l))(t)
			for trial := range 3 {
				if trial > 0 {
					bootstrap(rng, p.Weight)
				}
				want := mustTrain(t, k, l, p, train.Settings{})
				got, err := trainer.Train(p, train.Settings{})
				if err != nil || got.Status != train.Converged {
					t.Fatalf("rank %d, %s: %v, %v", rank, l.Name(), err, got.Status)
				}
				for i, f := range got.F {
					most := math.Sqrt(2*k.At(i, i)*(got.Gap+want.Gap+1e-13*(1+math.Abs(want.Objective)))) * 2
					if math.Abs(f-want.F[i]) > most {
						t.Errorf("rank %d, %s, site %d: %v on the factor, %v on the matrix",
							rank, l.Name(), i, f, want.F[i])
					}
				}
				for i, f := range plainField(k, got.Weight) {
					if math.Abs(f-got.F[i]) > 1e-10*(1+math.Abs(f)) {
						t.Errorf("rank %d, %s, site %d: F is %v, K a is %v", rank, l.Name(), i, got.F[i], f)
					}
				}
			}
		}
	}
}
