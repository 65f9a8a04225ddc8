package report

import (
	_ "embed"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"bootbench/doc"
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
	"document": Result.document, "more": more, "svg": inlineSVG, "kinds": kindsOf, "about": explained,
}).Parse(pageText))

// WriteHTML writes the page.
func (p *Page) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, p) }

func inlineSVG(f *Figure) (template.HTML, error) {
	var b strings.Builder
	err := f.write(&b, pageWidth, pageHeight)
	return template.HTML(b.String()), err
}

func kindsOf(checks Checks) (kinds []*Kind) {
	for _, k := range Kinds {
		if slices.ContainsFunc(checks, func(c Check) bool { return c.Code == k.Code }) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// explained is the paragraph of doc/checks.md on a kind of checks.
func explained(k *Kind) template.HTML {
	_, text, _ := strings.Cut(doc.Checks, "\n**"+k.Code)
	text, _, _ = strings.Cut("**"+k.Code+text, "\n\n")
	text = markdownLink.ReplaceAllString(template.HTMLEscapeString(text), "$1")
	text = markdownBold.ReplaceAllString(text, "<strong>$1</strong>")
	return template.HTML(markdownCode.ReplaceAllString(text, "<code>$1</code>"))
}

// The marks of Markdown that paragraphs on checks have.
var (
	markdownLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
	markdownBold = regexp.MustCompile(`\*\*(.*?)\*\*`)
	markdownCode = regexp.MustCompile("`([^`]*)`")
)
