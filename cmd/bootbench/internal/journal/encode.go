package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

// Encode writes the value that a pointer leads to, made of structs with exported fields,
// slices, pointers, strings, booleans and numbers; Decode gives it back, to the last bit. (encoding/gob
// forgets pointers to zeros and empty slices, encoding/json refuses NaN.)
func Encode(from any) []byte {
	c := codec{}
	c.value(reflect.ValueOf(from).Elem())
	return c.data
}

// Decode fills the value that a pointer leads to.
func Decode(data []byte, into any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it is cut short")
		}
	}()
	c := codec{data: data, reading: true}
	if c.value(reflect.ValueOf(into).Elem()); len(c.data) > 0 {
		err = errors.New("it is too long")
	}
	return err
}

// codec walks through a value, and reads or writes it on the way.
type codec struct {
	data    []byte
	reading bool
}

// number reads or writes eight bytes.
func (c *codec) number(v uint64) uint64 {
	if !c.reading {
		c.data = binary.LittleEndian.AppendUint64(c.data, v)
		return v
	}
	v = binary.LittleEndian.Uint64(c.data)
	c.data = c.data[8:]
	return v
}

// length is a number of elements of so many bytes or more.
func (c *codec) length(n, bytes int) int {
	read := c.number(uint64(n))
	if c.reading && read > uint64(len(c.data)/bytes) {
		panic("too long")
	}
	return int(read)
}

func (c *codec) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.value(v.Field(i))
		}
	case reflect.Slice:
		c.slice(v)
	case reflect.Pointer:
		if c.number(presence(v)) == 0 {
			return
		}
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	default:
		c.leaf(v)
	}
}

// presence is 0 for nil.
func presence(v reflect.Value) uint64 {
	if v.IsNil() {
		return 0
	}
	return 1
}

func (c *codec) slice(v reflect.Value) {
	if c.number(presence(v)) == 0 {
		return
	}
	n := c.length(v.Len(), 8)
	if c.reading {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	for i := range n {
		c.value(v.Index(i))
	}
}

func (c *codec) leaf(v reflect.Value) {
	switch {
	case v.Kind() == reflect.Bool:
		set := c.number(map[bool]uint64{true: 1}[v.Bool()]) == 1
		if c.reading {
			v.SetBool(set)
		}
	case v.CanFloat():
		bits := c.number(math.Float64bits(v.Float()))
		if c.reading {
			v.SetFloat(math.Float64frombits(bits))
		}
	case v.CanInt():
		n := int64(c.number(uint64(v.Int())))
		if c.reading {
			v.SetInt(n)
		}
	case v.Kind() == reflect.String:
		c.text(v)
	default:
		panic(fmt.Sprintf("a journal holds no %v", v.Type()))
	}
}

func (c *codec) text(v reflect.Value) {
	n := c.length(v.Len(), 1)
	if c.reading {
		v.SetString(string(c.data[:n]))
		c.data = c.data[n:]
		return
	}
	c.data = append(c.data, v.String()...)
}
