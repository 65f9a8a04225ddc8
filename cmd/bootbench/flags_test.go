package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// changing is a value of each flag that changes an answer about the tables of TestFlagsHaveEffects, with
// variants COMMAND/FLAG.
var changing = map[string]string{
	"weights": "w", "counts": "k", "drop": "x2,s,w,k,g,f", "groups": "g", "strata": "s", "fold-column": "f",
	"noise": "0.3", "C": "0.3", "epsilon": "0.4", "class-weight": "3", "kernel": "matern52",
	"gamma": "0.7", "length-scale": "0.9", "degree": "2", "coef0": "2", "amplitude": "7", "constant": "3",
	"jitter": "0.5", "engine": "lowrank --rank-tol=0.5", "tol": "0.01", "max-sweeps": "1", "folds": "3",
	"refine":    "7",
	"seed":      "5",
	"test-loss": "absolute", "metrics": "all", "ratio": "0.6", "scheme": "multinomial", "level": "0.6",
	"quantiles": "0.2", "sample": "20", "multiclass": "ovo", "interval": "estimator", "residuals": "plain",
	"repeats": "2", "blocks": "2", "permutations": "3", "resamples": "11", "accuracy": "1%", "by": "leftout",
	"chosen": "gamma", "tune-rows": "50", "judge": "cost:1,5", "roc": "true", "loo/method": "exact",
	"train/tol": "0.3", "no-points": "true", "no-standardize": "true",
	"no-normalize-target": "true", "nested": "true",
	"refit-preprocessing": "true", "ard": "true", "no-header": "true", "bias": "true",
	"no-bias": "true",
}

// holding are flags whose value, of those, states what holds anyway for a kind of target.
var holding = map[string][]string{
	"num":     {"no-bias"},
	"two":     {"bias", "no-normalize-target"},
	"three":   {"bias", "no-normalize-target"},
	"targets": {"no-bias", "max-sweeps"}, // one sweep is enough for the square loss
}

// conditional are flags that matter where something happens that need not: where the engine is of low rank,
// where resamples do not reach an accuracy, where a search has more rows, where the choice of a model makes
// its errors too small and would not be made again anyway. One value of by is the line's.
var conditional = []string{"rank-tol", "rank-error", "accuracy", "tune-rows", "grid/by", "predict/chosen",
	"train/chosen", "tune/nested"}

// TestFlagsHaveEffects: each flag of each command about DATA, with another value than the default, changes
// the answer, or is refused with status 2, for numbers, two classes, three classes and several targets.
func TestFlagsHaveEffects(t *testing.T) {
	t.Chdir(t.TempDir())
	tables := map[string]func(i int) any{
		"num":   func(i int) any { return float64(i*7%13)/3 + float64(i*i%5)/7 },
		"two":   func(i int) any { return []string{"no", "yes"}[(i*7%13+i%3)/7%2] },
		"three": func(i int) any { return []string{"p", "q", "r"}[(i*7%13/3+i%2)%3] },
	}
	for name, target := range tables {
		text := csvOf("x1,x2,s,w,k,g,f,y", 40, func(i int) []any {
			return []any{float64(i*7%13) / 3, float64(i*i%11) / 5, string(rune('a' + i%3)), 1 + i%4, 1 + i%2,
				i / 4, i % 5, target(i)}
		})
		if err := os.WriteFile(name+".csv", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds := map[string]string{
		"num": "num.csv --loss square --noise 1", "two": "two.csv --loss hinge --C 1",
		"three": "three.csv --loss hinge --C 1", "targets": "num.csv --target x2,y --loss square --noise 1",
	}
	commands := map[string]string{"estimate": "", "curve": "", "retrain": "",
		"predict": "--refine 40 --test DATA",
		"cv":      "", "rows": "", "loo": "", "grid": "--over amplitude=1,2",
		"grid by cv": "--by cv --over amplitude=1,2",
		"tune":       "--over amplitude", "train": "--model out.json"}
	if testing.Short() {
		commands = map[string]string{"predict": "--refine 40 --test DATA",
			"grid by cv": "--by cv --over amplitude=1,2"}
	}
	answer := func(words string, more ...string) (outcome, string) {
		line := strings.Fields(words)
		for _, flag := range more { // in place of the line's
			name, _, _ := strings.Cut(flag, "=")
			if at := slices.Index(line, name); at >= 0 {
				line = slices.Delete(line, at, at+2)
			}
		}
		o := driveWith(t.Context(), "", slices.Concat(line, more, []string{"--quiet", "--json=-"})...)
		return o, withoutCosts(o.stdout)
	}
	for title, own := range commands {
		name, _, _ := strings.Cut(title, " ")
		at := slices.IndexFunc(allCommands, func(c *command) bool { return c.name == name })
		for kind, data := range kinds {
			if every := []string{"estimate", "predict", "cv"}; !slices.Contains(every, title) &&
				(kind == "two" || kind == "targets") { // to save time
				continue
			}
			table, _, _ := strings.Cut(data, " ")
			line := fmt.Sprintf("%s %s --drop s,w,k,g,f --gamma 0.3 %s", name, data,
				strings.ReplaceAll(own, "DATA", table))
			o, base := answer(line)
			if o.status == exitUsage {
				continue // it is not for them
			}
			if o.status != exitDone && o.status != exitNotConverged {
				t.Errorf("%s: %+v", line, o)
			}
			optionsOf(allCommands[at], pflag.NewFlagSet("", 0)).VisitAll(func(f *pflag.Flag) {
				value, known := changing[name+"/"+f.Name]
				if !known {
					value, known = changing[f.Name]
				}
				if !known || slices.Contains(holding[kind], f.Name) ||
					slices.Contains(conditional, f.Name) || slices.Contains(conditional, name+"/"+f.Name) {
					return
				}
				o, got := answer(line, strings.Fields("--"+f.Name+"="+value)...)
				if o.status != exitUsage && got == base {
					t.Errorf("%s --%s=%s is ignored", line, f.Name, value)
				}
			})
		}
	}
}

// TestFieldsHaveFlags: what stands for a field in a message is a flag of a command, also where the message
// begins with the field, and a name of DATA is no field.
func TestFieldsHaveFlags(t *testing.T) {
	known := map[string]bool{}
	for _, c := range allCommands {
		optionsOf(c, pflag.NewFlagSet("", 0)).VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
	}
	for line := range strings.Lines(strings.TrimSpace(fieldPage)) {
		field, of, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if flag, _, _ := strings.Cut(of, " "); !known[flag] {
			t.Errorf("%s: there is no flag %s", field, of)
		}
		text := fmt.Sprintf(`%s: take (%[1]s or %[1]s, not "%[1]s"`, field)
		want := fmt.Sprintf(`%s: take (%[1]s or %[1]s, not "%s"`, of, field)
		if got := inFlags(text); got != want {
			t.Errorf("%s is %s", text, got)
		}
	}
}

// withoutCosts is a document without times, memory, names of files and the command line.
func withoutCosts(text string) string {
	var doc any
	if json.Unmarshal([]byte(text), &doc) != nil {
		return text
	}
	strip(doc, []string{"time", "memory", "backend", "command_line", "reading", "model_file"})
	left, _ := json.Marshal(doc)
	return string(left)
}
