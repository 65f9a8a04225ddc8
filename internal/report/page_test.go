package report

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// TestPage: a page is well-formed, holds every figure, line and cell, escapes
// what users name, and asks for nothing from elsewhere.
func TestPage(t *testing.T) {
	e := &Answer{Subject: Subject{Data: "<b>&.csv", N: 2, Loss: "square"}, Command: "estimate",
		Quote: &Quote{Error: 1.5625, ErrorSE: 0.1}, TestLoss: "square", Errors: &Errors{},
		TestError:   NumberOf(1.5625),
		BaggedError: NumberOf(1), Resampling: &Resampling{},
		Points: &Points{Mean: []float64{1, 2}, Variance: []float64{1, 4}, Error: []float64{0.5, 2},
			Target: Target{Numbers: []float64{1, 3}}}}
	e.Warnings = []string{"careful <now>"}
	p := Page{Sheet: NewSheet(e, false), Command: "bootbench estimate '<b>&.csv'",
		Files: []string{"result.json"}, Machine: &Machine{}}
	var b bytes.Buffer
	if err := p.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"careful &lt;now&gt;", "&lt;b&gt;&amp;.csv",
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
		if found != `href="data:,"` && found != `href="result.json"` {
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

// TestFigureCSV: every number of every series stands in the file, what is not finite as an empty cell.
func TestFigureCSV(t *testing.T) {
	f := Figure{Panels: []Panel{
		{Series: []Series{{Label: "a", X: []float64{1, 2}, Y: []float64{0.1, math.NaN()},
			Err: []float64{0.5}}}},
		{Series: []Series{{Label: "single", X: []float64{3}, Y: []float64{4}}}},
	}}
	var b bytes.Buffer
	if err := f.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	got := testutil.Must(csv.NewReader(&b).ReadAll())(t)
	want := [][]string{{"panel", "series", "x", "y", "error"}, {"1", "a", "1", "0.1", "0.5"},
		{"1", "a", "2", "", ""}, {"2", "single", "3", "4", ""}}
	for i, row := range want {
		if i >= len(got) || strings.Join(got[i], ",") != strings.Join(row, ",") {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestRoundTicks: marks are round, in range, and a handful.
func TestRoundTicks(t *testing.T) {
	for _, r := range [][2]float64{{0, 1}, {-3, 8.2}, {14.2, 39.7}, {0.0303, 0.0899}, {1e-7, 1.5e-7},
		{0, 506}} {
		ticks := roundTicks(r[0], r[1])
		if len(ticks) < 3 || len(ticks) > 8 {
			t.Errorf("%v: %d ticks", r, len(ticks))
		}
		for _, k := range ticks {
			if k.Value < r[0] || k.Value > r[1]*(1+1e-9) || len(k.Label) > 8 {
				t.Errorf("%v: tick %v %q", r, k.Value, k.Label)
			}
		}
	}
}
