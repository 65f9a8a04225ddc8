package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/report"
	"bootbench/internal/testutil"
)

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
