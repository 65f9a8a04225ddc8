package report

import (
	"math"
	"strings"
	"testing"

	"bootbench/bench"
)

// Parts stand on each other: the top of a column is the total, in units of the
// limit, and each part is as high as its time.
func TestStepsFigures(t *testing.T) {
	rows := []bench.StepsRow{
		{Data: "waves", N: 100, Steps: "all", TotalS: 6, ExactS: 3, SingleS: 1, RestS: 2, LimitS: 2, Status: "converged"},
		{Data: "waves", N: 100, Steps: "exact", TotalS: 9, ExactS: 8, RestS: 1, LimitS: 2, Status: "converged"},
		{Data: "waves", N: 200, Steps: "all", TotalS: 5, ExactS: 4, FollowS: 0.5, RestS: 0.5, LimitS: 1, Status: "stalled"},
		{Data: "other", N: 200, Steps: "all", TotalS: 1, RestS: 1, LimitS: 1, Status: "converged"},
	}
	figures := StepsFigures(rows)
	if len(figures) != 2 || len(figures[0].Panels) != 2 || len(figures[1].Panels) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	height := map[string][]float64{}
	for _, s := range figures[0].Panels[0].Series {
		height[s.Label] = s.Y
	}
	for label, want := range map[string][]float64{"the rest": {3, 4.5}, "single precision": {2, 4}, "double precision": {1.5, 4}} {
		for i, h := range height[label] {
			if math.Abs(h-want[i]) > 1e-12 {
				t.Errorf("%s reaches to %v, not %v", label, height[label], want)
			}
		}
	}
	var out strings.Builder
	if err := (&StepTimes{rows}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"total s", "waves", "stalled", "nofollow:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
