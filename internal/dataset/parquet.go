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

// openParquet reads a Parquet file: a flat schema of numbers, booleans (the texts False and True, as pandas
// writes them) and texts; nulls are missing. The index of pandas comes first and without a name, as in CSV.
func openParquet(f *source) (*rows, error) {
	file, err := parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("not a Parquet file, or damaged: %v", err)
	}
	nodes := slices.Clone(file.Root().Columns())
	if len(nodes) == 0 {
		return nil, errors.New("the file has no columns")
	}
	if k := slices.IndexFunc(nodes, func(c *parquet.Column) bool { return c.Name() == pandasIndex }); k >= 0 {
		index := nodes[k]
		nodes = slices.Insert(slices.Delete(nodes, k, k+1), 0, index)
	}
	r := &rows{header: header{unit: "row", refused: map[string]string{}}}
	leaves := make([]leaf, len(file.Schema().Columns()))
	for j, node := range nodes {
		name := strings.TrimSuffix(node.Name(), pandasIndex)
		r.names = append(r.names, name)
		switch decode := decoder(node); {
		case decode != nil:
			leaves[node.Index()] = leaf{j, decode}
		case node.Leaf() && !node.Repeated():
			r.refused[name] = "values of type " + node.Type().String()
		default:
			r.refused[name] = "lists or structures"
		}
	}
	r.next = parquetRows(file, leaves, len(nodes))
	return r, nil
}

// leaf is a leaf of the schema: the column that its values belong to and what they are there, nil for neither
// numbers nor texts.
type leaf struct {
	column int
	decode func(v parquet.Value) cell
}

// parquetRows gives the rows of all row groups.
func parquetRows(file *parquet.File, leaves []leaf, columns int) func() ([]cell, int, error) {
	groups := parquet.MultiRowGroup(file.RowGroups()...).Rows()
	buffer, cells, number := make([]parquet.Row, 64), make([]cell, columns), 0
	var unread []parquet.Row // of the buffer
	return func() ([]cell, int, error) {
		for len(unread) == 0 {
			n, err := groups.ReadRows(buffer)
			unread = buffer[:n]
			switch {
			case err == io.EOF && n == 0 && int64(number) != file.NumRows():
				return nil, 0, fmt.Errorf("%d rows, but the file announces %d", number, file.NumRows())
			case err != nil && n == 0:
				return nil, 0, err
			}
		}
		clear(cells)
		for _, v := range unread[0] {
			if to := leaves[v.Column()]; to.decode != nil && !v.IsNull() {
				cells[to.column] = to.decode(v)
			}
		}
		unread = unread[1:]
		number++
		return cells, number, nil
	}
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
