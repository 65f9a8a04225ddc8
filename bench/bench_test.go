package bench

import (
	"fmt"
	"strings"
	"testing"

	"bootbench/internal/testutil"
	"bootbench/solver"
)

// BenchmarkTheory: the theory on the default cases, the rate of its factorisation, and its memory. The
// command compare sets it beside training and retraining.
func BenchmarkTheory(b *testing.B) {
	settings := Settings{Ratios: []float64{1}, Scheme: "poisson"}
	cases := testutil.Must(DefaultCases([]int{250, 1000}))(b)
	for _, x := range testutil.Must(experiments(cases, settings))(b) {
		name, _, _ := strings.Cut(strings.TrimPrefix(x.data, "synthetic:"), ",")
		b.Run(fmt.Sprintf("data=%s/n=%d", strings.ReplaceAll(name, " ", "-"), x.n), func(b *testing.B) {
			testutil.Check(b, x.build(b.Context()))
			var s *solver.Solution
			for b.Loop() {
				s = testutil.Must(x.model.Solve(b.Context(), x.scheme, x.settings.Solve))(b)
			}
			refresh, dgemm := x.rates()
			b.ReportMetric(refresh, "GFLOP/s")
			b.ReportMetric(refresh/dgemm, "of-dgemm")
			b.ReportMetric(float64(s.Bytes()), "bytes")
			x.model = nil
		})
	}
}
