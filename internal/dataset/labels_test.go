package dataset

import (
	"slices"
	"testing"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		task Task
		y    []float64
		says []string // nil: all is well
	}{
		"labels":        {Classification, []float64{1, -1, 1}, nil},
		"numbers":       {Regression, []float64{1, 1, 1.5}, nil},
		"none":          {Classification, nil, []string{"no targets"}},
		"one class":     {Classification, []float64{1, 1}, []string{"all 2 targets are 1", "that differ"}},
		"equal targets": {Regression, []float64{2, 2, 2}, []string{"all 3 targets are 2", "that differ"}},
		"zero, one": {Classification, []float64{1, 0, 1}, []string{"not 0 and 1",
			"--positive 1"}},
		"three": {Classification, []float64{1, -1, 0}, []string{"-1 and +1", `found "-1", "0", "1"`}},
		"many": {Classification, []float64{9, 8, 7, 6, 5, 4, 3, 2},
			[]string{`"2", "3", "4", "5", "6", "7", ...`}},
	} {
		s := small()
		s.Y = c.y
		err := s.Check(c.task)
		if c.says == nil {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) { wantError(t, err, append(c.says, "small: ", `column "t"`)...) })
	}
}

func TestClassify(t *testing.T) {
	with := func(y ...float64) *Set {
		s := small()
		s.Y = y
		return s
	}
	for _, c := range []struct {
		y                   []float64
		positive            string
		want                []float64
		negative, positive2 string // of Labels; "" for none
	}{
		{[]float64{2, 1, 1, 2}, "", []float64{1, -1, -1, 1}, "1", "2"},
		{[]float64{2, 1, 1, 2}, "2", []float64{1, -1, -1, 1}, "1", "2"},
		{[]float64{2, 1, 1, 2}, "1.0", []float64{-1, 1, 1, -1}, "2", "1"},
		{[]float64{0.5, 0.5, -7, 0.5}, "", []float64{1, 1, -1, 1}, "-7", "0.5"},
		{[]float64{1, -1, 1, 1}, "", []float64{1, -1, 1, 1}, "", ""},
		{[]float64{1, -1, 1, 1}, "-1", []float64{-1, 1, -1, -1}, "1", "-1"},
	} {
		s := with(c.y...)
		if err := s.Classify(c.positive); err != nil {
			t.Errorf("%v: %v", c.y, err)
			continue
		}
		if !slices.Equal(s.Y, c.want) || s.Task != Classification || s.Check(Classification) != nil {
			t.Errorf("%v became %v", c.y, s.Y)
		}
		if s.Labels == nil && c.negative != "" || s.Labels != nil && (s.Labels.Negative != c.negative ||
			s.Labels.Positive != c.positive2 || len(s.Notes) == 0) {
			t.Errorf("%v: labels %+v", c.y, s.Labels)
		}
		if s.Labels == nil {
			continue
		}
		again, err := s.Labels.apply(c.y, labelName) // new targets go the same way
		if err != nil || !slices.Equal(again, c.want) {
			t.Errorf("%v became %v, %v", c.y, again, err)
		}
		_, err = s.Labels.apply([]float64{c.y[0], 3}, labelName)
		wantError(t, err, "row 2", "3 is neither")
	}
	wantError(t, with(1, 1).Classify(""), `holds 1 values ("1")`)
	wantError(t, with(1, 2, 3, 4.5).Classify(""), "two classes", `4 values ("1", "2", "3", "4.5")`)
	wantError(t, with(1, 2, 1).Classify("3"), `"3" is none of the 2 values of the target ("1", "2")`)
}
