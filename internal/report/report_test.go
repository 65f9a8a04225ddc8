package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

type inner struct {
	Deep  Numbers  `json:"deep"`
	None  Numbers  `json:"none"`
	Texts []string `json:"texts,omitempty"`
}

type outer struct {
	inner
	Name  string  `json:"name"`
	Error *Number `json:"error,omitempty"`
	SE    *Number `json:"se,omitempty"`
	Mean  Number  `json:"mean"`
	Parts []inner `json:"parts"`
}

// TestDocument: a document is what encoding/json makes of it, with numbers that JSON does not have as nulls
// and lists of numbers on one line; an object gets the versions of its keys and of the program.
func TestDocument(t *testing.T) {
	var b bytes.Buffer
	v := outer{inner: inner{Deep: []float64{1, math.NaN(), math.Inf(-1)}}, Name: "[\n  1\n]",
		Error: NumberOf(1e-9), Mean: Number(math.NaN()),
		Parts: []inner{{Deep: []float64{2}, Texts: []string{"a"}}}}
	if err := WriteDocument(&b, v); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"schema\": 4,\n  \"version\": \"" + Version() + "\",\n  \"deep\": [1, null, null],\n" +
		"  \"none\": [],\n" +
		"  \"name\": \"[\\n  1\\n]\",\n" +
		"  \"error\": 1e-9,\n  \"mean\": null,\n  \"parts\": [\n    {\n      \"deep\": [2],\n" +
		"      \"none\": [],\n      \"texts\": [\n" +
		"        \"a\"\n      ]\n    }\n  ]\n}\n"
	if b.String() != want {
		t.Errorf("got %s, want %s", b.String(), want)
	}
	if err := WriteDocument(io.Discard, make(chan int)); err == nil {
		t.Error("a channel passes")
	}
}

// rows are two sizes of one set and one of another, the last with nothing known.
func rows() []CompareRow {
	row := CompareRow{
		Setup:   Setup{Data: "synthetic:waves,n=100,seed=1", Loss: "square", N: 50},
		TheoryS: 1, TheoryError: 2, Solve: Solve{Status: "converged"}, FitS: 0.5, ResampleFitS: 0.1,
		NaiveFitS: 0.2, TheoryOverFit: 2, TheoryOverMergedFit: 10, NaiveFitsEquivalent: 5,
		TheoryOverLIBSVM: 0.5, Fits200S: 20, FitsMeasured: 200, Baseline: "blocks", BaselineRank: 31,
		BaselineS: 3, Retrained: Retrained{RetrainError: 2.2, RetrainSE: 0.1}, RefinedS: 4.5,
		VarianceAccuracy: VarianceAccuracy{VarianceError: 0.05, EqualResamples: 120,
			SpeedupEqualAccuracy: 12},
	}
	second, third := row, row
	second.N, second.FitsMeasured, second.Fits200S, second.EqualIsBound = 100, 8, 80, true
	third.Data, third.RetrainError, third.RetrainSE, third.Status = "dir/my data.csv", Number(math.NaN()),
		Number(math.NaN()), "stalled"
	return []CompareRow{row, second, third}
}

