package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/parquet-go/parquet-go"
	logical "github.com/parquet-go/parquet-go/format"
)

// pandasIndex is the column in which pandas writes the index of a table that has one.
const pandasIndex = "__index_level_0__"

// readParquet reads a Parquet file as a table: a flat schema of numbers, booleans (the texts False
// and True, as pandas writes them) and texts, nulls missing. Of the columns only those
// that are used are read, one after the other.
func readParquet(f *source, opt Options, plan func(t *table) error) (t *table, err error) {
	defer func() {
		if p := recover(); p != nil { // the library trusts what pages say of themselves
			t, err = nil, fmt.Errorf("damaged Parquet file: %v", p)
		}
	}()
	file, err := parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file, or damaged: %v", err)
	}
	r := &parquetReader{table: &table{file: f.name, part: f.name, opt: opt.bounded(), array: true}, file: file}
	return r.table, r.readColumns(plan)
}

// parquetReader fills a table.
type parquetReader struct {
	*table
	file  *parquet.File
	nodes []*parquet.Column // of the table's columns
	total int               // rows that the file announces
}

func (r *parquetReader) readColumns(plan func(t *table) error) error {
	if err := r.findColumns(); err != nil {
		return err
	}
	if err := plan(r.table); err != nil {
		return err
	}
	r.use()
	rows := r.file.NumRows()
	if rows < 1 || rows > math.MaxInt32 {
		return fmt.Errorf("%d rows hold no examples", rows)
	}
	if err := r.opt.checkSize(int(rows), r.features); err != nil {
		return err
	}
	r.total = int(rows)
	k := 0
	for j := range r.columns {
		c := &r.columns[j]
		if c.role == unused || c.role == asNothing {
			continue
		}
		if err := r.readColumn(c, r.nodes[j], k); err != nil {
			return inColumn(c.name, err)
		}
		if c.role != asRowName {
			k++
		}
	}
	r.noteOdd()
	return nil
}

// findColumns lists the columns of the schema, pandas' index first and without a name, as CSV
// has it.
func (r *parquetReader) findColumns() error {
	var names []string
	for _, node := range r.file.Root().Columns() {
		if node.Name() == pandasIndex {
			names, r.nodes = append([]string{""}, names...), append([]*parquet.Column{node}, r.nodes...)
			continue
		}
		names, r.nodes = append(names, node.Name()), append(r.nodes, node)
	}
	if len(names) == 0 {
		return errors.New("the file has no columns")
	}
	return r.nameColumns(names)
}

// inColumn places an error.
func inColumn(name string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Column = name
		return e
	}
	return &Error{Column: name, Err: err}
}

// readColumn reads the cells of a column, the k-th used, of all row groups.
func (r *parquetReader) readColumn(c *column, node *parquet.Column, k int) error {
	decode, err := r.decoder(c, node)
	if err != nil {
		return err
	}
	pages, row := node.Pages(), 0 // of all row groups
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		switch {
		case err == io.EOF && row != r.total:
			return fmt.Errorf("%d cells, but the file has %d rows", row, r.total)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		row, err = r.readPage(c, k, page, row, decode)
		parquet.Release(page)
		if err != nil {
			return err
		}
	}
}

// readPage reads the cells of a page that begins after a row.
func (r *parquetReader) readPage(c *column, k int, page parquet.Page, row int, decode decoder) (int, error) {
	values, buffer := page.Values(), make([]parquet.Value, 1024)
	for {
		n, err := values.ReadValues(buffer)
		for _, v := range buffer[:n] {
			if row++; row > r.total {
				return row, fmt.Errorf("more cells than the %d rows of the file", r.total)
			}
			if err := r.put(c, k, row, v, decode); err != nil {
				return row, &Error{Row: row, Err: err}
			}
		}
		if err == io.EOF {
			return row, nil
		}
		if err != nil {
			return row, err
		}
	}
}

