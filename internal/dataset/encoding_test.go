package dataset

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// TestEncoding: an encoding goes through JSON as it is: texts, missing cells, left-out columns, row names and
// labels; arrays, sparse lines from 0 and 1, sparse sets.
func TestEncoding(t *testing.T) {
	for _, c := range []struct {
		name, train string
		opt         Options
	}{
		{"t.csv", ",size,kind,two,none,note,y\na,1,red,u,,x,no\nb,2,blue,v,,y,yes\nc,?,red,v,,z,no\n",
			Options{Missing: MissingIndicator, Drop: []string{"note"}, Target: "y"}},
		{"c.csv", "code,size,y\n1,1,red\n2,2,green\n1,4,blue\n03,5,red\n",
			Options{Categorical: []string{"code"}, Positive: "red"}},
		{"l.csv", "1,2,1\n3,4,2\n5,7,3.0\n", Options{NoHeader: true, Positive: "3"}},
		{"d.svm", "1 1:0.5 3:2\n2 2:1\n1 3:-1\n", Options{}},
		{"z.svm", "1 0:2 1:0.5\n2 1:1\n1 0:-1\n", Options{Positive: "1"}},
		{"s.svm", "1 1:0.5 3000:2\n2 2:1\n1 3:-1\n", Options{}},
	} {
		set := testutil.Must(Load(write(t, c.name, []byte(c.train)), c.opt))(t)
		var e Encoding
		err := json.Unmarshal(testutil.Must(json.Marshal(set.Encoding()))(t), &e)
		if err != nil || !reflect.DeepEqual(&e, set.Encoding()) || e.Check() != nil {
			t.Errorf("%s: %v\n%+v\n%+v", c.name, err, e, set.Encoding())
		}
	}
}

// TestEncodingCheck: encodings that do not fit together are refused.
func TestEncodingCheck(t *testing.T) {
	set := testutil.Must(readTable(strings.NewReader("a,t,y\n1,u,no\n2,v,yes\n3,w,no\n"), "t", Options{}))(t)
	if err := set.Encoding().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(e *Encoding){
		"no target":     func(e *Encoding) { e.Targets = nil },
		"two classes":   func(e *Encoding) { e.Targets = append(e.Targets, Column{Name: "z"}) },
		"no features":   func(e *Encoding) { e.Features = 0 },
		"too many":      func(e *Encoding) { e.Features = 9 },
		"means":         func(e *Encoding) { e.Means = e.Means[1:] },
		"order":         func(e *Encoding) { e.Columns[1].Levels = []string{"v", "u", "w"} },
		"twice":         func(e *Encoding) { e.Columns[1].Name = "a" },
		"the target":    func(e *Encoding) { e.Columns[1].Name = "y" },
		"one label":     func(e *Encoding) { e.Targets[0].Levels = []string{"no", "no"} },
		"text as label": func(e *Encoding) { e.Targets[0].Texts = false },
		"missing":       func(e *Encoding) { e.Missing = "guess" },
		"index":         func(e *Encoding) { e.FirstIndex = 2 },
	} {
		e := set.Encoding()
		e.Columns = append([]encodedColumn(nil), e.Columns...)
		spoil(e)
		t.Run(name, func(t *testing.T) { wantError(t, e.Check()) })
	}
}
