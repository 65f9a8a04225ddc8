package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
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
