// Package null has the numbers of documents: encoding/json refuses NaN and the infinities, and
// these are null there.
package null

import (
	"encoding/json"
	"math"
)

// Float is a number that JSON shows as null where it is not finite.
type Float float64

// MarshalJSON is the number with all its digits, or null.
func (f Float) MarshalJSON() ([]byte, error) { return json.Marshal(pointer(float64(f))) }

// UnmarshalJSON reads null as NaN.
func (f *Float) UnmarshalJSON(text []byte) error {
	var v *float64
	err := json.Unmarshal(text, &v)
	*f = Float(number(v))
	return err
}

// Floats is a list of such numbers; nil is an empty list.
type Floats []float64

// MarshalJSON is a list of numbers and nulls.
func (f Floats) MarshalJSON() ([]byte, error) {
	list := make([]*float64, len(f))
	for i, v := range f {
		list[i] = pointer(v)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads nulls as NaN.
func (f *Floats) UnmarshalJSON(text []byte) error {
	var list []*float64
	err := json.Unmarshal(text, &list)
	*f = make(Floats, len(list))
	for i, v := range list {
		(*f)[i] = number(v)
	}
	return err
}

// number is NaN where there is none.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// pointer is nil where v is not finite.
func pointer(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Of is a pointer to a number, for fields that documents leave out where there is none.
func Of(v float64) *Float { f := Float(v); return &f }
