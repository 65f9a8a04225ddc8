package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// keysOf are the keys of a document: a dot leads into an object, [] into a list.
func keysOf(value any, prefix string, keys map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			keys[prefix+name] = true
			keysOf(inner, prefix+name+".", keys)
		}
	case []any:
		for _, inner := range v {
			keysOf(inner, strings.TrimSuffix(prefix, ".")+"[].", keys)
		}
	}
}

// TestJSONPage: doc/json.md has every key that the commands write, and no key that none of
// these answers has, but for those that need a rare event.
func TestJSONPage(t *testing.T) {
	text := need.One(os.ReadFile("../../doc/json.md"))(t)
	page := map[string]bool{}
	code := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(string(text)) {
		if cell, ok := strings.CutPrefix(line, "| `"); ok {
			cell, _, _ = strings.Cut("`"+cell, " | ")
			for _, key := range code.FindAllStringSubmatch(cell, -1) {
				page[key[1]] = true
			}
		}
	}
	table := write(t, "table.csv", ",a,b,kind\n"+strings.Repeat("r1,1,2,no\nr2,3,1,yes\nr3,2,2,no\n"+
		"r4,5,1,yes\nr5,4,7,yes\n", 3))
	saved := filepath.Join(t.TempDir(), "crabs.json")
	must(t, "estimate", "crabs", "--refine", "none", "--json", saved)
	written := map[string]bool{}
	folder := t.TempDir() + "/"
	for _, line := range []string{
		"estimate " + table + " --drop a",
		"estimate " + table + " --target a,b --loss square --noise 10%",
		"estimate synthetic:friedman1,n=100 --loss square --noise 1 --gamma " +
			"0.003 --engine lowrank", "estimate synthetic:friedman1,n=40", "estimate synthetic:friedman1,n=40 " +
			"--loss eps", "estimate synthetic:friedman1,n=40 --loss huber",
		"estimate crabs --scheme kfold --kernel poly --coef0 1", "estimate crabs --sample 60",
		"predict " + table + " --test " + table + " --loss hinge --class-weight " +
			"yes=2", "predict synthetic:friedman1,n=40 --test synthetic:friedman1,n=5,seed=2 --loss square --noise " +
			"1 --interval observation", "estimate crabs --metrics all --quantiles " +
			"0.1,0.9", "estimate synthetic:friedman1,n=30 --loss square --noise 1 " +
			"--metrics all", "predict crabs --test crabs --refine 40",
		"compare crabs --models " + saved + " " + saved, "retrain crabs --resamples " +
			"5", "loo crabs --method all", "loo boston", "estimate sonar --loss hinge --method fits --no-points",
		"cv crabs --permutations 2 --metrics all", "curve crabs --no-points",
		"cv synthetic:friedman1,n=40 --loss square --noise 1 --folds loo",
		"train crabs --loss hinge --no-standardize --model " + folder + "m.libsvm", "train " + table + " --loss " +
			"perceptron --model " + folder + "m.json",
		"predict --model " + folder + "m.json --test " + table,
		"tune synthetic:friedman1,n=40 --ard --by evidence --over " +
			"length-scale,noise,amplitude,constant,jitter", "estimate " + flowers(t), "rows crabs",
		"rows " + table + " --loss hinge",
		"estimate " + flowers(t) + " --multiclass ovo --loss hinge",
		"predict " + flowers(t) + " --test " + flowers(t), "tune crabs " +
			"--out " + filepath.Join(t.TempDir(), "tune"),
	} {
		var document any
		text := must(t, append(strings.Fields(line), "--json", "-", "--quiet")...)
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(line, err)
		}
		object, _ := document.(map[string]any)
		if object["schema"] != 2.0 {
			t.Errorf("%s: no schema", line)
		}
		delete(object, "results") // of a curve: answers of estimate
		keysOf(document, "", written)
	}
	listed := func(key string) bool { // NAME.* stands for all keys of NAME
		return page[key] || slices.ContainsFunc(slices.Collect(maps.Keys(page)), func(of string) bool {
			all, any := strings.CutSuffix(of, "*")
			return any && strings.HasPrefix(key, all)
		})
	}
	for key := range written {
		if !listed(key) {
			t.Errorf("doc/json.md lacks %s", key)
		}
	}
	rare := []string{"one_class", "refined.one_class", "time.iterations", "time.exact", "refined.time.exact",
		"refined.contradicts", "rho", "ties", "unheld", "path[].failure"}
	for key := range page {
		if !written[key] && !slices.Contains(rare, key) && !strings.HasSuffix(key, "*") {
			t.Errorf("doc/json.md has %s, which none of these answers has", key)
		}
	}
}
