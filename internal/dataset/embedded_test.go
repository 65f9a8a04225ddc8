package dataset

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// TestEmbedded: the files agree with the table in embedded/README.md and with published facts.
func TestEmbedded(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.Lines(string(testutil.Must(os.ReadFile("embedded/README.md"))(t))) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, ".csv") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), ".csv")
			rows[name] = strings.TrimSpace(line)
		}
	}
	if len(rows) != len(Names()) {
		t.Errorf("%d files in the table, %d embedded", len(rows), len(Names()))
	}
	known := map[string]struct {
		positive        int     // labels
		mean, tolerance float64 // half a unit of the last digit quoted
	}{
		"boston": {0, 22.5328, 5e-5}, "crabs": {100, 0, 0}, "crabs_sp": {100, 0, 0},
		"wisconsin": {239, -205.0 / 683, 1e-12}, "sonar": {111, 14.0 / 208, 1e-12},
		"pima": {177, -178.0 / 532, 1e-12}, "iris": {50, 1, 0},
	}
	for _, name := range Names() {
		s := testutil.Must(Open(name))(t)
		_, distinct := s.Distinct()
		content := testutil.Must(embedded.ReadFile("embedded/" + name + ".csv"))(t)
		want := fmt.Sprintf("| %s.csv | %d | %d | %s | %d | %x |",
			name, s.N(), s.D(), s.TargetNames(), s.N()-len(distinct), sha256.Sum256(content))
		if rows[name] != want {
			t.Errorf("the table has\n%s\nthe file gives\n%s", rows[name], want)
		}
		sum, positive := 0.0, 0
		for _, y := range s.Targets(0) {
			sum += y
			if !s.AreNumbers() && y == 1 {
				positive++
			}
		}
		if is := known[name]; math.Abs(sum/float64(s.N())-is.mean) > is.tolerance || positive != is.positive {
			t.Errorf("%s: target mean %v, %d of label 1", name, sum/float64(s.N()), positive)
		}
		if len(s.Levels()) > 2 {
			continue
		}
		if err := s.Check(name != "boston"); err != nil || s.Source == "" {
			t.Errorf("%s: %v, task %v", name, err, s.Task())
		}
		requireRoundTrip(t, s)
	}
}
