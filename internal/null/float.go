// Package null has numbers for JSON, which encode NaN and the infinities as null.
package null

import (
	"encoding/json"
	"math"
)

// Float is a number that is null in JSON if it is not finite.
type Float float64

// MarshalJSON is the number with all its digits, or null.
func (f Float) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as NaN.
func (f *Float) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = Float(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// Floats is a list of such numbers; nil is an empty list.
type Floats []float64

// MarshalJSON is a list of numbers and nulls.
func (f Floats) MarshalJSON() ([]byte, error) {
	list := make([]Float, len(f))
	for i, v := range f {
		list[i] = Float(v)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads nulls as NaN.
func (f *Floats) UnmarshalJSON(text []byte) error {
	var list []Float
	err := json.Unmarshal(text, &list)
	*f = make(Floats, len(list))
	for i, v := range list {
		(*f)[i] = float64(v)
	}
	return err
}

// Of is a pointer to a number, for optional fields of documents.
func Of(v float64) *Float { f := Float(v); return &f }
