package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"
	logical "github.com/parquet-go/parquet-go/format"
)

// pandasIndex is the column in which pandas writes the index of a table that has one.
const pandasIndex = "__index_level_0__"

// readParquet reads a Parquet file as a table: a flat schema of numbers, booleans (the texts False
// and True, as pandas writes them) and texts, nulls missing. Of the columns only those
// that are used are read, one after the other.
func readParquet(f *source, opt Options) (*Set, error) {
	t, err := readParquetTable(f, opt, (*table).planTraining)
	if err != nil {
		return nil, err
	}
	return t.set()
}

// readInputsParquet reads new inputs for a training set.
func readInputsParquet(f *source, train *Set, opt Options) (*Inputs, error) {
	t, err := readParquetTable(f, opt, func(t *table) error { return t.planInputs(train) })
	if err != nil {
		return nil, err
	}
	return t.inputs(train)
}

func readParquetTable(f *source, opt Options, plan func(t *table) error) (t *table, err error) {
	t = &table{file: f.name, opt: opt, array: true, byColumn: true}
	defer func() {
		if p := recover(); p != nil { // the library trusts what pages say of themselves
			err = fmt.Errorf("damaged Parquet file: %v", p)
		}
		if err != nil {
			t, err = nil, t.bad(err)
		}
	}()
	info, err := f.file.Stat()
	if err != nil {
		return t, err
	}
	file, err := parquet.OpenFile(f.file, info.Size(), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return t, fmt.Errorf("not a Parquet file, or damaged: %v", err)
	}
	r := &parquetReader{table: t, file: file}
	if err := r.readColumns(plan); err != nil {
		return t, err
	}
	return t, nil
}

// parquetReader fills a table.
type parquetReader struct {
	*table
	file  *parquet.File
	nodes []*parquet.Column // of the table's columns
}

func (r *parquetReader) readColumns(plan func(t *table) error) error {
	if err := r.nameColumns(); err != nil {
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
	r.rows = int(rows)
	if err := r.checkSize(); err != nil {
		return err
	}
	for j := range r.columns {
		c := &r.columns[j]
		if c.role == unused || c.role == asNothing {
			continue
		}
		if err := r.readColumn(c, r.nodes[j]); err != nil {
			return inColumn(c.name, err)
		}
	}
	return nil
}

// nameColumns lists the columns of the schema, pandas' index first and without a name, as CSV
// has it.
func (r *parquetReader) nameColumns() error {
	var cells [][]byte
	for _, node := range r.file.Root().Columns() {
		if node.Name() == pandasIndex {
			cells, r.nodes = append([][]byte{nil}, cells...), append([]*parquet.Column{node}, r.nodes...)
			continue
		}
		cells, r.nodes = append(cells, []byte(node.Name())), append(r.nodes, node)
	}
	if len(cells) == 0 {
		return errors.New("the file has no columns")
	}
	names, err := headerNames(cells)
	for _, name := range names {
		r.columns = append(r.columns, column{name: name})
		r.memory += textBytes(name)
	}
	return err
}

// inColumn places an error.
func inColumn(name string, err error) error {
	if e, ok := err.(*Error); ok {
		e.Column = name
		return e
	}
	return &Error{Column: name, Err: err}
}

// readColumn appends the cells of a column, of all row groups.
func (r *parquetReader) readColumn(c *column, node *parquet.Column) error {
	decode, err := r.decoder(c, node)
	if err != nil {
		return err
	}
	row := 0
	for _, group := range r.file.RowGroups() {
		pages := group.ColumnChunks()[node.Index()].Pages()
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				break
			}
			if err == nil {
				row, err = r.readPage(c, page, row, decode)
				parquet.Release(page)
			}
			if err != nil {
				pages.Close()
				return err
			}
		}
		pages.Close()
	}
	if row != r.rows {
		return fmt.Errorf("%d cells, but the file has %d rows", row, r.rows)
	}
	return nil
}

// readPage appends the cells of a page that begins after a row.
func (r *parquetReader) readPage(c *column, page parquet.Page, row int, decode func(v parquet.Value,
	row int) (float64, error)) (int, error) {
	values, buffer := page.Values(), make([]parquet.Value, 1024)
	for {
		n, err := values.ReadValues(buffer)
		for _, v := range buffer[:n] {
			if row++; row > r.rows {
				return row, fmt.Errorf("more cells than the %d rows of the file", r.rows)
			}
			cell := math.NaN()
			if !v.IsNull() {
				var err error
				if cell, err = decode(v, row); err != nil {
					return row, &Error{Row: row, Err: err}
				}
			} else if c.role == asRowName {
				r.rowNames = append(r.rowNames, "")
			}
			if c.role == asRowName {
				continue
			}
			if math.IsNaN(cell) {
				c.miss(row)
			} else if err := checkFinite(cell); err != nil {
				return row, &Error{Row: row, Err: err}
			}
			r.cells.append(cell)
		}
		if err == io.EOF {
			return row, nil
		}
		if err != nil {
			return row, err
		}
	}
}

// decoder is how the values of a column become cells, texts as those of a text file.
func (r *parquetReader) decoder(c *column, node *parquet.Column) (func(v parquet.Value, row int) (float64,
	error), error) {
	number, text := decoders(node)
	switch {
	case text == nil && number == nil:
		return nil, fmt.Errorf("it holds %s, which are neither numbers nor texts: --drop leaves it out",
			describe(node))
	case c.role == asRowName:
		return func(v parquet.Value, _ int) (float64, error) {
			if text != nil {
				r.rowNames = append(r.rowNames, utf8Text(text(v)))
			} else {
				r.rowNames = append(r.rowNames, formatNumber(number(v)))
			}
			r.memory += textBytes(r.rowNames[len(r.rowNames)-1])
			return 0, r.checkSize()
		}, nil
	case number != nil && c.kind == texts:
		text = func(v parquet.Value) []byte { return []byte(formatNumber(number(v))) }
	case number != nil:
		c.kind = numbers
		return func(v parquet.Value, _ int) (float64, error) { return number(v), nil }, nil
	}
	return func(v parquet.Value, row int) (float64, error) {
		cell, err := r.value(c, text(v), row)
		if err == nil {
			err = r.checkSize()
		}
		return cell, err
	}, nil
}

// decoders are how a value is a number, or a text; both are nil for what is neither.
func decoders(node *parquet.Column) (number func(parquet.Value) float64, text func(parquet.Value) []byte) {
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
		return nil, func(v parquet.Value) []byte {
			if v.Boolean() {
				return []byte("True")
			}
			return []byte("False")
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
		text = parquet.Value.ByteArray
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
