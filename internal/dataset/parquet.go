package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	logical "github.com/parquet-go/parquet-go/format"
)

// pandasIndex is the column in which pandas writes the index of a table that has one.
const pandasIndex = "__index_level_0__"

// parquetRows are the rows of a Parquet file: a flat schema of numbers, booleans (the texts False
// and True, as pandas writes them) and texts, nulls missing.
type parquetRows struct {
	head   header
	file   *parquet.File
	groups parquet.Rows // of all row groups
	leaves []leaf
	buffer []parquet.Row
	unread []parquet.Row // of the buffer
	number int
	cells  []cell
}

// leaf is a leaf of the schema: the column that its values belong to and what they are there, nil for neither
// numbers nor texts.
type leaf struct {
	column int
	decode func(v parquet.Value) cell
}

// openParquet reads the schema, pandas' index first and without a name, as CSV has it.
func openParquet(f *source) (*parquetRows, error) {
	file, err := parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file, or damaged: %v", err)
	}
	r := &parquetRows{head: header{array: true, refused: map[string]string{}}, file: file,
		groups: parquet.MultiRowGroup(file.RowGroups()...).Rows(),
		leaves: make([]leaf, len(file.Schema().Columns())), buffer: make([]parquet.Row, 64)}
	nodes := file.Root().Columns()
	if k := slices.IndexFunc(nodes, func(c *parquet.Column) bool { return c.Name() == pandasIndex }); k >= 0 {
		nodes = slices.Insert(slices.Delete(slices.Clone(nodes), k, k+1), 0, nodes[k])
	}
	for j, node := range nodes {
		name := strings.TrimSuffix(node.Name(), pandasIndex)
		r.head.names = append(r.head.names, name)
		decode := decoder(node)
		if decode == nil {
			r.head.refused[name] = describe(node)
			continue
		}
		r.leaves[node.Index()] = leaf{j, decode}
	}
	r.cells = make([]cell, len(nodes))
	if len(nodes) == 0 {
		return nil, errors.New("the file has no columns")
	}
	return r, nil
}

func (r *parquetRows) header() header { return r.head }

func (r *parquetRows) next() ([]cell, int, error) {
	for len(r.unread) == 0 {
		n, err := r.groups.ReadRows(r.buffer)
		r.unread = r.buffer[:n]
		switch {
		case err == io.EOF && n == 0 && int64(r.number) != r.file.NumRows():
			return nil, 0, fmt.Errorf("%d rows, but the file announces %d", r.number, r.file.NumRows())
		case err != nil && n == 0:
			return nil, 0, err
		}
	}
	clear(r.cells)
	for _, v := range r.unread[0] {
		if to := r.leaves[v.Column()]; to.decode != nil && !v.IsNull() {
			r.cells[to.column] = to.decode(v)
		}
	}
	r.unread = r.unread[1:]
	r.number++
	return r.cells, r.number, nil
}

// decoder makes cells of the values of a column; nil for neither numbers nor texts.
func decoder(node *parquet.Column) func(v parquet.Value) cell {
	if !node.Leaf() || node.Repeated() {
		return nil
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
	number := func(value func(parquet.Value) float64) func(parquet.Value) cell {
		return func(v parquet.Value) cell { return cell{number: value(v), isNumber: true} }
	}
	switch kind := node.Type().Kind(); {
	case is.Date != nil || is.Time != nil || is.Timestamp != nil:
	case kind == parquet.Boolean:
		return func(v parquet.Value) cell {
			if v.Boolean() {
				return cell{text: "True"}
			}
			return cell{text: "False"}
		}
	case kind == parquet.Int32 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(uint32(v.Int32())) })
	case kind == parquet.Int32:
		return number(func(v parquet.Value) float64 { return float64(v.Int32()) / scale })
	case kind == parquet.Int64 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(uint64(v.Int64())) })
	case kind == parquet.Int64:
		return number(func(v parquet.Value) float64 { return float64(v.Int64()) / scale })
	case kind == parquet.Float:
		return number(func(v parquet.Value) float64 { return float64(v.Float()) })
	case kind == parquet.Double:
		return number(parquet.Value.Double)
	case kind == parquet.ByteArray && is.Decimal == nil && is.Bson == nil:
		return func(v parquet.Value) cell { return cell{text: strings.TrimSpace(string(v.ByteArray()))} }
	}
	return nil
}

// describe says what a column that cannot be read holds.
func describe(node *parquet.Column) string {
	if !node.Leaf() || node.Repeated() {
		return "lists or structures"
	}
	return "values of type " + node.Type().String()
}
