package solver_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"bootbench/kernel"
	"bootbench/loss"
	"bootbench/resample"
	"bootbench/solver"
)

func TestExplore(t *testing.T) {
	if os.Getenv("SURVEY") == "" {
		t.Skip()
	}
	out, _ := os.Create(os.Getenv("SURVEY"))
	defer out.Close()
	ok, cells, ref := 0, 0, 0
	began := time.Now()
	gens := []string{"blobs", "rings", "checker"}
	if g := os.Getenv("GEN"); g != "" {
		gens = []string{g}
	}
	for _, gen := range gens {
		for _, n := range []int{100, 200, 400} {
			set := synthetic(t, fmt.Sprintf("synthetic:%s,n=%d", gen, n))
			for _, gamma := range []float64{0.05, 0.25, 1} {
				k, _ := gram(t, kernel.Spec{Gamma: gamma / 2}, set.X)
				for _, ratio := range []float64{0.1, 0.5, 1, 5, 20} {
					p := solver.Problem{Gram: k, Y: set.Y, Loss: loss.HardMargin{}, Law: resample.Poisson{Ratio: ratio}}
					s, err := solver.Solve(context.Background(), p, solver.Settings{MaxSweeps: 1000})
					cells++
					if err != nil {
						fmt.Fprintf(out, "%s %d %g %g ERR %v\n", gen, n, gamma, ratio, err)
						continue
					}
					if s.Status == solver.Converged {
						ok++
						ref += s.Stats.Refreshes.Exact
					}
					e, _ := s.LeftOut(loss.ZeroOne{})
					top := 0.0
					for i := range s.D {
						top = max(top, s.D[i]*k.At(i, i))
					}
					fmt.Fprintf(out, "%s\t%d\t%g\t%g\t%v\t%.1e\tref=%d\tcap=%d\tdamp=%d\tmaxdK=%.1e\terr=%.5f\n", gen, n, gamma, ratio, s.Status, s.Residual, s.Stats.Refreshes.Exact, s.Stats.Capped, s.Stats.Damped, top, e)
				}
			}
		}
	}
	t.Logf("%d of %d, %.1f refreshes, %v", ok, cells, float64(ref)/float64(ok), time.Since(began))
}
