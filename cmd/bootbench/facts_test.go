package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// factWords are the words of testdata/facts.txt: files, models, and what several lines have in common.
func factWords(t *testing.T) *strings.Replacer {
	rng := rand.New(rand.NewPCG(1, 2))
	table, two, three, copies := csvOf, "a,b,y\n", "a,b,y\n", ""
	for range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		class := map[bool]string{true: "yes", false: "no"}[a+0.7*rng.NormFloat64() > 0.8]
		two += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
		if class == "no" && b > 0 {
			class = "never"
		}
		three += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
		copies += fmt.Sprintf("%.3f,%.3f,%c\n", a, b, "np"[rng.IntN(2)])
	}
	row := func(positives int) string {
		return table("a,site,y", 20, func(i int) []any {
			return []any{i*i%97 - 200*((i+positives)/20), fmt.Sprint("s", i), i >= 20-positives}
		})
	}
	rows, _ := goldenRows()
	counted := otherRows["counted"](rows)
	dir := folder(t, map[string]string{
		"row1.csv": row(1), "row10.csv": row(10),
		"counted.csv": table("w,g,s,a,b,y,z,label,kind", len(rows), func(i int) []any { return counted[i] }),
		"rare2.csv":   two, "rare3.csv": three, "copies.csv": "a,b,y\n" + strings.Repeat(copies, 3),
		"flowers.csv": flowers,
		"012.csv":     strings.NewReplacer("ash", "0", "elm", "1", "oak", "2").Replace(flowers),
		"cut.json":    `{"format":"bootbench model",`, "old.json": `{"schema": 2, "model": {"loss": "hard"}}`,
		"d.csv":     "id;y;a;sex\nr1;no;1,5;m\nr2;yes;2,5;f\nr3;no;;m\nr4;yes;0,5;f\nr5;no;1;m\n",
		"new.txt":   "\tsex\ta\twhen\nBerlin\tf\t2\tnow\nRome\tx\t2\tnow\n",
		"codes.csv": "month,size,kind\n1,1,red\n2,2,blue\n1,4,green\n3,5,red\n2,3,red\n",
		"zero.svm":  "1 0:1\n-1 1:1\n1 0:2 1:1\n", "bare.data": "1 2 3\n4 5 7\n3 1 2\n",
		"tabs.tsv":   "a\ty\n1\t1.5\n2.125\t2\n3.375\t0\n4\t3\n5\t2.5\n6.625\t1\n",
		"grades.csv": "a,y\n1,1\n2,2\n3,1\n4,2\n5,1\n6,other\n7,2\n8,1\n9,other\n",
		"na.csv":     "a,b,y\nn.a.,1,2\n2,5,3\n3,2,5\n4,4,1\n5,3,7\n",
		"units.csv": table("g,h,one,w,x,y", 40, func(i int) []any {
			return []any{i % 3, max(0, i-36), "z", max(1, 1e5*float64(2-i)), rng.NormFloat64(),
				rng.NormFloat64()}
		}),
		"visits.csv": table("patient,a,y", 80, func(i int) []any {
			of := i / 4
			return []any{fmt.Sprint("p", of), of * of % 23, math.Sin(float64(of)) + 0.1*float64(i*i%7)}
		}),
		"houses.csv": houseTable(rand.New(rand.NewPCG(1, 1)).Perm(60)),
		"sold.csv": table("a,b,sold", 40, func(i int) []any {
			x, y, sold := float64(i), [3]float64{0, 1, 0}[i%3], [3]string{"no", "yes", "no"}[i%3]
			return []any{math.Sin(x) + y - 0.5, math.Cos(3 * x), sold}
		}),
		"few.csv":    table("x,y", 12, func(i int) []any { return []any{i, math.Sin(float64(i))} }),
		"single.csv": "a,b,y\n" + strings.Repeat("1,2,no\n2,1,no\n3,1,no\n5,2,no\n", 6) + "9,9,yes\n",
		"four.csv":   "a,b,y\n1,2,no\n2,1,no\n3,1,yes\n5,2,yes\n",
		"map.csv":    "a,b,y\n1,2,0\n2,1,1\n3,3,1\n0,0.5,0\n",
		"third.csv":  "a,b,y\n1,2,2\n",
		"trees.tsv": strings.ReplaceAll(table("a,b,kind", 40, func(i int) []any {
			return []any{i % 10, (3 * i) % 7, []string{"oak", "ash"}[min(1, i%10/6)]}
		}), ",", "\t"),
		"patients.csv": table("patient,site,a,b,kind", 60, func(i int) []any {
			kind := map[bool]string{true: "rare", false: "often"}[i%10 == 3]
			return []any{fmt.Sprint("p", i/5), fmt.Sprint("s", i%3), i * i % 17, i * i * i % 23, kind}
		}),
	})
	svm, dat := " --loss hinge --C 1", dir+"/"
	return strings.NewReplacer("SMALL", small, "DIR", dir, "OUT", filepath.Join(dir, "out"),
		"HARD", "synthetic:blobs,n=200 --loss hard --gamma 0.5 --no-bias --no-points",
		"PATIENTS", dat+"patients.csv"+svm, "COPIES", dat+"copies.csv --loss hinge",
		"FLOWERS", dat+"flowers.csv",
		"PEOPLE", dat+"d.csv --loss hinge --drop id", "SVM", "--loss hinge --gamma 0.2",
		"FALL", "--loss square --noise 1 --gamma 0.05 --no-points synthetic:friedman1,seed=1",
		"OVERLAP", "synthetic:blobs,n=250,d=3,noise=0.7 --loss hinge --C 1 --gamma 0.3",
		"NUMERIC", "synthetic:friedman1,n=250 --loss square --noise 1 --gamma 0.1",
		"FITS", "none test_error | status = complete | time.theory > 0",
		"COUNTED", dat+"counted.csv --weights w --target", "RARE", "--loss hinge --C 1 --no-points",
		"SOLD", dat+"sold.csv --loss logistic --gamma 0.4",
		"UNITS", dat+"units.csv --loss square --noise 0.5 --groups",
		"WAVES", "synthetic:friedman1,n=1200 --loss square --noise 1",
		"LIKE", "best = 1 | none results.1.difference | none results.0.examples | "+
			"results.0.difference.by = jackknife",
		"THREE", "len classes = 3 | error < 0.4 | error_se > 0 | len points.class = 42 | "+
			"len points.probability.elm = 42 | task = classification | chosen_by has by ",
		"ALL", "len methods = 5 | methods.0.errors = methods.1.errors | methods.1.errors = errors | "+
			"methods.0.retrained = 200 | methods.2.errors > methods.0.errors - 1",
		"BAYESIAN", "none error | none test_error | none quality | status = converged",
		"WITHIN", "interval = observation | len points.lower = 12 | coverage > -1 | said lacks takes 19 | "+
			"points.lower.0 < points.upper.0",
		"BEYOND", "interval = observation | none coverage | said has takes 19 of them | none points.lower.0")
}

