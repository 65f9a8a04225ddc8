package report

import (
	"encoding/json"
	"math"
)

// Number is a number that is null in JSON if it is not finite.
type Number float64

// MarshalJSON is the number with all its digits, or null.
func (f Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as NaN.
func (f *Number) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*f = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(text, (*float64)(f))
}

// Numbers is a list of such numbers; nil is an empty list.
type Numbers []float64

// MarshalJSON is a list of numbers and nulls.
func (f Numbers) MarshalJSON() ([]byte, error) {
	list := make([]Number, len(f))
	for i, v := range f {
		list[i] = Number(v)
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads nulls as NaN.
func (f *Numbers) UnmarshalJSON(text []byte) error {
	var list []Number
	err := json.Unmarshal(text, &list)
	*f = make(Numbers, len(list))
	for i, v := range list {
		(*f)[i] = float64(v)
	}
	return err
}

// NumberOf is a pointer to a number, for optional fields of documents.
func NumberOf(v float64) *Number { f := Number(v); return &f }
