package report

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
)

// WriteJSON writes v as one indented JSON document and a line end. It differs
// from encoding/json in three points: a number that JSON cannot hold (NaN, Inf)
// becomes null, a nil slice becomes [], and a list of numbers stays on one line.
// v is built of structs with json tags (name, omitempty and omitzero are honoured), slices,
// pointers and what encoding/json makes of strings, booleans and numbers.
func WriteJSON(w io.Writer, v any) error {
	var e encoder
	e.value(reflect.ValueOf(v), "\n")
	return e.end(w)
}

// Schema is the version of the documents' keys, which doc/json.md lists. A key that goes
// or changes its meaning raises it; new keys do not.
const Schema = 1

// WriteDocument is WriteJSON of an answer: a struct gets the key "schema" before its own.
func WriteDocument(w io.Writer, v any) error {
	s := reflect.ValueOf(v)
	for s.Kind() == reflect.Pointer {
		s = s.Elem()
	}
	if s.Kind() != reflect.Struct {
		return WriteJSON(w, v)
	}
	e := encoder{schema: true}
	e.object(s, "\n")
	return e.end(w)
}

// end writes what was collected, and a line end.
func (e *encoder) end(w io.Writer) error {
	if e.err != nil {
		return e.err
	}
	e.WriteByte('\n')
	_, err := w.Write(e.Bytes())
	return err
}

// encoder collects a document; newline is a line end with the indentation of
// the value under way.
type encoder struct {
	bytes.Buffer
	err    error
	schema bool // the next object gets the key
}

func (e *encoder) value(v reflect.Value, newline string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.WriteString("null")
			return
		}
		e.value(v.Elem(), newline)
	case reflect.Struct:
		e.object(v, newline)
	case reflect.Slice, reflect.Array:
		e.list(v, newline)
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			e.WriteString("null")
			return
		}
		e.leaf(v)
	default:
		e.leaf(v)
	}
}

func (e *encoder) leaf(v reflect.Value) {
	if !v.IsValid() {
		e.WriteString("null")
		return
	}
	text, err := json.Marshal(v.Interface())
	if err != nil && e.err == nil {
		e.err = err
	}
	e.Write(text)
}

func (e *encoder) object(v reflect.Value, newline string) {
	fields := fieldsOf(v)
	if e.schema {
		fields, e.schema = slices.Insert(fields, 0, field{name: "schema", value: reflect.ValueOf(Schema)}), false
	}
	if len(fields) == 0 {
		e.WriteString("{}")
		return
	}
	inner := newline + "  "
	for i, f := range fields {
		e.WriteByte("{,"[min(i, 1)])
		e.WriteString(inner)
		e.leaf(reflect.ValueOf(f.name))
		e.WriteString(": ")
		e.value(f.value, inner)
	}
	e.WriteString(newline + "}")
}

func (e *encoder) list(v reflect.Value, newline string) {
	inner, separator := newline+"  ", ","
	if v.Len() == 0 || v.Index(0).CanFloat() || v.Index(0).CanInt() {
		inner, newline, separator = "", "", ", "
	}
	e.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			e.WriteString(separator)
		}
		e.WriteString(inner)
		e.value(v.Index(i), inner)
	}
	e.WriteString(newline + "]")
}

// field is a named part of a document.
type field struct {
	name    string
	value   reflect.Value
	omitted bool
}

// fieldsOf lists a struct's fields as a document holds them: embedded structs
// opened up, omitted ones left out.
func fieldsOf(v reflect.Value) []field {
	return slices.DeleteFunc(allFields(v), func(f field) bool { return f.omitted })
}

// allFields lists them with those that are omitted.
func allFields(v reflect.Value) []field {
	var fields []field
	for i := range v.NumField() {
		t := v.Type().Field(i)
		tag, option, _ := strings.Cut(t.Tag.Get("json"), ",")
		switch {
		case t.Anonymous && tag == "":
			fields = append(fields, allFields(v.Field(i))...)
			continue
		case !t.IsExported() || tag == "-":
			continue
		case tag == "":
			tag = t.Name
		}
		fields = append(fields, field{tag, v.Field(i), (option == "omitempty" || option == "omitzero") &&
			isEmpty(v.Field(i))})
	}
	return fields
}

// isEmpty reports what omitempty leaves out: zeros and empty slices.
func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}
