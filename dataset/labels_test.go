package dataset

import (
	"errors"
	"slices"
	"testing"
)

func TestCheckLabels(t *testing.T) {
	if err := CheckLabels([]float64{1, -1, 1}); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		y      []float64
		labels bool // ErrLabels
		says   []string
	}{
		"none":       {nil, false, []string{"no labels"}},
		"one class":  {[]float64{1, 1}, false, []string{"all 2 labels are 1", "both classes"}},
		"other one":  {[]float64{-1}, false, []string{"all 1 labels are -1"}},
		"one value":  {[]float64{3, 3}, true, []string{"only the value 3"}},
		"zero, one":  {[]float64{1, 0, 1}, true, []string{"not 0 and 1", "0 to -1 and 1 to +1"}},
		"one, two":   {[]float64{2, 1, 1}, true, []string{"not 1 and 2", "1 to -1 and 2 to +1"}},
		"three":      {[]float64{1, -1, 0}, true, []string{"-1 and +1", "found the values -1, 0, 1"}},
		"many":       {[]float64{9, 8, 7, 6, 5, 4, 3, 2}, true, []string{"4, 5, 6, 7, 8, 9, ..."}},
		"exactly 6":  {[]float64{1, 2, 3, 4, 5, 6, 6}, true, []string{"values 1, 2, 3, 4, 5, 6"}},
		"regression": {[]float64{0.5, 2.25, 7}, true, []string{"0.5, 2.25, 7"}},
	} {
		err := CheckLabels(c.y)
		t.Run(name, func(t *testing.T) { wantError(t, err, c.says...) })
		if errors.Is(err, ErrLabels) != c.labels {
			t.Errorf("%s: %v, ErrLabels: %v", name, err, !c.labels)
		}
	}
}

func TestCheckTarget(t *testing.T) {
	if err := CheckTarget([]float64{1, 1, 1.5}); err != nil {
		t.Error(err)
	}
	wantError(t, CheckTarget([]float64{2, 2, 2}), "all 3 targets are 2")
	wantError(t, CheckTarget(nil), "no targets")
}

func TestSetCheckNamesThePlace(t *testing.T) {
	s := small()
	if err := s.Check(Regression); err != nil {
		t.Error(err)
	}
	err := s.Check(Classification)
	wantError(t, err, "small: ", `column "t"`, "0.5, 1.5, 2.5, 3.5")
	if !errors.Is(err, ErrLabels) {
		t.Errorf("%v is not ErrLabels", err)
	}
	s.Y = []float64{4, 4, 4, 4}
	wantError(t, s.Check(Regression), "small: ", `column "t"`, "all 4 targets are 4")
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
		if !slices.Equal(s.Y, c.want) || s.Task != Classification || CheckLabels(s.Y) != nil {
			t.Errorf("%v became %v", c.y, s.Y)
		}
		if s.Labels == nil && c.negative != "" || s.Labels != nil && (s.Labels.Negative != c.negative ||
			s.Labels.Positive != c.positive2 || len(s.Notes) == 0) {
			t.Errorf("%v: labels %+v", c.y, s.Labels)
		}
		if s.Labels == nil {
			continue
		}
		again, err := s.Labels.apply(c.y, nil) // new targets go the same way
		if err != nil || !slices.Equal(again, c.want) {
			t.Errorf("%v became %v, %v", c.y, again, err)
		}
		_, err = s.Labels.apply([]float64{c.y[0], 3}, nil)
		wantError(t, err, "row 2", "3 is neither")
		if err := s.Classify(""); err != nil || !slices.Equal(s.Y, c.want) {
			t.Errorf("classified twice, %v became %v, %v", c.y, s.Y, err)
		}
		if err := s.Classify(c.negative); err != nil || s.Y[0] != -c.want[0] || s.Labels.Positive != c.negative {
			t.Errorf("turned, %v became %v, %v", c.y, s.Y, err)
		}
	}
	wantError(t, with(1, 1).Classify(""), "only the value 1")
	wantError(t, with(1, 2, 3, 4).Classify(""), "two classes", "1, 2, 3, 4")
	wantError(t, with().Classify(""), "none")
	wantError(t, with(1, 2, 1).Classify("3"), `"3" is neither "1" nor "2"`)
}