// put takes a cell of a row, which counts from 1.
func (r *parquetReader) put(c *column, k, row int, v parquet.Value, decode decoder) error {
	cell := math.NaN()
	switch {
	case !v.IsNull():
		var err error
		if cell, err = decode(v); err != nil {
			return err
		}
	case c.role == asRowName:
		r.rowNames = append(r.rowNames, "")
	}
	if c.role == asRowName {
		return nil
	}
	if row > r.rows() {
		r.cells.add()
	}
	r.cells.row(row - 1)[k] = cell
	if math.IsNaN(cell) {
		c.miss(row-1, place{r.part, row})
		return nil
	}
	return checkFinite(cell)
}

// decoder makes a cell of a value.
type decoder func(v parquet.Value) (float64, error)

// decoder is that of a column, texts as those of a text file.
func (r *parquetReader) decoder(c *column, node *parquet.Column) (decoder, error) {
	number, text := decoders(node)
	switch {
	case text == nil && number == nil:
		return nil, fmt.Errorf("it holds %s, which are neither numbers nor texts: --drop leaves it out",
			describe(node))
	case c.role == asRowName:
		return func(v parquet.Value) (float64, error) {
			if text != nil {
				r.addRowName(text(v))
			} else {
				r.addRowName(formatNumber(number(v)))
			}
			return 0, r.checkSize()
		}, nil
	case number != nil && c.kind == texts:
		text = func(v parquet.Value) string { return formatNumber(number(v)) }
	case number != nil:
		c.kind = numbers
		return func(v parquet.Value) (float64, error) {
			x := number(v)
			if math.Abs(x) >= 1<<53 && v.Kind() == parquet.Int64 {
				c.noteOdd(v.String(), x)
			}
			return x, nil
		}, nil
	}
	return func(v parquet.Value) (float64, error) {
		cell, err := r.value(c, text(v), 0)
		if err == nil {
			err = r.checkSize()
		}
		return cell, err
	}, nil
}

// decoders are how a value is a number, or a text; both are nil for what is neither.
func decoders(node *parquet.Column) (number func(parquet.Value) float64, text func(parquet.Value) string) {
	if !node.Leaf() || node.Repeated() {
		return nil, nil
	}
	is := node.Type().LogicalType()
	if is == nil {
		is = &logical.LogicalType{}
	}
	unsigned := is.Integer != nil && !is.Integer.IsSigned
	scale := 1.0
	if is.Decimal != nil {
		scale = math.Pow10(int(is.Decimal.Scale))
	}
	times := is.Date != nil || is.Time != nil || is.Timestamp != nil
	switch kind := node.Type().Kind(); {
	case times:
	case kind == parquet.Boolean:
		return nil, func(v parquet.Value) string {
			if v.Boolean() {
				return "True"
			}
			return "False"
		}
	case kind == parquet.Int32 && unsigned:
		number = func(v parquet.Value) float64 { return float64(uint32(v.Int32())) }
	case kind == parquet.Int32:
		number = func(v parquet.Value) float64 { return float64(v.Int32()) / scale }
	case kind == parquet.Int64 && unsigned:
		number = func(v parquet.Value) float64 { return float64(uint64(v.Int64())) }
	case kind == parquet.Int64:
		number = func(v parquet.Value) float64 { return float64(v.Int64()) / scale }
	case kind == parquet.Float:
		number = func(v parquet.Value) float64 { return float64(v.Float()) }
	case kind == parquet.Double:
		number = parquet.Value.Double
	case kind == parquet.ByteArray && is.Decimal == nil && is.Bson == nil:
		text = func(v parquet.Value) string { return strings.TrimSpace(string(v.ByteArray())) }
	}
	return number, text
}

// describe says what a column that cannot be read holds.
func describe(node *parquet.Column) string {
	if !node.Leaf() || node.Repeated() {
		return "lists or structures"
	}
	return "values of type " + node.Type().String()
}
