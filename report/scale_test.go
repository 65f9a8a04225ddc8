package report_test

import (
	"strings"
	"testing"

	"bootbench/bench"
	"bootbench/internal/need"
	"bootbench/report"
)

// The table says what each row is, and in words how time grows: here like n^2
// with the exact engine, and a single low-rank row says nothing.
func TestScaleTable(t *testing.T) {
	rows := []bench.ScaleRow{
		{Data: "synthetic:waves,n=9", Engine: "exact", N: 100, ScaleTimes: bench.ScaleTimes{TotalS: 1, SweepS: 0.1},
			PeakBytes: 1 << 20, Convergence: bench.Convergence{Status: "converged"}},
		{Data: "synthetic:waves,n=9", Engine: "exact", N: 200, ScaleTimes: bench.ScaleTimes{TotalS: 4, SweepS: 0.8},
			PeakBytes: 4 << 20, Convergence: bench.Convergence{Status: "stalled"}},
		{Data: "synthetic:waves,n=9", Engine: "lowrank", N: 200, Rank: 31, ScaleTimes: bench.ScaleTimes{TotalS: 1},
			PeakBytes: 1 << 20, Convergence: bench.Convergence{Status: "converged"},
			ExactOff: bench.ExactOff{Compared: true, ErrorOff: 0.0125, VarianceOff: 0.031}, Linear: 7},
	}
	var b strings.Builder
	scale := &report.Scale{Data: []string{rows[0].Data}}
	table := need.One(report.NewStreamTable(&b, scale))(t)
	for _, r := range rows {
		if err := table.Row(r); err != nil {
			t.Fatal(err)
		}
	}
	scale.Rows = rows
	if err := table.End(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"waves, exact engine, n = 100 to 200: the time grows like n^2.00, that of a sweep like n^3.00, the memory like n^2.00. At n = 200 the theory did not converge (stalled).",
		"lowrank", " 31 ", "1.2%", "3.1%",
	} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%q is missing in\n%s", part, b.String())
		}
	}
	if strings.Contains(b.String(), "lowrank engine") {
		t.Error("one row tells a growth")
	}
}
