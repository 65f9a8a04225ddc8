package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestReadLIBSVM(t *testing.T) {
	text := "# made by hand\n" +
		"+1 1:0.5 3:-2 # first\r\n" +
		"\n" +
		"-1 qid:7 2:1e-3\n" +
		"1\n" +
		"-1 \t 4:4   "
	s, err := ReadLIBSVM(strings.NewReader(text), "f.svm", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{
		0.5, 0, -2, 0,
		0, 1e-3, 0, 0,
		0, 0, 0, 0,
		0, 0, 0, 4,
	}
	if s.N() != 4 || s.D() != 4 || !slices.Equal(s.X.Data, want) || !slices.Equal(s.Y, []float64{1, -1, 1, -1}) {
		t.Errorf("read %v, %v", s.X, s.Y)
	}
	if !slices.Equal(s.Features, []string{"x1", "x2", "x3", "x4"}) || s.Target != "y" || s.Task != Classification {
		t.Errorf("read %+v", s)
	}
}

func TestReadLIBSVMRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"empty":           {"", []string{"no examples"}},
		"comments only":   {"# a\n\n#b", []string{"no examples"}},
		"one row":         {"1 1:2\n", []string{"only one example"}},
		"no features":     {"1\n-1\n", []string{"no example has a feature"}},
		"no labels":       {"# c\n1:2\n1:3\n", []string{"line 2", "label is missing"}},
		"some labels":     {"1 1:2\n1:3\n", []string{"line 2", "label"}},
		"label text":      {"1 1:2\nyes 1:3\n", []string{"line 2", `"label"`, `"yes"`}},
		"two labels":      {"1,2 1:2\n", []string{"line 1", `"1,2"`}},
		"label NaN":       {"nan 1:2\n", []string{"line 1", "NaN", "finite"}},
		"zero index":      {"1 0:2\n", []string{"line 1", "indices start at 1"}},
		"negative index":  {"1 -3:2\n", []string{"line 1", "index -3"}},
		"descending":      {"1 1:2\n1 3:1 2:1\n", []string{"line 2", "index 2 follows 3", "ascend"}},
		"repeated":        {"1 3:1 3:1\n", []string{"line 1", "index 3 follows 3"}},
		"no colon":        {"1 1:2 7\n", []string{"line 1", `"7"`, "index:value"}},
		"index text":      {"1 a:2\n", []string{"line 1", `"a:2"`, "whole number"}},
		"index fraction":  {"1 1.5:2\n", []string{"line 1", "whole number"}},
		"value text":      {"1 1:2\n1 2:b\n", []string{"line 2", `column "x2"`, `"b"`}},
		"value missing":   {"1 1:\n", []string{"line 1", `column "x1"`, "empty"}},
		"value Inf":       {"1 1:inf\n", []string{"line 1", `column "x1"`, "finite"}},
		"value twice":     {"1 1:2:3\n", []string{"line 1", `"2:3"`}},
		"huge index":      {"1 1:2\n-1 4000000000:1\n", []string{"line 2", "feature 4000000000", "GiB"}},
		"absurd index":    {"1 99999999999999999999:1\n", []string{"line 1", "out of range"}},
		"dense too large": {"1 2000000:1\n" + strings.Repeat("1 1:1\n", 999), []string{"1000 rows", "2000000 columns", "14.9 GiB", "limit is 2 GiB"}},
	} {
		_, err := ReadLIBSVM(strings.NewReader(c.text), "f.svm", Options{})
		t.Run(name, func(t *testing.T) { wantError(t, err, append(c.says, "f.svm: ")...) })
		if strings.Contains(name, "large") && !errors.Is(err, ErrMemory) {
			t.Errorf("%v is not ErrMemory", err)
		}
	}
}
