package report

import (
	"encoding/json"
	"math"
	"testing"
)

// TestJSON: numbers come back with all their digits, and what is not finite as null.
func TestJSON(t *testing.T) {
	nan, third := math.NaN(), 1.0/3
	v := struct {
		A, B Number
		C    *Number `json:",omitempty"`
		D    *Number
		E, F Numbers
		G    Numbers `json:",omitempty"`
	}{Number(third), Number(nan), nil, NumberOf(math.Inf(1)), Numbers{1, nan, third}, nil, nil}
	text, err := json.Marshal(v)
	want := `{"A":0.3333333333333333,"B":null,"D":null,"E":[1,null,0.3333333333333333],"F":[]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
}
