package bench

import (
	"fmt"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

// BenchmarkTheoryVsTraining: the theory on the default cases, on the engine that Auto takes, beside a
// training on all rows by the fastest of our trainers (of-fit) and by LIBSVM (of-libsvm).
func BenchmarkTheoryVsTraining(b *testing.B) {
	settings := Settings{Ratios: []float64{1}, Scheme: "poisson"}
	cases := testutil.Must(DefaultCases([]int{250, 2000}))(b)
	for _, x := range testutil.Must(experiments(cases, settings))(b) {
		name, _, _ := strings.Cut(strings.TrimPrefix(x.data, "synthetic:"), ",")
		b.Run(fmt.Sprintf("data=%s/n=%d", strings.ReplaceAll(name, " ", "-"), x.n), func(b *testing.B) {
			testutil.Check(b, x.build(b.Context()))
			defer func() { x.model, x.trained = nil, nil }()
			for b.Loop() {
				if _, _, err := x.solve(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			var row report.CompareRow
			s := testutil.Must(x.theory(b.Context(), &row))(b)
			testutil.Check(b, x.buildTrained(b.Context()))
			testutil.Check(b, x.fits(b.Context(), &row))
			b.ReportMetric(row.TheoryS/row.FitS, "of-fit")
			if row.LIBSVMFitS > 0 {
				b.ReportMetric(row.TheoryS/row.LIBSVMFitS, "of-libsvm")
			}
			b.ReportMetric(float64(row.Rank), "rank")
			b.ReportMetric(float64(s.Bytes()), "bytes")
		})
	}
}
