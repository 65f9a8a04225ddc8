package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// writeCSV writes a table, its first row the names of the columns.
func writeCSV(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }

// WriteRows writes structs as lines: a column per field, whether a document would
// omit it or not, a struct's fields after its name.
func WriteRows[T any](w io.Writer, rows []T) error { return writeCSV(w, table(rows)) }

// table has the names of the fields above the rows.
func table[T any](rows []T) [][]string {
	fields := fieldsOf("", reflect.TypeFor[T](), nil)
	table := make([][]string, 1+len(rows))
	for _, f := range fields {
		table[0] = append(table[0], f.name)
		for i := range rows {
			table[i+1] = append(table[i+1], cell(reflect.ValueOf(rows[i]).FieldByIndex(f.index)))
		}
	}
	return table
}

// field is a value in a struct, by its name in JSON.
type field struct {
	name  string
	index []int // for reflect.Value.FieldByIndex
}

// fieldsOf lists the fields of a struct in order, those of structs in it after a prefix.
func fieldsOf(prefix string, t reflect.Type, at []int) (all []field) {
	for i := range t.NumField() {
		f, index := t.Field(i), append(slices.Clone(at), i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			all = append(all, fieldsOf(prefix, f.Type, index)...)
		case f.Type.Kind() == reflect.Struct:
			all = append(all, fieldsOf(prefix+name+"_", f.Type, index)...)
		default:
			all = append(all, field{prefix + name, index})
		}
	}
	return all
}

// cell is a value with all its digits, empty where a number is not known.
func cell(v reflect.Value) string {
	switch {
	case v.CanFloat():
		return numberCell(v.Float())
	case v.Kind() == reflect.String:
		return textCell(v.String())
	}
	return fmt.Sprint(v.Interface())
}

// textCell quotes a text that a spreadsheet would take for a formula: an apostrophe comes
// before it. Numbers stay as they are.
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

// Schema is the version of the documents' keys, which doc/json.md lists. A key that goes
// or changes its meaning raises it; new keys do not.
const Schema = 2

// WriteDocument writes an answer as one indented JSON document and a line end. A list of numbers
// stays on one line, and an object gets the key "schema" before its own.
func WriteDocument(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if keys, ok := bytes.CutPrefix(text, []byte("{")); ok {
		text = append(fmt.Appendf(nil, `{"schema":%d,`, Schema), keys...)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	_, err = w.Write(append(joinLines(indented.Bytes()), '\n'))
	return err
}

// joinLines puts lists of numbers on one line each. Texts in JSON have no line ends, so that a bracket before
// one opens a list.
func joinLines(text []byte) []byte {
	joined := make([]byte, 0, len(text))
	for {
		begin := bytes.Index(text, []byte("[\n")) + 1
		if begin == 0 {
			return append(joined, text...)
		}
		end := begin + bytes.IndexAny(text[begin:], `]["{`)
		joined = append(joined, text[:begin]...)
		if text[end] == ']' {
			joined = append(joined, bytes.Join(bytes.Fields(text[begin:end]), []byte(" "))...)
		} else {
			joined = append(joined, text[begin:end]...)
		}
		text = text[end:]
	}
}
