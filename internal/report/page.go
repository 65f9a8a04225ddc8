package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

// Page is a result as one self-contained HTML file: figures are in it, and nothing is fetched from elsewhere.
type Page struct {
	Command  string   // what computes it again
	Answer   Document // names the page, and its lead begins it
	Worst    *Worst   // nil: not known
	All      Document // the answer with all numbers, which are folded away; nil: Answer has all
	Figures  []*Figure
	Warnings []string
	Files    []string // names of files beside the page that hold the numbers
	Machine  *Machine // what computed it
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg": inlineSVG, "title": func(p *Page) string { return p.Answer.document().title },
	"lead":   func(p *Page) string { return p.Answer.document().lead },
	"blocks": func(d Document) []block { return d.document().blocks },
}).Parse(pageText))

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, p) }

// inlineSVG is the figure as an element of a page.
func inlineSVG(f *Figure) (template.HTML, error) {
	var b strings.Builder
	err := f.WriteSVG(&b)
	return template.HTML(b.String()), err
}
