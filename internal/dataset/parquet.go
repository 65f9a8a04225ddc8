package dataset

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

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
		switch {
		case !node.Leaf() || node.Repeated():
			r.refused[name] = "lists or structures"
		case isForeign(node.Type()):
			r.refused[name] = "values of type " + node.Type().String()
		default:
			leaves[node.Index()] = newLeaf(j, node.Type())
		}
	}
	r.next = parquetRows(file, leaves, len(nodes))
	return r, nil
}

// leaf is a leaf of the schema: the column that its values belong to and what they are divided by, 0 if they
// are not read.
type leaf struct {
	column   int
	scale    float64
	unsigned bool
	tick     time.Duration // of dates and times, which become texts; 0: they are none
}

func newLeaf(column int, t parquet.Type) leaf {
	l := leaf{column: column, scale: 1}
	if is := t.LogicalType(); is != nil {
		l.unsigned = is.Integer != nil && !is.Integer.IsSigned
		if is.Decimal != nil {
			l.scale = math.Pow10(int(is.Decimal.Scale))
		}
		switch {
		case is.Date != nil:
			l.tick = 24 * time.Hour
		case is.Timestamp != nil && is.Timestamp.Unit.Millis != nil:
			l.tick = time.Millisecond
		case is.Timestamp != nil && is.Timestamp.Unit.Micros != nil:
			l.tick = time.Microsecond
		case is.Timestamp != nil:
			l.tick = time.Nanosecond
		}
	}
	return l
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
			if to := leaves[v.Column()]; to.scale != 0 && !v.IsNull() {
				cells[to.column] = to.cell(v)
			}
		}
		unread = unread[1:]
		number++
		return cells, number, nil
	}
}

// isForeign reports whether the values of a type are neither numbers nor texts.
func isForeign(t parquet.Type) bool {
	is := t.LogicalType()
	if is == nil {
		is = &logical.LogicalType{}
	}
	return is.Time != nil || is.Bson != nil ||
		t.Kind() == parquet.ByteArray && is.Decimal != nil || t.Kind() == parquet.FixedLenByteArray ||
		t.Kind() == parquet.Int96
}

// cell is a value as a cell.
func (l leaf) cell(v parquet.Value) cell {
	number := 0.0
	switch kind := v.Kind(); {
	case l.tick == 24*time.Hour:
		return cell{text: time.Unix(0, 0).UTC().AddDate(0, 0, int(v.Int32())).Format(time.DateOnly)}
	case l.tick > 0:
		second := int64(time.Second / l.tick)
		return cell{text: time.Unix(v.Int64()/second, 0).UTC().Format(time.DateTime)}
	case kind == parquet.ByteArray:
		return cell{text: strings.TrimSpace(string(v.ByteArray()))}
	case kind == parquet.Boolean && v.Boolean():
		return cell{text: "True"}
	case kind == parquet.Boolean:
		return cell{text: "False"}
	case kind == parquet.Int32 && l.unsigned:
		number = float64(v.Uint32())
	case kind == parquet.Int32:
		number = float64(v.Int32())
	case kind == parquet.Int64 && l.unsigned:
		number = float64(v.Uint64())
	case kind == parquet.Int64:
		number = float64(v.Int64())
	case kind == parquet.Float:
		number = float64(v.Float())
	case kind == parquet.Double:
		number = v.Double()
	}
	return cell{number: number / l.scale, isNumber: true}
}