// commandLists are commands, DATA and the rest of a line that is for several commands, and needed the flags
// that some of them must have.
var (
	commandLists = regexp.MustCompile(`(?m)^(\w+(?:,\w+)+) (\S+)(.*)$`)
	needed       = map[string]string{"predict": "--test DATA", "train": "--model DATA.json",
		"curve": "--ratio 1,2", "retrain": "--resamples 20"}
)

// eachCommand has a line for each command of a list.
func eachCommand(lines string) string {
	return commandLists.ReplaceAllStringFunc(lines, func(line string) (all string) {
		parts := commandLists.FindStringSubmatch(line)
		for command := range strings.SplitSeq(parts[1], ",") {
			own := strings.ReplaceAll(needed[command], "DATA", parts[2])
			all += strings.Join([]string{command, parts[2], own, parts[3], "\n"}, " ")
		}
		return all
	})
}

// TestFacts: what testdata/facts.txt says of command lines holds.
func TestFacts(t *testing.T) {
	words, tables, named := factWords(t), goldenTables(t, nil), map[string]any{}
	for line := range strings.Lines(eachCommand(words.Replace(strings.Join(cases("facts"), "\n")))) {
		name, line, isNamed := strings.Cut(strings.TrimSpace(line), " := ")
		if !isNamed {
			name, line = "", name
		}
		all := strings.Split(goldenLine(tables, line), " | ")
		if all[0] == "LONG" && testing.Short() {
			break
		} else if all[0] == "" || all[0] == "LONG" {
			continue
		}
		answer, o := map[string]any{}, outcome{}
		document := filepath.Join(t.TempDir(), "answer")
		if own := strings.LastIndex(all[0], "--json "); own >= 0 {
			o, document = drive(t, "", all[0]), all[0][own+len("--json "):]
		} else {
			o = drive(t, "", all[0], "--json", document)
		}
		answer["said"], answer["screen"] = o.stderr, o.stdout
		if text, err := os.ReadFile(document); err == nil {
			if text[0] == '[' {
				text = fmt.Appendf(nil, `{"rows": %s}`, text)
			}
			testutil.Check(t, json.Unmarshal(text, &answer))
		}
		answer["exit"] = float64(o.status)
		if o.status == exitUsage && o.stdout == "" && strings.Count(o.stderr, "\n") == 1 {
			answer["refused"] = o.stderr
		}
		named[name] = answer
		scope := maps.Clone(named)
		maps.Copy(scope, answer)
		ends := false // the facts say how
		for _, fact := range all[1:] {
			ends = ends || strings.HasPrefix(fact, "exit") || strings.HasPrefix(fact, "refused")
			if got, holds := checkFact(scope, fact); !holds {
				t.Errorf("%s: not %s: %v", all[0], fact, got)
			}
		}
		if !ends && o.status != exitDone {
			t.Errorf("%s: status %d, %s", all[0], o.status, o.stderr)
		}
	}
}

