package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
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
