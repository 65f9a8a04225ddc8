package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
)

// Page is a result as one self-contained HTML file.
type Page struct {
	*Sheet
	Command string   // to repeat it
	Files   []string // names of files of numbers next to the page
	System  *System
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"document": Result.document, "more": more, "svg": inlineSVG,
}).Parse(pageText))

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, p) }

// inlineSVG is the figure as an element of a page.
func inlineSVG(f *Figure) (template.HTML, error) {
	var b strings.Builder
	err := f.WriteSVG(&b)
	return template.HTML(b.String()), err
}
