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
)

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
