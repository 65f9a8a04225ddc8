// Package report writes results as JSON documents, text tables, CSV and figures. It computes only summaries.
package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is an answer as labelled lines, tables and paragraphs, in order. It is written as text, or as a
// part of a page.
type document struct {
	Title  string
	Lead   string // the answer in a sentence, first on a page
	Blocks []block
}

// block is a run of labelled lines, a table (it has heads), or a paragraph, "" for a gap.
type block struct {
	Lines [][2]string
	Table
	Text string
}

// Table has a row of cells below its heads.
type Table struct {
	Heads []head
	Rows  [][]string
}

func (t *Table) names() (names []string) {
	for _, h := range t.Heads {
		names = append(names, h.Name())
	}
	return names
}

// head is the head of a column. Cells are aligned left if it begins with "<", else right.
type head string

// Left reports whether cells are aligned left.
func (h head) Left() bool { return strings.HasPrefix(string(h), "<") }

// Name is the displayed name.
func (h head) Name() string { return strings.TrimPrefix(string(h), "<") }

// line adds a labelled line, unless its text is empty.
func (d *document) line(label, format string, args ...any) {
	text, last := fmt.Sprintf(format, args...), len(d.Blocks)-1
	if text == "" {
		return
	}
	if last < 0 || d.Blocks[last].Lines == nil {
		d.Blocks, last = append(d.Blocks, block{}), last+1
	}
	d.Blocks[last].Lines = append(d.Blocks[last].Lines, [2]string{label, text})
}

func (d *document) paragraph(text string) { d.Blocks = append(d.Blocks, block{Text: text}) }

func (d *document) gap() { d.paragraph("") }

// table adds a table, with a gap to what is above it.
func (d *document) table(heads []head, rows [][]string) {
	if d.Blocks != nil {
		d.gap()
	}
	d.Blocks = append(d.Blocks, block{Table: Table{heads, rows}})
}

// Result is the result of a command. Its full document has all its numbers.
type Result interface{ document(full bool) *document }

// more is the full document of a result, nil if it has no more than the short one.
func more(a Result) *document {
	if d := a.document(true); len(d.Blocks) > len(a.document(false).Blocks) {
		return d
	}
	return nil
}

// WriteText writes a result for a terminal, with all its numbers if verbose.
func WriteText(w io.Writer, a Result, verbose bool) error { return a.document(verbose).writeText(w) }

