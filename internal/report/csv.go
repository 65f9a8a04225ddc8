package report

import (
	"encoding/csv"
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
	if v-v != 0 { // NaN, Inf
		return ""
	}
	return strconv.FormatFloat(float64(v), 'g', -1, 64)
}
