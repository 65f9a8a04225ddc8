package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

// Page is a result as one self-contained HTML file: figures are in it, and
// nothing is fetched from elsewhere.
type Page struct {
	Lead     []string   // what came out, in a sentence or two
	Command  string     // what computes it again
	Answers  []Document // in full; the first one names the page
	Figures  []*Figure
	Warnings []string
	Files    []string // names of files beside the page that hold the numbers
	Machine  *Machine // what computed it
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"svg": inlineSVG, "title": func(p *Page) string { return p.Answers[0].document().title },
	"blocks": func(d Document) []block { return d.document().blocks },
}).Parse(pageText))

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, p) }

// inlineSVG is the figure as an element of a page: without the XML prologue, and
// as wide as the page allows.
func inlineSVG(f *Figure) (template.HTML, error) {
	var b bytes.Buffer
	if err := f.Write(&b, "svg"); err != nil {
		return "", fmt.Errorf("figure %s: %w", f.Name, err)
	}
	_, element, ok := bytes.Cut(b.Bytes(), []byte("<svg"))
	if !ok {
		return "", fmt.Errorf("figure %s: no SVG element was drawn", f.Name)
	}
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="%s"%s`, template.HTMLEscapeString(f.Title),
		element)), nil
}