// relation is what a fact says of two terms.
var relation = regexp.MustCompile(`^(.+?) (=|<|>|has|lacks|matches|within) (.*)$`)

// checkFact reports whether a fact holds of an answer, and the value of its first term.
func checkFact(answer any, fact string) (got any, holds bool) {
	if path, ok := strings.CutPrefix(fact, "none "); ok {
		got = within(answer, path)
		return got, got == nil
	}
	parts := relation.FindStringSubmatch(fact)
	if parts == nil {
		return "no fact", false
	}
	got = term(answer, parts[1])
	text := fmt.Sprint(got)
	switch parts[2] {
	case "has":
		return got, strings.Contains(text, parts[3])
	case "lacks":
		return got, !strings.Contains(text, parts[3])
	case "matches":
		return got, regexp.MustCompile(parts[3]).MatchString(text)
	}
	tolerance, right, near := strings.Cut(parts[3], " of ")
	if !near || parts[2] != "within" {
		tolerance, right = "", parts[3]
	}
	want := term(answer, right)
	one, isNumber := got.(float64)
	other, _ := want.(float64)
	switch {
	case !isNumber:
		return got, parts[2] == "=" && text == fmt.Sprint(want)
	case parts[2] == "<":
		return got, one < other
	case parts[2] == ">":
		return got, one > other
	case parts[2] == "=":
		return got, math.Abs(one-other) <= 1e-9*math.Abs(other)
	}
	most, _ := term(answer, tolerance).(float64)
	return got, math.Abs(one-other) <= most
}

// operator is one between numbers.
var operator = regexp.MustCompile(` [-+*/] `)

// term is a number, a value of an answer or a text.
func term(answer any, text string) any {
	if at := operator.FindAllStringIndex(text, -1); at != nil {
		last := at[len(at)-1]
		for _, i := range at { // sums last
			if strings.ContainsAny(text[i[0]:i[1]], "-+") {
				last = i
			}
		}
		one, first := term(answer, text[:last[0]]).(float64)
		other, second := term(answer, text[last[1]:]).(float64)
		if first && second {
			return map[byte]float64{'-': one - other, '+': one + other, '*': one * other,
				'/': one / other}[text[last[0]+1]]
		}
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	function, path, _ := strings.Cut(text, " ")
	switch list, _ := within(answer, path).([]any); function {
	case "len":
		keys, _ := within(answer, path).(map[string]any)
		return float64(len(list) + len(keys))
	case "mean":
		sum := 0.0
		for _, v := range list {
			number, _ := v.(float64)
			sum += number / float64(len(list))
		}
		return sum
	}
	if v := within(answer, text); v != nil {
		return v
	}
	return text
}

// flowers is a table of three kinds.
var flowers = func() string {
	rng := rand.New(rand.NewPCG(1, 2))
	return csvOf("length,width,kind", 42, func(i int) []any {
		return []any{float64(i%3) + 0.5*rng.NormFloat64(), 0.5 * rng.NormFloat64(),
			[]string{"ash", "elm", "oak"}[i%3]}
	})
}()
