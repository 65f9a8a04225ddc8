package dataset

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// The table in embedded/README.md must be true of every file.
func TestEmbeddedFilesMatchTheirTable(t *testing.T) {
	text := need.One(os.ReadFile("embedded/README.md"))(t)
	rows := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, ".csv") {
			name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), ".csv")
			rows[name] = strings.TrimSpace(line)
		}
	}
	if len(rows) != len(Names()) {
		t.Errorf("%d files in the table, %d embedded", len(rows), len(Names()))
	}
	for _, name := range Names() {
		s := need.One(Open(name))(t)
		_, distinct := s.Distinct()
		content := need.One(embedded.ReadFile("embedded/" + name + ".csv"))(t)
		want := fmt.Sprintf("| %s.csv | %d | %d | %s | %d | %x |",
			name, s.N(), s.D(), s.Target, s.N()-len(distinct), sha256.Sum256(content))
		if rows[name] != want {
			t.Errorf("the table has\n%s\nthe file gives\n%s", rows[name], want)
		}
	}
}

// Facts known of the sets from elsewhere.
func TestEmbeddedContent(t *testing.T) {
	for _, c := range []struct {
		name      string
		task      Task
		positive  int
		mean      float64
		distinct  int
		tolerance float64 // half a unit of the last digit quoted
	}{
		{name: "boston", task: Regression, mean: 22.5328, distinct: 506, tolerance: 5e-5},
		{name: "crabs", task: Classification, positive: 100, distinct: 200},
		{name: "crabs_sp", task: Classification, positive: 100, distinct: 200},
		{name: "wisconsin", task: Classification, positive: 239, mean: -205.0 / 683, distinct: 449,
			tolerance: 1e-12},
		{name: "sonar", task: Classification, positive: 111, mean: 14.0 / 208, distinct: 208, tolerance: 1e-12},
		{name: "pima", task: Classification, positive: 177, mean: -178.0 / 532, distinct: 532, tolerance: 1e-12},
	} {
		s := need.One(Open(c.name))(t)
		sum, positive := 0.0, 0
		for _, y := range s.Y {
			sum += y
			if c.task == Classification && y == 1 {
				positive++
			}
		}
		if got := sum / float64(s.N()); math.Abs(got-c.mean) > c.tolerance {
			t.Errorf("%s: target mean %v, want %v", c.name, got, c.mean)
		}
		_, first := Distinct(s.X)
		if s.Task != c.task || guessTask(s.Y) != c.task || positive != c.positive || len(first) != c.distinct ||
			s.Source == "" {
			t.Errorf("%s: task %v, %d positive, %d distinct", c.name, s.Task, positive, len(first))
		}
		if err := s.Check(s.Task); err != nil {
			t.Error(err)
		}
		requireRoundTrip(t, s)
	}
}
