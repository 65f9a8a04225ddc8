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
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/report"
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

// kinds are the kinds of targets on the rows of goldenTables, each with a model.
var kinds = map[string]string{
	"N": "NUMBERS --loss square --noise 10% --gamma 0.5",
	"L": "LABELS HINGE",
	"C": "CLASSES HINGE",
	"P": "CLASSES HINGE --multiclass ovo",
	"T": "TARGETS --loss square --noise 10% --gamma 0.5",
}

// otherRows are tables made from the one of goldenTables.
var otherRows = map[string]func(rows [][]any) [][]any{
	"shuffled": func(rows [][]any) (all [][]any) {
		for _, i := range shuffled(len(rows)) {
			all = append(all, rows[i])
		}
		return all
	},
	"sorted": func(rows [][]any) [][]any { // by class: the first ones lack some
		return slices.SortedStableFunc(slices.Values(rows), func(a, b []any) int {
			return strings.Compare(fmt.Sprint(a[8], a[7]), fmt.Sprint(b[8], b[7]))
		})
	},
	"ones": func(rows [][]any) [][]any { return edited(rows, func(_ int, row []any) { row[0] = 1 }) },
	"zeros": func(rows [][]any) [][]any {
		return edited(rows, func(i int, row []any) {
			if i%5 == 0 {
				row[0] = 0
			}
		})
	},
	"fewer": func(rows [][]any) (all [][]any) {
		for i, row := range rows {
			if i%5 != 0 {
				all = append(all, row)
			}
		}
		return all
	},
	"counted": func(rows [][]any) [][]any {
		return edited(rows, func(i int, row []any) { row[0] = i / 3 % 3 })
	},
	"copied": func(rows [][]any) (all [][]any) {
		for i, row := range edited(rows, func(i int, row []any) { row[1] = i }) {
			all = append(all, slices.Repeat([][]any{row}, i/3%3)...)
		}
		return all
	},
	"units": func(rows [][]any) [][]any {
		return edited(rows, func(_ int, row []any) {
			for column, unit := range map[int]float64{3: 1e4, 4: 1e-3, 5: 1e6, 6: 1e-6} {
				row[column] = unit * (1000 + row[column].(float64))
			}
			row[7], row[8] = "is-"+row[7].(string), "is-"+row[8].(string)
		})
	},
}

func edited(rows [][]any, edit func(i int, row []any)) (all [][]any) {
	for i, row := range rows {
		all = append(all, slices.Clone(row))
		edit(i, all[i])
	}
	return all
}

func shuffled(n int) []int { return rand.New(rand.NewPCG(3, 1)).Perm(n) }

// alone is the second of the targets, and turned has it first, in whose units parameters are.
const (
	alone  = "ROWS --target z --drop y,label,kind DESIGN"
	turned = "ROWS --target z,y --drop label,kind DESIGN"
)

// TestLaws: the laws of testdata/laws.txt hold, and each is about some number.
func TestLaws(t *testing.T) {
	words := map[string]*strings.Replacer{"": goldenTables(t, nil)}
	about := func(kind string) *strings.Replacer {
		return strings.NewReplacer("KIND", kinds[kind], "ALONE", alone, "TURNED", turned)
	}
	for name, change := range otherRows {
		words[name] = goldenTables(t, change)
	}
	known, number := map[string]any{}, 0
	ask := func(question, kind string) any {
		question, part, _ := strings.Cut(question, " @")
		of, line, other := strings.Cut(question, ": ")
		if !other {
			of, line = "", question
		}
		line = goldenLine(words[of], about(kind).Replace(line))
		if known[line] == nil {
			known[line] = answers(t, line)
		}
		return within(known[line], part)
	}
	for _, law := range cases("laws") {
		fields := strings.Split(law, " | ")
		_, first, other := strings.Cut(fields[1], ": ")
		if !other {
			first, _, _ = strings.Cut(fields[1], " @")
		}
		fields[2] = strings.Replace(fields[2], "SAME", first, 1)
		tolerance := testutil.Must(strconv.ParseFloat(fields[4], 64))(t)
		kinds := strings.Split(fields[0], "")
		if testing.Short() { // one of them
			number++
			kinds = kinds[number%len(kinds):][:1]
		}
		for _, kind := range kinds {
			keys := strings.Fields(fields[3])
			one, other := leaves(ask(fields[1], kind), keys), leaves(ask(fields[2], kind), keys)
			compared := 0
			for at, want := range one {
				got, there := other[at]
				if !there && strings.Contains(fields[2], "@results") {
					continue // tables say less
				}
				compared++
				if strings.HasPrefix(fields[2], "shuffled") {
					got = inOrder(got)
				}
				if !alike(got, want, tolerance) {
					t.Errorf("%s: %s: %s is %v, want %v", kind, law, at, got, want)
				}
			}
			if compared == 0 {
				t.Errorf("%s: %s: there is none of %v", kind, law, keys)
			}
		}
	}
}

