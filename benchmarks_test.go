package bootbench_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// TestBenchmarkTables: scripts/bench.sh renews every marked table of BENCHMARKS.md, and every row names a
// benchmark, which is in a test file with the keys of the row. (scripts/bench-check.sh runs them and compares
// the values of the keys.)
func TestBenchmarkTables(t *testing.T) {
	page := string(testutil.Must(os.ReadFile("BENCHMARKS.md"))(t))
	script := string(testutil.Must(os.ReadFile("scripts/bench.sh"))(t))
	renewed := strings.Fields(regexp.MustCompile(`for name in (.*); do`).FindStringSubmatch(script)[1])
	for _, name := range renewed {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		if strings.Count(page, begin) != 1 || strings.Count(page, end) != 1 {
			t.Errorf("BENCHMARKS.md has no table %s, or has it twice", name)
		}
	}
	if marked := strings.Count(page, "<!-- begin "); marked != len(renewed) {
		t.Errorf("%d marked tables, %d are renewed", marked, len(renewed))
	}
	bodies := map[string]string{} // by name, the test file that has the benchmark
	for _, file := range testutil.Must(filepath.Glob("*/*_test.go"))(t) {
		text := string(testutil.Must(os.ReadFile(file))(t))
		for _, found := range regexp.MustCompile(`\nfunc (Benchmark\w+)\(`).FindAllStringSubmatch(text, -1) {
			bodies[found[1]] = text
		}
	}
	rows := regexp.MustCompile(`(?m)^\| ([A-Z]\w*)/(\S+) \|`).FindAllStringSubmatch(page, -1)
	if len(rows) < 30 {
		t.Errorf("only %d rows of benchmarks", len(rows))
	}
	for _, row := range rows {
		body, known := bodies["Benchmark"+row[1]]
		if !known {
			t.Errorf("BENCHMARKS.md: there is no Benchmark%s", row[1])
		}
		for _, part := range strings.Split(row[2], "/") {
			if key, _, _ := strings.Cut(part, "="); known && !strings.Contains(body, key+"=%") {
				t.Errorf("BENCHMARKS.md: Benchmark%s has no key %s", row[1], key)
			}
		}
	}
}
