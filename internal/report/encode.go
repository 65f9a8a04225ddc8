package report

import (
	"bytes"
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

// writeCSV writes a table with the names of the columns as first row.
func writeCSV(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }

// WriteRows writes structs as lines: a column per field, also those that a document omits; the names of a
// nested struct's fields have its name as a prefix.
func WriteRows[T any](w io.Writer, rows []T) error { return writeCSV(w, table(rows)) }

// table has the names of the fields above the rows.
func table[T any](rows []T) [][]string {
	names, _ := flatten("", reflect.ValueOf(*new(T)))
	return append([][]string{names}, each(rows, func(row T) (cells []string) {
		_, values := flatten("", reflect.ValueOf(row))
		for _, v := range values {
			cells = append(cells, cell(v))
		}
		return cells
	})...)
}

// flatten lists the fields of a struct by their names in JSON, those of nested structs with a prefix.
func flatten(prefix string, v reflect.Value) (names []string, values []reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() != reflect.Struct {
			names, values = append(names, prefix+name), append(values, v.Field(i))
			continue
		}
		inner, of := flatten(either(f.Anonymous, prefix, prefix+name+"_"), v.Field(i))
		names, values = append(names, inner...), append(values, of...)
	}
	return names, values
}

// cell is a value with all its digits, empty for an unknown number.
func cell(v reflect.Value) string {
	switch {
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
const Schema = 3

// release is the version of the program: that of the next release, with -dev until then.
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

// joinLines puts a list on one line.
func joinLines(list []byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(bytes.Fields(list[1:len(list)-1]), []byte(" ")), []byte("]"))
}