// within is the part of a document that a path leads to.
func within(v any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch inner := v.(type) {
		case map[string]any:
			if step != "" {
				v = inner[step]
			}
		case []any:
			at, _ := strconv.Atoi(step)
			v = inner[at]
		}
	}
	return v
}

// leaves are the values under keys of these names, by their paths.
func leaves(v any, keys []string) map[string]any {
	all := map[string]any{}
	object, _ := v.(map[string]any)
	for name, inner := range object {
		if slices.Contains(keys, name) && inner != nil {
			all[name] = inner
		}
		for path, leaf := range leaves(inner, keys) {
			all[name+"."+path] = leaf
		}
	}
	return all
}

// alike reports whether two values, or all of two lists, are the same: numbers up to a difference relative to
// 1 + their size.
func alike(got, want any, tolerance float64) bool {
	switch w := want.(type) {
	case float64:
		g, number := got.(float64)
		return number && math.Abs(g-w) <= tolerance*(1+math.Abs(w))
	case []any:
		g, list := got.([]any)
		return list && slices.EqualFunc(g, w, func(a, b any) bool { return alike(a, b, tolerance) })
	}
	return got == want
}

// inOrder are values of the shuffled rows in the order of the rows.
func inOrder(v any) any {
	list, _ := v.([]any)
	if len(list) != goldenCount {
		return v
	}
	all := make([]any, len(list))
	for k, i := range shuffled(len(list)) {
		all[i] = list[k]
	}
	return all
}

// TestWeightedScores: error, log loss and Brier score are means over the rows with their weights.
func TestWeightedScores(t *testing.T) {
	rows, _ := goldenRows()
	for _, kind := range []string{"C", "P"} {
		a := decoded[report.Answer](t, goldenLine(goldenTables(t, nil), "cv "+kinds[kind]+
			" --folds 4 --repeats 1 --weights w"))
		var sums [4]float64
		for i, row := range rows {
			w, of := row[0].(float64), a.Points.Probability.Of
			own, squares := of[row[8].(string)][i], 0.0
			for _, p := range of {
				squares += p[i] * p[i]
			}
			for k, v := range []float64{1, a.Points.Error[i], -math.Log(own), squares - 2*own + 1} {
				sums[k] += w * v
			}
		}
		for k, got := range []report.Number{a.Error, *a.LogLoss, *a.Brier} {
			if want := sums[k+1] / sums[0]; math.Abs(float64(got)-want) > 1e-12 {
				t.Errorf("%s: score %d is %v, of the rows %v", kind, k, got, want)
			}
		}
	}
}

// TestRowsBefore: cross-validation forward in time predicts the rows of a block, for each kind of target, as
// the model file does that train writes of the rows before it. Where blocks lack classes no number is NaN.
func TestRowsBefore(t *testing.T) {
	const block, folds = 6, 5
	for kind, model := range kinds {
		model = strings.Replace(model, "10%", "0.1", 1) // a fraction is of the variance of all rows
		line := goldenLine(goldenTables(t, nil), fmt.Sprintf("cv %s --blocks %d --folds %d", model, block,
			folds))
		whole := answers(t, line).(map[string]any)
		sorted := goldenTables(t, otherRows["sorted"])
		text := must(t, goldenLine(sorted, "cv "+model+" --blocks 2 --folds 2 --quiet"))
		if strings.Contains(text, "NaN") {
			t.Errorf("%s: %s", kind, text)
		}
		for first := goldenCount - folds*block; first < goldenCount; first += block {
			before := goldenTables(t, func(rows [][]any) [][]any { return rows[:first] })
			then := goldenTables(t, func(rows [][]any) [][]any { return rows[first : first+block] })
			must(t, goldenLine(before, "train "+model+" --quiet --model DIR/m.json"))
			file := before.Replace("predict --model DIR/m.json") + then.Replace(" --test ROWS")
			alone := answers(t, file)
			for _, names := range [][2]string{{"mean", "prediction"}, {"class", "class"}} {
				predicted := leaves(alone, names[1:])
				for at, got := range leaves(whole, names[:1]) {
					want := predicted[strings.Replace(at, names[0], names[1], 1)]
					if !alike(got.([]any)[first:first+block], want, 1e-9) {
						t.Errorf("%s: %s from row %d on %v, by those before %v", kind, at, first, got, want)
					}
				}
			}
		}
	}
}
