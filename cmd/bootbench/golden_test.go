package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// update writes the golden file anew; exact compares every digit, on the machine that wrote it.
var (
	update = flag.Bool("update", false, "write testdata/golden.json")
	exact  = flag.Bool("exact", false, "compare the golden file to the last digit")
)

// goldenCount is the number of rows.
const goldenCount = 48

// goldenRows are the rows of a small table, below goldenHead, and new rows.
func goldenRows() (rows, fresh [][]any) {
	rng := rand.New(rand.NewPCG(7, 11))
	for i := range goldenCount + 5 {
		a, b, noise := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		label, kind := "no", []string{"ash", "elm", "oak"}[i%3]
		if a+b*b-1+0.5*noise > 0 {
			label = "yes"
		}
		rows = append(rows, []any{0.5 + rng.Float64(), i % 12, i % 2, a + float64(i%3), b,
			10 + 2*math.Sin(2*a) + b + 0.3*noise, a*b + 0.2*rng.NormFloat64(), label, kind})
	}
	return rows[:goldenCount], rows[goldenCount:]
}

// goldenTables are the small table and new rows, with the words that stand for them in golden.txt. change, if
// set, makes other rows.
func goldenTables(t *testing.T, change func(rows [][]any) [][]any) *strings.Replacer {
	rows, fresh := goldenRows()
	if change != nil {
		rows = change(rows)
	}
	table := func(rows [][]any) string {
		return csvOf("w,g,s,a,b,y,z,label,kind", len(rows), func(i int) []any { return rows[i] })
	}
	dir := folder(t, map[string]string{"rows.csv": table(rows), "new.csv": table(fresh)})
	file := filepath.Join(dir, "rows.csv")
	targets := func(target, dropped string) string {
		return fmt.Sprintf("%s --target %s --drop %s", file, target, dropped)
	}
	return strings.NewReplacer("NUMBERS", targets("y", "z,label,kind DESIGN"),
		"LABELS", targets("label", "y,z,kind DESIGN"), "CLASSES", targets("kind", "y,z,label DESIGN"),
		"TARGETS", targets("y,z", "label,kind DESIGN"), "NEW", filepath.Join(dir, "new.csv"), "DIR", dir,
		"ROWS", file, "SQUARE", "--loss square --noise 0.1 --gamma 0.5",
		"HINGE", "--loss hinge --C 2 --gamma 0.5")
}

// goldenLine is a command line of golden.txt: columns of designs that it does not name are dropped.
func goldenLine(words *strings.Replacer, line string) string {
	dropped := ""
	for _, column := range []string{"w", "g", "s"} {
		if !regexp.MustCompile("--(weights|counts|groups|fold-column|strata) " + column).MatchString(line) {
			dropped += "," + column
		}
	}
	return strings.Replace(words.Replace(line), " DESIGN", dropped, 1)
}

// TestGolden: the command lines of testdata/golden.txt, over every kind of target and design, with models
// that are given, have the documents of golden.json; a commit that changes one says which key and why.
func TestGolden(t *testing.T) {
	words, got := goldenTables(t, nil), map[string]any{}
	for _, line := range cases("golden") {
		o := drive(t, "", goldenLine(words, line), "--quiet --json -")
		if o.status != exitDone && o.status != exitNotConverged {
			t.Fatalf("%s: status %d: %s", line, o.status, o.stderr)
		}
		document := timeless(t, o.stdout)
		strip(document, []string{"backend", "version", "data", "test", "workers", "seconds", "model_file"})
		got[line] = summary(document)
	}
	const path = "testdata/golden.json"
	if *update {
		testutil.Must(0, os.WriteFile(path, []byte(keyALine(t, got, 2)+"\n"), 0o644))(t)
		return
	}
	var want map[string]any
	testutil.Must(0, json.Unmarshal(testutil.Must(os.ReadFile(path))(t), &want))(t)
	for line, document := range got {
		if line != "" && want[line] == nil {
			t.Errorf("%s: not in %s: take -update", line, path)
			continue
		}
		differences(t, line, document, want[line])
	}
}

// keyALine is a document as JSON with a line for each key, down to that depth.
func keyALine(t *testing.T, v any, depth int) string {
	object, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return string(testutil.Must(json.Marshal(v))(t))
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		lines = append(lines, fmt.Sprintf("%q: %s", key, keyALine(t, object[key], depth-1)))
	}
	return "{\n" + strings.Join(lines, ",\n") + "}"
}

// summary replaces lists of more than six numbers by their number, sum and sum of squares.
func summary(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = summary(inner)
		}
	case []any:
		sum, squares := 0.0, 0.0
		for i, inner := range v {
			x, number := inner.(float64)
			if sum, squares = sum+x, squares+x*x; !number {
				sum = math.NaN()
			}
			v[i] = summary(inner)
		}
		if len(v) > 6 && !math.IsNaN(sum) {
			return []any{float64(len(v)), sum, squares}
		}
	}
	return v
}

// differences reports where a document differs from the wanted one: numbers by more than 1e-3 of their size,
// since iterations end within a tolerance and the last bits of a BLAS differ, those of the calibration of a
// class by more than 5e-3: its curve goes through fields of single fits, which end within 1e-3.
func differences(t *testing.T, at string, got, want any) {
	switch w := want.(type) {
	case map[string]any:
		g, same := got.(map[string]any)
		for name := range g {
			if _, known := w[name]; !known {
				t.Errorf("%s: new key %s", at, name)
			}
		}
		for name, inner := range w {
			if _, there := g[name]; !there || !same {
				t.Errorf("%s: no key %s", at, name)
			} else {
				differences(t, at+"."+name, g[name], inner)
			}
		}
	case []any:
		g, _ := got.([]any)
		if len(g) != len(w) {
			t.Errorf("%s: %d values, want %d", at, len(g), len(w))
			return
		}
		for i := range w {
			differences(t, fmt.Sprintf("%s[%d]", at, i), g[i], w[i])
		}
	case float64:
		g, number := got.(float64)
		share := 1e-3
		if strings.Contains(at, "].calibration.") {
			share = 5e-3
		}
		if tolerance := share*math.Abs(w) + 1e-6; !number || *exact && g != w || math.Abs(g-w) > tolerance {
			t.Errorf("%s: %v, want %v", at, got, w)
		}
	default:
		if got != want && (*exact || !strings.ContainsAny(fmt.Sprint(want), "0123456789")) {
			t.Errorf("%s: %v, want %v", at, got, want) // texts with numbers may differ in the last digit
		}
	}
}