// TestCompareTable: bounds are marked, lines fit a screen, and the claims of the papers are counted.
func TestCompareTable(t *testing.T) {
	c := &Comparison{Rows: rows()}
	c.Rows[0].LIBSVMIsBound = true
	var b bytes.Buffer
	if err := WriteText(&b, c, false); err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"retraining wins in 3 of 3 rows",
		"as fast): waves 50 blocks 1.5, waves 100",
		"waves 50 1 20 4.5 3 blocks 31 12 ", "waves 100 1 ~80 4.5 3 blocks 31 >12 ", " 12 stalled",
		" 2 <0.5 5 10 ", "here 5 to 5, and 10 to 10 merged ones",
		"in 0 of 3 rows by our trainers, in 3 of 3 rows by LIBSVM"} {
		if !strings.Contains(flat, want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > columns+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// TestFold: long texts are folded between words, at the indentation of their prefix, and a command line as a
// shell continues it.
func TestFold(t *testing.T) {
	d := &document{}
	d.line("model", "%s", strings.Repeat("word ", 30)+"end")
	d.line(repeated, "%s", strings.Repeat("--flag value ", 20))
	var b strings.Builder
	if err := d.writeText(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for i, line := range lines {
		first := strings.HasPrefix(line, "model") || strings.HasPrefix(line, repeated)
		if len(line) > columns || !first && !strings.HasPrefix(line, strings.Repeat(" ", 16)) {
			t.Errorf("line %d: %q", i, line)
		}
	}
	if folded := regexp.MustCompile(`(?s)to repeat .* \\\n {16}--flag`); !folded.MatchString(b.String()) {
		t.Error(b.String())
	}
}

// TestCSV: a table has a record for each row and a column for each field, or each chosen one, of the
// document, and a figure has one for each point; what a row lacks or is not finite is an empty cell, and a
// text that a spreadsheet would take for a formula has an apostrophe.
func TestCSV(t *testing.T) {
	figure := &Figure{Panels: []Panel{
		{Series: []Series{{Label: "a", X: []float64{1, 2}, Y: []float64{0.1, math.NaN()},
			Err: []float64{0.5}}}},
		{Series: []Series{{Label: "single", X: []float64{3}, Y: []float64{4}}}}}}
	lowRank := &Convergence{Engine: "lowrank", Rank: 31, RankResidual: 1e-4}
	grid := gridOf([]float64{3}, GridAxis{"C", []string{"1"}})
	grid.Results = append(grid.Results, GridCell{Values: []string{"=2"}, Failure: "no memory"})
	points := &Points{Names: []string{"=HYPERLINK(1)"}, Mean: []float64{-1}, Class: []string{"@c"}}
	table := func(r Result) func(io.Writer) error { return SheetOf(r, true).Table.WriteCSV }
	for name, c := range map[string]struct {
		write   func(io.Writer) error
		columns map[string]string
	}{
		"compare": {table(&Comparison{Rows: rows()}), map[string]string{"n": "50|100|50", "theory_s": "1|1|1",
			"refreshes_exact": "0|0|0", "retrain_error": "2.2|2.2|", "equal_is_bound": "false|true|false"}},
		"curve": {table(&Curve{Results: []Answer{{Resampling: &Resampling{}, Status: "complete"},
			{Resampling: &Resampling{}, Convergence: lowRank}}}),
			map[string]string{"status": "complete|", "rank": "|31", "rank_residual": "|0.0001"}},
		"grid": {table(grid), map[string]string{"C": "1|'=2", "objective": "3|", "status": "complete|failed",
			"solve_s": "0|"}},
		"figure": {figure.WriteCSV, map[string]string{"panel": "1|1|2", "series": "a|a|single", "x": "1|2|3",
			"y": "0.1||4", "error": "0.5||"}},
		"points": {table(&Answer{Points: points}), map[string]string{"row": "'=HYPERLINK(1)", "mean": "-1",
			"class": "'@c"}},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(name, err)
		}
		records, err := csv.NewReader(&b).ReadAll() // refuses ragged records
		if err != nil {
			t.Fatal(name, err)
		}
		for column, want := range c.columns {
			at, cells := slices.Index(records[0], column), []string(nil)
			for _, record := range records[1:] {
				cells = append(cells, record[max(at, 0)])
			}
			if got := strings.Join(cells, "|"); at < 0 || got != want {
				t.Errorf("%s: column %s of %v is %s, want %s", name, column, records[0], got, want)
			}
		}
	}
}

// TestFigures: every figure is a whole SVG, also if errors are not known.
func TestFigures(t *testing.T) {
	curve := (&Curve{Subject: Subject{Data: "a/b c.csv"}, Results: []Answer{
		{Resampling: &Resampling{Ratio: 0.5}, TestError: NumberOf(3), Errors: &Errors{Err632Plus: 2}},
		{Resampling: &Resampling{Ratio: 2}, TestError: NumberOf(2),
			Errors: &Errors{Err632Plus: Number(math.NaN())}},
	}}).figures()
	empty := (&Comparison{Rows: []CompareRow{{Setup: Setup{Data: "none", N: 10}}}}).figures()
	points := &Points{Mean: []float64{1, 3, 2}, Variance: []float64{1, 0, 4}, Error: []float64{1, 2, 0},
		Lower: []float64{0, 3, 1}, Upper: []float64{2, 3, 3}}
	answer := &Answer{TestLoss: "square", Level: 0.9, Points: points}
	everything := &Figure{Name: "everything", Title: "all marks", Panels: []Panel{{
		X: Axis{Label: "x", Log: true}, Y: Axis{Label: "y"},
	}, {}, {Y: Axis{Log: true}, Series: []Series{{Mark: Bars, X: []float64{1, 2}, Y: []float64{3, 40}}}}}}
	for m := Line; m <= Bars; m++ {
		everything.Panels[0].Series = append(everything.Panels[0].Series,
			Series{Label: "mark", Mark: m, X: []float64{1, 2, 0, 5}, Y: []float64{1, 3, 2, math.Inf(1)},
				Err: []float64{0.1, math.NaN()}})
	}
	figures := slices.Concat((&Comparison{Rows: rows()}).figures(), empty, curve,
		pointFigures(answer), predictionFigure(answer, ""), []*Figure{everything})
	names := map[string]bool{}
	for _, p := range figures {
		names[p.Name] = true
		var svg bytes.Buffer
		if err := p.WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		decoder := xml.NewDecoder(strings.NewReader(svg.String()))
		for {
			if _, err := decoder.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
		}
		if strings.Contains(svg.String(), "NaN") || strings.Contains(svg.String(), "Inf") {
			t.Errorf("%s: a number that is none is drawn", p.Name)
		}
	}
	if names["compare-dir-my-data-csv-time"] || names["compare-none-time"] {
		t.Error("a figure of one size is drawn")
	}
	if label := figures[0].Panels[0].Series[0].Label; label != "200 fits, slope 2" {
		t.Errorf("four times the seconds at twice the rows: %q", label)
	}
	for _, name := range []string{"compare-waves-time", "curve-a-b-c-csv", "points-spread", "points-errors",
		"predict"} {
		if !names[name] {
			t.Errorf("no picture %s among %v", name, names)
		}
	}
}

// TestGap: a line ends before a number that is none, and begins anew after it.
func TestGap(t *testing.T) {
	line := Series{X: []float64{1, 2, 3, 4, 5}, Y: []float64{5, 6, math.NaN(), 2, 1}}
	for gaps, y := range []float64{3, math.NaN()} {
		var svg bytes.Buffer
		line.Y[2] = y
		if err := NewFigure("gap", "", "", Axis{}, Axis{}, line).WriteSVG(&svg); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(svg.String(), "<polyline"); lines != gaps+1 {
			t.Errorf("%d gaps, %d lines", gaps, lines)
		}
	}
}

// TestFormulaCells: a text that a spreadsheet would take for a formula gets an apostrophe,
// numbers stay as they are.
func TestFormulaCells(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a", "=1+1": "'=1+1", "+b": "'+b", "-b": "'-b",
		"@x": "'@x", "-1": "-1", "+1e3": "+1e3", "\tx": "'\tx", "-1,5": "'-1,5"} {
		if got := textCell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestWorst: the worst come first by name.
func TestWorst(t *testing.T) {
	a := &Answer{Quote: &Quote{}, TestLoss: "zero-one", Points: &Points{Names: []string{"oak", "ash", "elm"},
		Error: []float64{0.25, 1, 0.5}, Target: Target{Numbers: []float64{1, -1, 1}}, OOBVote: []float64{0.75,
			1, 0.5}, Mean: []float64{1, 1, 1}, Variance: []float64{1, 1, 1}}}
	a.Labels, a.Positive = &Labels{Negative: "well", Positive: "sick"}, "sick"
	var b bytes.Buffer
	if err := SheetOf(a, false).Worst.writeText(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	fields := func(i int) string { return strings.Join(strings.Fields(lines[i]), " ") }
	if fields(1) != "ash well 100% 100.0%" || fields(3) != "oak sick 75% 25.0%" {
		t.Error(b.String())
	}
}

// TestTargetsWithoutPoints: answers of every kind have a row each in the table, also without their points.
func TestTargetsWithoutPoints(t *testing.T) {
	quality := &Quality{Baseline: 4, RSquared: NumberOf(0.75)}
	all := &Answer{Command: "estimate", Quote: &Quote{}, Names: []string{"a", "b", "c"},
		Targets: map[string]*Answer{
			"a": &Answer{Quote: &Quote{}, Quality: quality, Points: &Points{Error: []float64{1}}},
			"b": &Answer{Quote: &Quote{}, Quality: quality, Points: &Points{Error: []float64{1}}},
			"c": &Answer{Quote: &Quote{}, Quality: quality, Points: &Points{Error: []float64{1}}},
		}}
	SheetOf(all, true)
	var b bytes.Buffer
	if err := WriteText(&b, all, false); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "75.0%\n"); got != 3 {
		t.Errorf("%d rows in\n%s", got, b.String())
	}
}

// TestChecksAreDocumented: every code of a check has its name, its level and the value that triggers it in
// doc/checks.md, and no other code is there; codes ascend.
func TestChecksAreDocumented(t *testing.T) {
	page := string(testutil.Must(os.ReadFile("../../doc/checks.md"))(t))
	heads := regexp.MustCompile(`(?m)^\*\*.*\*\* \((issue|tip)\)\.`).FindAllString(page, -1)
	var want []string
	for _, k := range Kinds {
		want = append(want, fmt.Sprintf("**%s %s** (%s).", k.Code, k.Name, k.Level))
	}
	if !slices.Equal(heads, want) || !slices.IsSorted(want) {
		t.Errorf("doc/checks.md has %q, the table %q", heads, want)
	}
	if values := strings.Count(page, "`value` is"); values != len(want) {
		t.Errorf("%d paragraphs name their value, of %d", values, len(want))
	}
}

// gridOf is a grid with these errors, the last axis fastest.
func gridOf(errors []float64, axes ...GridAxis) *Grid {
	g := &Grid{Data: "set", Over: axes}
	for i, e := range errors {
		values := make([]string, len(axes))
		for k, rest := len(axes)-1, i; k >= 0; k-- {
			values[k], rest = axes[k].Values[rest%len(axes[k].Values)], rest/len(axes[k].Values)
		}
		g.Results = append(g.Results, GridCell{Values: values, Estimate: &Answer{
			Quote: &Quote{Error: Number(e)}, Status: "complete"}})
	}
	best := slices.Index(errors, slices.Min(errors))
	g.Best = &best
	return g
}

// TestGridFigures: a map has a row for every value of the first axis, and the best cell is marked.
func TestGridFigures(t *testing.T) {
	c, gamma, kind := GridAxis{"C", []string{"1", "10", "100"}},
		GridAxis{"gamma", []string{"0.1", "1", "2", "4"}}, GridAxis{"kernel", []string{"rbf"}}
	errors := []float64{9, 8, 7, 6, 5, 4, 3, 2, 0.5, 1, 9, 8}
	g := gridOf(errors, c, kind, gamma)
	p := g.figures()[0].Panels[0]
	if len(p.Series) != 4 || p.X.Label != "gamma" || p.Y.Label != "C" || p.Series[1].Label != "C 10" {
		t.Fatalf("%+v", p)
	}
	for row := range 3 {
		if s := p.Series[row]; s.Mark != Heat || !slices.Equal(s.X, []float64{1, 2, 3, 4}) ||
			!slices.Equal(s.Y, errors[4*row:][:4]) {
			t.Errorf("row %d: %+v", row, s)
		}
	}
	if best := p.Series[3]; best.Mark != Frame || best.X[0] != 1 || best.Y[0] != 3 {
		t.Errorf("best %+v", best)
	}
	curve := gridOf([]float64{3, 1, 2}, c)
	if p := curve.figures()[0].Panels[0]; !slices.Equal(p.Series[0].Y, []float64{3, 1, 2}) ||
		p.Series[1].X[0] != 2 || p.Series[1].Y[0] != 1 {
		t.Errorf("%+v", p)
	}
	for _, g := range []*Grid{g, curve} {
		var b bytes.Buffer
		if err := g.figures()[0].WriteSVG(&b); err != nil || b.Len() < 1000 {
			t.Error(b.Len(), err)
		}
	}
	if figures := gridOf([]float64{1}, GridAxis{"C", []string{"1"}}).figures(); figures != nil {
		t.Errorf("%+v", figures)
	}
}

// TestTicks: an axis has a handful of marks with short labels, within its ends.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		ticks     func(low, high float64) []Tick
		low, high float64
	}{
		{roundTicks, 0, 1}, {roundTicks, -3, 8.2}, {roundTicks, 14.2, 39.7}, {roundTicks, 0.0303, 0.0899},
		{roundTicks, 1e-7, 1.5e-7}, {roundTicks, 0, 506}, {decadeTicks, 1.1, 1.9}, {decadeTicks, 0.02, 0.09},
		{decadeTicks, 3, 40}, {decadeTicks, 0.9, 1200}, {decadeTicks, 1e-6, 1e9},
	} {
		labels := 0
		for _, tick := range c.ticks(c.low, c.high) {
			if v := tick.Value; v < c.low-1e-6*math.Abs(c.low) || v > c.high*(1+1e-6) ||
				len(tick.Label) > 8 {
				t.Errorf("%v to %v: mark %v %q", c.low, c.high, tick.Value, tick.Label)
			}
			if tick.Label != "" {
				labels++
			}
		}
		if labels < 2 || labels > 16 {
			t.Errorf("%v to %v: %d labels", c.low, c.high, labels)
		}
	}
}

// TestBrief: a mean square is shown as its root with the standard error of the root; labels as a share; the
// worst rows by name.
func TestBrief(t *testing.T) {
	e := &Answer{Subject: Subject{Data: "a/b.csv", N: 3, D: 2, Task: "regression", Target: "price"},
		Command: "estimate", Quote: &Quote{Error: 100, ErrorSE: 5}, TestLoss: "square",
		Quality: &Quality{Baseline: 400, Constant: "7", RSquared: NumberOf(0.75)},
		Points: &Points{Names: []string{"x", "y", "z"}, Error: Numbers{1, 9, math.NaN()},
			Target: Target{Numbers: Numbers{5, 6, 7}}, OOBMean: Numbers{4, 3, 2}}, Stability: NumberOf(2)}
	text := func() string {
		var b strings.Builder
		if err := WriteText(&b, e, false); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	has := func(wants ...string) {
		for _, want := range wants {
			if got := text(); !strings.Contains(got, want) {
				t.Errorf("no %q in\n%s", want, got)
			}
		}
	}
	has("error           10 on new rows (root mean square, standard error 0.25)",
		"baseline        20 by predicting 7 for every row", "75.0% of the variance",
		"regression of price", "y (6, predicted 3), x (5, predicted 4)\n", "a prediction changes by 2 (")
	e.TestLoss, e.Error, e.Quality.Baseline, e.Positive = "zero-one", 0.25, 0.5, "1"
	e.ErrorSE, e.Quality.RSquared = 0.02, nil
	e.Stability = NumberOf(0.267)
	e.Points.Target.Numbers = Numbers{1, -1, 1}
	e.Trained = &Trained{ErrorLevel: 0.95, OfResamples: &OfResamples{0.28, 0.03}, ErrorFolds: 10,
		Partitions: 3, CorrectedFor: []string{"choice"}, Uncorrected: NumberOf(0.2)}
	e.Lower, e.Upper = NumberOf(0.21), NumberOf(0.3)
	has("25.0% of new rows get the wrong label (95% interval 21.0% to 30.0%)", "50.0% by predicting 7",
		"y (-1, 900% predict 1)", "26.7% of new rows get another label",
		"by 3 rounds of 10 folds, each with its own choice of the model (20.0% without that)",
		"28.0% (standard error 3.0%) by models of resamples")
}

// TestDigits: numbers that people have are written out.
func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{56724.4: "56720", -1.148e5: "-114800", 9999.7: "10000",
		22.5328: "22.53", 1.5e9: "1.5e+09", 0.00012: "0.00012", 0: "0"} {
		if got := digits(v, 4); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := digits(1133.0, 2); got != "1100" {
		t.Error(got)
	}
}

// TestQuote: the standard error is over examples and over resamples; a root's is se/(2 root), or of the
// order of se^1/2 at 0; an error rate of 0 or 1 has a one-sided bound.
func TestQuote(t *testing.T) {
	quality := func(se Number) *Quality {
		return &Quality{ExampleSE: se, Effective: 20}
	}
	for _, c := range []struct {
		test          string
		mean, over    Number
		monteCarlo    *Number
		se, rmse      float64
		rmseSE, bound float64
		text          string
	}{
		{"square", 100, 4, NumberOf(3), 5, 10, 0.25, 0, "10 on ROWS (standard error 0.25)"},
		{"square", 0, 0, nil, 0, 0, 0, 0, "0 on ROWS (standard error 0)"},
		{"square", 0, 0.04, nil, 0.04, 0, 0.2, 0, "0 on ROWS (standard error 0.2)"},
		{"square", 9, Number(math.NaN()), nil, math.NaN(), 3, math.NaN(), 0, "3 on ROWS"},
		{"zero-one", 0.25, 0.02, NumberOf(math.NaN()), 0.02, 0, 0, 0, "25.0% of LABEL (standard error 2.0%)"},
		{"zero-one", 0, 0, NumberOf(0), 0, 0, 0, 1 - math.Pow(0.05, 1/20.0), "0.0% of LABEL (at most 14%)"},
		{"zero-one", 1, 0, nil, 0, 0, 0, math.Pow(0.05, 1/20.0), "100.0% of LABEL (at least 86.1%)"},
		{"zero-one", 0, 0.003, nil, 0.003, 0, 0, 1 - math.Pow(0.05, 1/20.0), "0.0% of LABEL (at most 14%)"},
		{"zero-one", 0.03, 0.02, nil, 0.02, 0, 0, 0, "3.0% of LABEL (standard error 2.0%)"},
		{"square", Number(math.NaN()), 0, nil, 0, math.NaN(), math.NaN(), 0, "unknown"},
	} {
		q := NewQuote(c.test, c.mean, quality(c.over), c.monteCarlo)
		value := func(v *Number) float64 { return float64(*cmp.Or(v, new(Number))) }
		for _, v := range [][2]float64{{float64(q.ErrorSE), c.se}, {value(q.RMSE), c.rmse},
			{value(q.RMSESE), c.rmseSE}, {value(q.Upper) + value(q.Lower), c.bound}} {
			if !(math.Abs(v[0]-v[1]) < 1e-9 || v[0] != v[0] && v[1] != v[1]) {
				t.Errorf("%v: %v, want %v", c, v[0], v[1])
			}
		}
		got := strings.NewReplacer("new rows get the wrong label", "LABEL", " with 95% confidence", "",
			"new rows (root mean square)", "ROWS", "new rows (root mean square, ", "ROWS (").Replace(
			q.on("new rows", nil, units(c.test)))
		if got != c.text || (q.MonteCarloSE == nil) != (c.monteCarlo == nil) {
			t.Errorf("%v: %s", c, got)
		}
	}
}

// TestPage: a page is well-formed, holds every figure, line and cell, escapes
// what users name, and asks for nothing from elsewhere.
func TestPage(t *testing.T) {
	e := &Answer{Subject: Subject{Data: "<b>&.csv", N: 2, Loss: "square"}, Command: "estimate",
		Quote: &Quote{Error: 1.5625, ErrorSE: 0.1}, TestLoss: "square", Errors: &Errors{},
		TestError:   NumberOf(1.5625),
		BaggedError: NumberOf(1), Resampling: &Resampling{},
		Points: &Points{Mean: []float64{1, 2}, Variance: []float64{1, 4}, Error: []float64{0.5, 2},
			Target: Target{Numbers: []float64{1, 3}}}}
	e.Add(FewRows.Check(2, "more", "careful <now>"))
	p := Page{Sheet: SheetOf(e, false), Command: "bootbench estimate '<b>&.csv'",
		Files: []string{"result.json"}, System: &System{}}
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"careful &lt;now&gt;",
		`<p id="BB011"><strong>BB011 few rows</strong> (issue).`, "&lt;b&gt;&amp;.csv",
		"left-out error", "1.25", `id="points-spread"`, `id="points-errors"`, `href="result.json"`,
		"prefers-color-scheme: dark"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "<b>") || strings.Contains(text, "<script") {
		t.Error("a name came through as markup, or there is a script")
	}
	addresses := regexp.MustCompile(`(?i)(src|href)\s*=\s*"([^"]*)"|url\(([^)]*)\)|@import`)
	for _, found := range addresses.FindAllString(text, -1) {
		if !slices.Contains([]string{`href="data:,"`, `href="result.json"`, `href="#BB011"`}, found) {
			t.Errorf("the page refers to %s", found)
		}
	}
	decoder := xml.NewDecoder(&b)
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestIntervals: the figure of intervals begins with the quoted error and its interval, others have two
// standard errors or none, and a constant far away is an arrow; classes and targets have rows of their own.
func TestIntervals(t *testing.T) {
	a := &Answer{TestLoss: "zero-one", Quality: &Quality{Baseline: 0.5, Constant: "oak"},
		Quote: &Quote{Error: 0.0625, Lower: NumberOf(0.02), Upper: NumberOf(0.09)}}
	a.Decisions = &Decisions{Each: []ClassError{{Class: "oak", Examples: 7, Error: 0.01},
		{Class: "ash", Examples: 9, Error: Number(math.NaN())}}}
	a.Trained = &Trained{ErrorLevel: 0.95, Uncorrected: NumberOf(0.03),
		OfResamples: &OfResamples{LeftOutError: 0.125, LeftOutErrorSE: 0.03125}}
	figure := a.intervals()[0]
	var csv, svg bytes.Buffer
	if err := errors.Join(figure.WriteCSV(&csv), figure.WriteSVG(&svg)); err != nil {
		t.Fatal(err)
	}
	const numbers = "label,value,lower,upper\nmodel of all rows,0.0625,0.02,0.09\nwithout the correction," +
		"0.03,,\nleft out,0.125,0.0625,0.1875\noak (7 rows),0.01,,\nalways oak,0.5,,\n"
	if csv.String() != numbers {
		t.Errorf("%s, want %s", csv.String(), numbers)
	}
	for _, want := range []string{">6.2% (2.0% to 9.0%)<", ">12.5% +- 3.1%<"} {
		if !strings.Contains(svg.String(), want) {
			t.Errorf("no %s in %s", want, svg.String())
		}
	}
	far := *a.Quality
	a.Quality = &far
	far.Baseline = 0.6
	if err := a.intervals()[0].WriteSVG(&csv); err != nil || strings.Contains(svg.String(), "h16m-5-4") ||
		!strings.Contains(csv.String(), "h16m-5-4") {
		t.Errorf("%v: an arrow is not drawn for a far constant alone", err)
	}
	target := &Answer{Quote: &Quote{Error: 3, Lower: NumberOf(1.5), Upper: NumberOf(6)},
		Quality: &Quality{Baseline: 6}}
	all := &Answer{Quote: &Quote{Error: 0.5}, TestLoss: "square", Names: []string{"height"},
		Targets: map[string]*Answer{"height": target}}
	want := IntervalRow{"height", 0.5, 0.25, 1, "50.0% (25.0% to 100.0%)", besideRow}
	if row := all.intervals()[0].Panels[0].Intervals[1]; row != want {
		t.Errorf("a target's row is %+v", row)
	}
	if figures := (&Answer{Quote: &Quote{Error: 1}, TestLoss: "square"}).intervals(); figures != nil {
		t.Errorf("a figure of one number: %+v", figures)
	}
}

// TestSymbols: each series of a figure has another symbol, in colours or without them.
func TestSymbols(t *testing.T) {
	seen := map[string]bool{}
	for k := range len(palette) {
		var b bytes.Buffer
		(&drawing{Buffer: &b}).symbol(&Series{Mark: Dots, Colour: k}, 0, 0, 1)
		seen[regexp.MustCompile(`#[0-9A-F]{6}`).ReplaceAllString(b.String(), "")] = true
	}
	if len(seen) != len(palette) {
		t.Errorf("%d symbols for %d colours", len(seen), len(palette))
	}
	many := Series{Mark: Dots}
	for i := range 12000 {
		many.Add(float64(i), float64(i*i))
	}
	var b bytes.Buffer
	if err := NewFigure("", "", "", Axis{}, Axis{}, many).WriteSVG(&b); err != nil ||
		strings.Count(b.String(), "<path d=\"M") > mostPoints {
		t.Errorf("%v: %d symbols", err, strings.Count(b.String(), "<path d=\"M"))
	}
}

// TestDoubts: rows of cross-validation are worst by the least probability of their own class.
func TestDoubts(t *testing.T) {
	labels := &Points{Target: Target{Numbers: Numbers{1, -1}},
		Probability: Probability{Positive: Numbers{0.9, 0.3}}}
	classes := &Points{Target: Target{Classes: []string{"a", "b"}},
		Probability: Probability{Of: map[string]Numbers{"a": {0.9, 0.7}, "b": {0.1, 0.3}}}}
	for _, c := range []struct {
		of   *Points
		want [2]float64
	}{{labels, [2]float64{0.1, 0.3}}, {classes, [2]float64{0.1, 0.7}}} {
		got := c.of.doubts()
		if len(got) != 2 || math.Abs(got[0]-c.want[0])+math.Abs(got[1]-c.want[1]) > 1e-12 {
			t.Errorf("%v, want %v", got, c.want)
		}
	}
	if got := (&Points{Target: Target{Classes: []string{"a"}}}).doubts(); got != nil {
		t.Errorf("%v without probabilities", got)
	}
}
