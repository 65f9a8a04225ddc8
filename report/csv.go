package report

import (
	"bootbench/internal/null"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// valueColumn is one named column of values.
type valueColumn struct {
	name   string
	values []float64
}

// lists are the columns that the points have.
func (p *Points) lists() []valueColumn {
	var kept []valueColumn
	for _, f := range fieldsOf("", reflect.TypeFor[Points](), nil) {
		values, ok := reflect.ValueOf(p).Elem().FieldByIndex(f.index).Interface().(null.Floats)
		if ok && len(values) > 0 {
			kept = append(kept, valueColumn{f.name, values})
		}
	}
	for k, values := range p.Quantiles {
		kept = append(kept, valueColumn{fmt.Sprintf("q%v", p.QuantileLevels[k]), values})
	}
	return kept
}

// count is the number of examples or new inputs.
func (p *Points) count() int { return max(len(p.Mean), len(p.Prediction)) }

// Name is the name of a row as a cell, or its number from 1.
func (p *Points) Name(row int) string {
	if p.Names != nil {
		return textCell(p.Names[row])
	}
	return strconv.Itoa(row + 1)
}

// WriteCSV writes one line per example or new input: its name or number, and the lists
// that there are. What is not known is an empty cell.
func (p *Points) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	lists := p.lists()
	record := []string{"row"}
	for _, l := range lists {
		record = append(record, l.name)
	}
	if p.Class != nil {
		record = append(record, "class")
	}
	out.Write(record)
	for i := range p.count() {
		record = append(record[:0], p.Name(i))
		for _, l := range lists {
			record = append(record, numberCell(l.values[i]))
		}
		if p.Class != nil {
			record = append(record, textCell(p.Class[i]))
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
}

// WriteCSV writes one line per ratio, the points left out.
func (c *Curve) WriteCSV(w io.Writer) error {
	type line struct {
		Ratio    float64 `json:"ratio"`
		Distinct float64 `json:"distinct"`
		Errors
		Convergence
		SolveS    float64 `json:"solve_s"`
		Refined   float64 `json:"refined"` // NaN: not refined
		RefinedSE float64 `json:"refined_se"`
	}
	var rows []line
	for _, e := range c.Results {
		row := line{e.Ratio, e.Distinct, e.Errors, e.Convergence, e.Time.Solve, math.NaN(), math.NaN()}
		if r := e.Refined; r != nil {
			row.Refined, row.RefinedSE = float64(r.TestError), float64(r.SE)
		}
		rows = append(rows, row)
	}
	return WriteRows(w, rows)
}

// WriteRows writes structs as lines: a column per field, whether a document would
// omit it or not, a struct's fields after its name.
func WriteRows[T any](w io.Writer, rows []T) error {
	out := csv.NewWriter(w)
	fields := fieldsOf("", reflect.TypeFor[T](), nil)
	record := make([]string, len(fields))
	for i, f := range fields {
		record[i] = f.name
	}
	out.Write(record)
	for _, row := range rows {
		for i, f := range fields {
			record[i] = cell(reflect.ValueOf(row).FieldByIndex(f.index))
		}
		out.Write(record)
	}
	out.Flush()
	return out.Error()
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
