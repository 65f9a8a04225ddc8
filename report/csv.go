package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"reflect"
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
	for _, f := range fieldsOf(reflect.ValueOf(*p)) {
		if values, ok := f.value.Interface().([]float64); ok {
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
			row.Refined, row.RefinedSE = r.TestError, r.SE
		}
		rows = append(rows, row)
	}
	return WriteRows(w, rows)
}

// WriteRows writes structs as lines: a column per field, whether a document would
// omit it or not, a struct's fields after its name.
func WriteRows[T any](w io.Writer, rows []T) error {
	out := csv.NewWriter(w)
	var zero T
	out.Write(columnNames("", reflect.ValueOf(zero)))
	for i := range rows {
		out.Write(cells(reflect.ValueOf(rows[i])))
	}
	out.Flush()
	return out.Error()
}

func columnNames(prefix string, v reflect.Value) []string {
	var names []string
	for _, f := range allFields(v) {
		if f.value.Kind() == reflect.Struct {
			names = append(names, columnNames(prefix+f.name+"_", f.value)...)
		} else {
			names = append(names, prefix+f.name)
		}
	}
	return names
}

func cells(v reflect.Value) []string {
	var texts []string
	for _, f := range allFields(v) {
		if f.value.Kind() == reflect.Struct {
			texts = append(texts, cells(f.value)...)
		} else {
			texts = append(texts, cell(f.value))
		}
	}
	return texts
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

func numberCell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
