package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bootbench/internal/need"
)

// TestEncoding: an encoding that went through JSON makes the inputs that the training set
// makes: texts, missing cells, columns in any order, left-out ones, row names and labels;
// arrays, sparse lines from 0 and 1, sparse sets. It refuses what that refuses.
func TestEncoding(t *testing.T) {
	const table = ",size,kind,two,none,note,y\na,1,red,u,,x,no\nb,2,blue,v,,y,yes\nc,?,red,v,,z,no\n" +
		"d,5,green,u,,x,yes\n"
	sparse := "1 1:0.5 3:2\n2 2:1\n1 3:-1\n"
	for _, c := range []struct {
		name, train string
		opt         Options
		inputs      map[string]string // by name of the file; "!" before a text that is refused
	}{
		{"t.csv", table, Options{Missing: MissingIndicator, Drop: []string{"note"}, Target: "y"}, map[string]string{
			"same.csv":  table,
			"other.csv": ",y,two,new,kind,size\nq,yes,v,7,green,\nr,no,u,8,red,4\n",
			"bare.csv":  "kind,two,size\nblue,v,3\n",
			"unseen":    "!kind,two,size\npink,v,3\n", "lacks": "!kind,size\nred,3\n",
			"label": "!kind,two,size,y\nblue,v,3,maybe\n",
		}},
		{"c.csv", "code,size,y\n1,1,red\n2,2,green\n1,4,blue\n03,5,red\n", Options{Categorical: []string{"code"},
			Positive: "red"}, map[string]string{
			"same.csv": "size,y,code\n3,red,1\n2,pink,03\n7,blue,2\n", "unseen.csv": "!code,size\n3,1\n",
		}},
		{"l.csv", "1,2,1\n3,4,2\n5,7,3.0\n", Options{NoHeader: true, Positive: "3"},
			map[string]string{"l2.csv": "1,2,3\n3,4,7\n"}},
		{"n.csv", "1,2,1\n3,4,-1\n5,7,1\n", Options{NoHeader: true}, map[string]string{"n2.csv": "1,2\n3,4\n",
			"n3.csv": "1,2,1\n3,4,-1\n", "wide.csv": "!1,2,3,4\n1,2,3,4\n"}},
		{"d.svm", sparse, Options{}, map[string]string{"a.svm": "1 2:1\n2 1:4\n", "b.svm": "2:1\n",
			"wide.svm": "!1 4:1\n"}},
		{"z.svm", strings.ReplaceAll(sparse, "3:", "0:"), Options{ZeroBased: true,
			Positive: "1"},
			map[string]string{"label.svm": "!1 2:1\n3 0:4\n"}},
		{"s.svm", "1 1:0.5 3000:2\n2 2:1\n1 3:-1\n", Options{}, map[string]string{"a.svm": "1 2:1\n2 9:4\n",
			"bare.svm": "9:1\n", "dense.csv": "!a,b\n1,2\n"}},
	} {
		dir := t.TempDir()
		put := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			return path
		}
		if c.opt.ZeroBased {
			c.train = "1 0:2 1:0.5\n2 1:1\n1 0:-1\n"
		}
		set, err := Load(put(c.name, c.train), c.opt)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if strings.HasSuffix(c.name, ".svm") && c.opt.Positive == "" {
			if err := set.Classify(""); err != nil {
				t.Fatal(err)
			}
		}
		text := need.One(json.Marshal(set.Encoding()))(t)
		var e Encoding
		if err := json.Unmarshal(text, &e); err != nil {
			t.Fatal(err)
		}
		for name, content := range c.inputs {
			wanted, refused := strings.CutPrefix(content, "!")
			path := put(name, wanted)
			in, err := e.LoadInputs(path, Options{})
			if refused {
				wantError(t, err)
				continue
			}
			same, sameErr := LoadInputs(path, set, Options{Missing: c.opt.Missing, ZeroBased: c.opt.ZeroBased})
			if err != nil || sameErr != nil || !reflect.DeepEqual(in, same) {
				t.Errorf("%s, %s: %+v, %v\nby the set %+v, %v", c.name, name, in, err, same, sameErr)
			}
		}
	}
}

// TestEncodingCheck: encodings that do not fit together are refused.
func TestEncodingCheck(t *testing.T) {
	set := need.One(ReadTable(strings.NewReader("a,t,y\n1,u,no\n2,v,yes\n3,w,no\n"), "t", Options{}))(t)
	if err := set.Encoding().Check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(e *Encoding){
		"no features":   func(e *Encoding) { e.Features = 0 },
		"too many":      func(e *Encoding) { e.Features = 9 },
		"means":         func(e *Encoding) { e.Means = e.Means[1:] },
		"order":         func(e *Encoding) { e.Columns[1].Levels = []string{"v", "u", "w"} },
		"twice":         func(e *Encoding) { e.Columns[1].Name = "a" },
		"the target":    func(e *Encoding) { e.Columns[1].Name = "y" },
		"one label":     func(e *Encoding) { e.Labels.Positive = "no" },
		"text as label": func(e *Encoding) { e.Labels.Texts = false },
		"index":         func(e *Encoding) { e.FirstIndex = 2 },
	} {
		e := set.Encoding()
		e.Columns = append([]EncodedColumn(nil), e.Columns...)
		spoil(e)
		if err := e.Check(); err == nil {
			t.Errorf("%s passes", name)
		} else {
			wantError(t, err)
		}
	}
	var task Task
	if err := task.UnmarshalText([]byte("cooking")); err == nil {
		t.Error("an unknown task is read")
	}
}