func (d *document) writeText(w io.Writer) error {
	var text strings.Builder
	for _, b := range d.Blocks {
		for _, l := range b.Lines {
			fold(&text, fmt.Sprintf("%-15s ", l[0]), l[1], either(l[0] == repeated, " \\", ""))
		}
		switch {
		case b.Heads != nil:
			b.writeTable(&text)
		case b.Lines == nil:
			fold(&text, "", b.Text, "")
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// repeated is the label of a command line, whose folds are those of a shell.
const repeated = "to repeat"

// columns is the width of a screen: a longer text is folded between words.
const columns = 100

// fold writes a text after a prefix. Its further lines are indented as far, and all but the last have an end.
func fold(out *strings.Builder, prefix, text, end string) {
	indent, line := strings.Repeat(" ", utf8.RuneCountInString(prefix)), prefix
	for i, word := range strings.Split(text, " ") {
		if i > 0 && utf8.RuneCountInString(line+" "+word+end) > columns {
			fmt.Fprintln(out, line+end)
			line = indent + word
		} else {
			line += either(i > 0, " ", "") + word
		}
	}
	fmt.Fprintln(out, strings.TrimRight(line, " "))
}

// writeTable writes a table with columns as wide as their heads and their widest cells. Columns that do not
// fit on the screen follow below, beside the first column again.
func (b *block) writeTable(text *strings.Builder) {
	lines, widths := append([][]string{b.names()}, b.Rows...), make([]int, len(b.Heads))
	wide := 0
	for i, h := range b.Heads {
		for _, cells := range lines {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		if wide += widths[i] + 2; wide-2 > columns && i > 1 && !b.Heads[len(b.Heads)-1].Left() {
			b.part(0, i).writeTable(text)
			fmt.Fprintln(text)
			b.part(i, len(b.Heads)).writeTable(text)
			return
		}
		widths[i] *= either(h.Left(), -1, 1)
	}
	for _, cells := range lines {
		line, last := "", len(cells)-1
		for i, cell := range cells[:last] {
			line += fmt.Sprintf("%*s  ", widths[i], cell)
		}
		if !b.Heads[last].Left() {
			cells[last] = fmt.Sprintf("%*s", widths[last], cells[last])
		}
		if utf8.RuneCountInString(line) < columns*3/4 {
			fold(text, line, cells[last], "")
		} else {
			fmt.Fprintln(text, strings.TrimRight(line+cells[last], " "))
		}
	}
}

// part is the table's columns from one to before another, and the first.
func (t *Table) part(from, to int) *block {
	first := min(from, 1)
	rows := each(t.Rows, func(row []string) []string { return slices.Concat(row[:first], row[from:to]) })
	return &block{Table: Table{slices.Concat(t.Heads[:first], t.Heads[from:to]), rows}}
}

func each[T, R any](list []T, image func(T) R) (images []R) {
	for _, t := range list {
		images = append(images, image(t))
	}
	return images
}

// WriteCSV writes the table with the names of its columns as first line.
func (t *Table) WriteCSV(w io.Writer) error {
	return csv.NewWriter(w).WriteAll(append([][]string{t.names()}, t.Rows...))
}

// TableOf has structs as rows and their fields as columns: all fields, also those that a document omits, or
// the chosen ones, "name=field" for a column with another name than its field. Cells without a value are
// empty.
func TableOf[T any](rows []T, chosen ...string) *Table {
	of, t, at := reflect.TypeFor[T](), &Table{}, []int{}
	all := fields("", of, reflect.Value{})
	if chosen == nil {
		for _, f := range all {
			chosen = append(chosen, f.name)
		}
	}
	for _, column := range chosen {
		name, path, _ := strings.Cut(column, "=")
		t.Heads = append(t.Heads, head(name))
		at = append(at, slices.IndexFunc(all, func(f field) bool { return f.name == cmp.Or(path, name) }))
	}
	t.Rows = each(rows, func(row T) (cells []string) {
		all := fields("", of, reflect.ValueOf(row))
		for _, i := range at {
			cells = append(cells, cell(all[i].value))
		}
		return cells
	})
	return t
}

// field is a field of a struct or of a struct in it, by their names in JSON. Fields behind a nil pointer have
// no value.
type field struct {
	name  string
	value reflect.Value
}

// fields lists the fields of a struct, and instead of a struct in it the fields of the inner struct.
func fields(prefix string, of reflect.Type, v reflect.Value) (all []field) {
	for i := range of.NumField() {
		f, inner := of.Field(i), reflect.Value{}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if v.IsValid() {
			inner = v.Field(i)
		}
		if f.Type.Kind() == reflect.Pointer {
			f.Type, inner = f.Type.Elem(), reflect.Indirect(inner)
		}
		if f.Type.Kind() == reflect.Struct {
			all = append(all, fields(either(f.Anonymous, prefix, prefix+name+"_"), f.Type, inner)...)
		} else {
			all = append(all, field{prefix + name, inner})
		}
	}
	return all
}

// cell is a value with all its digits, empty for an unknown number.
func cell(v reflect.Value) string {
	switch {
	case !v.IsValid():
		return ""
	case v.CanFloat():
		return numberCell(v.Float())
	case v.Kind() == reflect.String:
		return textCell(v.String())
	}
	return fmt.Sprint(v.Interface())
}

// textCell puts an apostrophe before a text that a spreadsheet would read as a formula. Numbers are
// unchanged.
func textCell(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return "'" + text
}

func numberCell[T ~float64](v T) string {
	return either(v-v == 0, strconv.FormatFloat(float64(v), 'g', -1, 64), "") // NaN, Inf
}

// Schema is the version of the documents' keys, which doc/json.md lists. Removing a key or changing its
// meaning increases it; new keys do not.
const Schema = 4

// release is the version of the program; until its release it ends with -dev.
const release = "0.1.0-dev"

// Version is the version of the program, and the revision after a + for a build from a repository.
func Version() string {
	revision, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = "+" + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = ".modified"
			}
		}
	}
	return release + revision + modified
}

// WriteDocument writes an answer as one indented JSON document and a line end. Lists of numbers are on one
// line, and the first keys of an object are "schema" and "version".
func WriteDocument(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if keys, ok := bytes.CutPrefix(text, []byte("{")); ok {
		text = append(fmt.Appendf(nil, `{"schema":%d,"version":%q,`, Schema, Version()), keys...)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	_, err = w.Write(append(numberList.ReplaceAllFunc(indented.Bytes(), joinLines), '\n'))
	return err
}

// numberList matches an indented list without texts, lists and objects: texts in JSON have no line ends.
var numberList = regexp.MustCompile(`\[\n[^]["{]*\]`)

func joinLines(list []byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(bytes.Fields(list[1:len(list)-1]), []byte(" ")), []byte("]"))
}
