package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// Page is a result as one self-contained HTML file: figures are in it, and
// nothing is fetched from elsewhere.
type Page struct {
	Title    string
	Lead     []string   // what came out, in a sentence or two
	Command  string     // what computes it again
	Answers  []Document // in full
	Figures  []*Figure
	Warnings []string
	Files    []string // names of files beside the page that hold the numbers
	Machine  Machine  // what computed it
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageView is a Page in the form that the template takes.
type pageView struct {
	Page
	Figures []figureView
	Blocks  []blockView
	Machine []blockView
}

type figureView struct {
	Name, Title, Caption string
	SVG                  template.HTML
	Wide                 bool
}

// blockView is a run of labelled lines, a table, or a paragraph.
type blockView struct {
	Lines [][2]string
	Head  []cellView
	Rows  [][]cellView
	Text  string
	Many  bool // columns: narrow ones
}

type cellView struct {
	Text string
	Left bool
}

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error {
	view := pageView{Page: *p, Machine: p.Machine.document().views()}
	for _, a := range p.Answers {
		view.Blocks = append(view.Blocks, a.document().views()...)
	}
	for _, f := range p.Figures {
		svg, err := inlineSVG(f)
		if err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
		view.Figures = append(view.Figures, figureView{f.Name, f.Title, f.Caption, svg,
			len(f.legible().Panels) > 1})
	}
	return pageTemplate.Execute(w, view)
}

// inlineSVG is the figure as an element of a page: without the XML prologue, and
// as wide as the page allows.
func inlineSVG(f *Figure) (template.HTML, error) {
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		return "", err
	}
	text := b.String()
	start := strings.Index(text, "<svg")
	if start < 0 {
		return "", fmt.Errorf("no SVG element was drawn")
	}
	label := template.HTMLEscapeString(f.Title)
	return template.HTML(`<svg role="img" aria-label="` + label + `"` + text[start+len("<svg"):]), nil
}

// views joins neighbouring lines into lists.
func (d *document) views() []blockView {
	var views []blockView
	for _, b := range d.blocks {
		switch last := len(views) - 1; {
		case b.columns != nil:
			views = append(views, tableView(b))
		case b.label != "" && last >= 0 && views[last].Lines != nil:
			views[last].Lines = append(views[last].Lines, [2]string{b.label, b.text})
		case b.label != "":
			views = append(views, blockView{Lines: [][2]string{{b.label, b.text}}})
		case b.text != "":
			views = append(views, blockView{Text: b.text})
		}
	}
	return views
}

func tableView(b block) blockView {
	cells := func(texts []string) []cellView {
		row := make([]cellView, len(texts))
		for i, t := range texts {
			row[i] = cellView{t, b.columns[i].left}
		}
		return row
	}
	v := blockView{Head: cells(heads(b.columns)), Many: len(b.columns) > 11}
	for _, r := range b.rows {
		v.Rows = append(v.Rows, cells(r))
	}
	return v
}
