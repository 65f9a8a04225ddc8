package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bootbench/internal/null"
)

// writeCSV writes a table, its first row the names of the columns.
func writeCSV(w io.Writer, rows [][]string) error { return csv.NewWriter(w).WriteAll(rows) }

// Name is the name of a row as a cell, or its number from 1.
func (p *Points) Name(row int) string {
	if p.Names != nil {
		return textCell(p.Names[row])
	}
	return strconv.Itoa(row + 1)
}

// table has a row per example or new input below the names of the columns: its name or number, and the lists
// that there are.
func (p *Points) table(format func(float64) string) [][]string {
	names, lists := []string{"row"}, []null.Floats{}
	for _, f := range fieldsOf("", reflect.TypeFor[Points](), nil) {
		list, ok := reflect.ValueOf(p).Elem().FieldByIndex(f.index).Interface().(null.Floats)
		if ok && len(list) > 0 {
			names, lists = append(names, f.name), append(lists, list)
		}
	}
	for k, list := range p.Quantiles {
		names, lists = append(names, fmt.Sprintf("q%v", p.QuantileLevels[k])), append(lists, list)
	}
	if p.Class != nil {
		names = append(names, "class")
	}
	rows := [][]string{names}
	for i := range max(len(p.Mean), len(p.Prediction)) {
		row := []string{p.Name(i)}
		for _, list := range lists {
			row = append(row, format(list[i]))
		}
		if p.Class != nil {
			row = append(row, textCell(p.Class[i]))
		}
		rows = append(rows, row)
	}
	return rows
}

// WriteCSV writes one line per example or new input. What is not known is an empty cell.
func (p *Points) WriteCSV(w io.Writer) error { return writeCSV(w, p.table(numberCell[float64])) }

// WriteCSV writes one line per ratio, the points left out.
func (c *Curve) WriteCSV(w io.Writer) error {
	type line struct {
		Ratio    float64 `json:"ratio"`
		Distinct float64 `json:"distinct"`
		Errors
		Convergence
		SolveS    float64    `json:"solve_s"`
		Refined   null.Float `json:"refined"` // NaN: not refined
		RefinedSE null.Float `json:"refined_se"`
	}
	var rows []line
	for _, e := range c.Results {
		row := line{e.Ratio, e.Distinct, e.Errors, e.Convergence, e.Time.Solve, null.Float(math.NaN()),
			null.Float(math.NaN())}
		if r := e.Refined; r != nil {
			row.Refined, row.RefinedSE = r.TestError, r.SE
		}
		rows = append(rows, row)
	}
	return WriteRows(w, rows)
}

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
