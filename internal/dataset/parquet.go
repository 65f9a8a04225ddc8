package dataset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	logical "github.com/parquet-go/parquet-go/format"
)

// pandasIndex is the column of the index in files of pandas.
const pandasIndex = "__index_level_0__"

// openParquet reads a Parquet file: a flat schema of numbers, booleans (the texts False and True, as in
// pandas) and texts; nulls are missing. The index of pandas comes first and without a name, as in CSV.
func openParquet(f *source, opt Options) (*rows, error) {
	const damaged = "not a Parquet file, or damaged: %v"
	if err := checkFooter(f); err != nil {
		return nil, fmt.Errorf(damaged, err)
	}
	file, err := parquet.OpenFile(f.file, f.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf(damaged, err)
	}
	for _, group := range file.Metadata().RowGroups { // whose pages are read at a time
		bytes := 0.0
		for _, c := range group.Columns {
			bytes += float64(c.MetaData.TotalUncompressedSize)
		}
		if err := opt.fits(bytes, "%d rows of a group", group.NumRows); err != nil {
			return nil, err
		}
	}
	nodes := slices.Clone(file.Root().Columns())
	if len(nodes) == 0 {
		return nil, errors.New("the file has no columns")
	}
	if k := slices.IndexFunc(nodes, func(c *parquet.Column) bool { return c.Name() == pandasIndex }); k >= 0 {
		index := nodes[k]
		nodes = slices.Insert(slices.Delete(nodes, k, k+1), 0, index)
	}
	number := int64(0) // of the last row that was read; the announced number is trusted only so far
	r := &rows{header: header{unit: "row", refused: map[string]string{}},
		left: func() float64 { return float64(min(file.NumRows()-number, 3*number)) }}
	leaves := len(file.Schema().Columns())
	column, convert := make([]int, leaves), make([]func(v parquet.Value) cell, leaves) // nil: refused
	for j, node := range nodes {
		name := strings.TrimSuffix(node.Name(), pandasIndex)
		r.names = append(r.names, name)
		if !node.Leaf() || node.Repeated() {
			r.refused[name] = "lists or structures"
			continue
		}
		column[node.Index()], convert[node.Index()] = j, cellsOf(node.Type())
		if convert[node.Index()] == nil {
			r.refused[name] = "values of type " + node.Type().String()
		}
	}
	r.each = func(add func([]cell, int) error) error {
		cells, buffer := make([]cell, len(nodes)), make([]parquet.Row, 64)
		for groups := parquet.MultiRowGroup(file.RowGroups()...).Rows(); ; {
			n, err := groups.ReadRows(buffer)
			for _, row := range buffer[:n] {
				clear(cells)
				for _, v := range row {
					if to := convert[v.Column()]; to != nil && !v.IsNull() {
						cells[column[v.Column()]] = to(v)
					}
				}
				number++
				if err := add(cells, int(number)); err != nil {
					return err
				}
			}
			switch {
			case err == io.EOF && number != file.NumRows():
				return fmt.Errorf("%d rows, but the file announces %d", number, file.NumRows())
			case err == io.EOF:
				return nil
			case err != nil:
				return err
			}
		}
	}
	return r, nil
}

// checkFooter checks that the footer, which is read in one piece, is not longer than the file: a file ends
// with four bytes of its length and the four of PAR1.
func checkFooter(f *source) error {
	var end [8]byte
	if f.size < int64(len(end)) {
		return io.ErrUnexpectedEOF
	}
	if _, err := f.file.ReadAt(end[:], f.size-int64(len(end))); err != nil {
		return err
	}
	if length := binary.LittleEndian.Uint32(end[:]); int64(length) > f.size-int64(len(end)) {
		return fmt.Errorf("a footer of %d bytes in a file of %d", length, f.size)
	}
	return nil
}

// wholeNumber is a number in two's complement, its highest byte first.
func wholeNumber(b []byte) float64 {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 1<<7 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	f, _ := new(big.Float).SetInt(v).Float64()
	return f
}

// cellsOf is the conversion of values of a type to cells, dates and times as texts; nil if there is none.
func cellsOf(t parquet.Type) func(v parquet.Value) cell {
	kind, unsigned, scale := t.Kind(), false, 1.0
	var is logical.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		is = l.Value
	}
	number := func(of func(v parquet.Value) float64) func(v parquet.Value) cell {
		return func(v parquet.Value) cell { return cell{number: of(v) / scale, isNumber: true} }
	}
	text := func(of func(v parquet.Value) string) func(v parquet.Value) cell {
		return func(v parquet.Value) cell { return cell{text: of(v)} }
	}
	switch is := is.(type) {
	case *logical.DecimalType:
		if scale = math.Pow10(int(is.Scale)); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
			return number(func(v parquet.Value) float64 { return wholeNumber(v.ByteArray()) })
		}
	case *logical.TimeType, *logical.BsonType, *logical.VariantType, *logical.GeometryType,
		*logical.GeographyType:
		return nil
	case *logical.DateType:
		return text(func(v parquet.Value) string {
			return time.Unix(0, 0).UTC().AddDate(0, 0, int(v.Int32())).Format(time.DateOnly)
		})
	case *logical.TimestampType:
		if is.Unit.Value == nil {
			return nil
		}
		second := int64(time.Second / is.Unit.Value.Duration())
		return text(func(v parquet.Value) string {
			return time.Unix(v.Int64()/second, 0).UTC().Format(time.DateTime)
		})
	case *logical.IntType:
		unsigned = !is.IsSigned
	}
	switch {
	case kind == parquet.FixedLenByteArray || kind == parquet.Int96:
		return nil
	case kind == parquet.ByteArray:
		return text(func(v parquet.Value) string { return strings.TrimSpace(string(v.ByteArray())) })
	case kind == parquet.Boolean:
		return text(func(v parquet.Value) string {
			if v.Boolean() {
				return "True"
			}
			return "False"
		})
	case kind == parquet.Int32 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(v.Uint32()) })
	case kind == parquet.Int32:
		return number(func(v parquet.Value) float64 { return float64(v.Int32()) })
	case kind == parquet.Int64 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(v.Uint64()) })
	case kind == parquet.Int64:
		return number(func(v parquet.Value) float64 { return float64(v.Int64()) })
	case kind == parquet.Float:
		return number(func(v parquet.Value) float64 { return float64(v.Float()) })
	}
	return number(parquet.Value.Double)
}
