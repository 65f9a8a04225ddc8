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

func TestMapLabels(t *testing.T) {
	y, m, err := MapLabels([]float64{2, 1, 1, 2})
	if err != nil || !slices.Equal(y, []float64{1, -1, -1, 1}) || m != (LabelMap{Negative: 1, Positive: 2}) {
		t.Fatalf("%v, %v, %v", y, m, err)
	}
	if err := CheckLabels(y); err != nil {
		t.Error(err)
	}
	more, err := m.Apply([]float64{1, 2})
	if err != nil || !slices.Equal(more, []float64{-1, 1}) {
		t.Errorf("%v, %v", more, err)
	}
	_, err = m.Apply([]float64{1, 3})
	wantError(t, err, "row 2", "3 is neither 1 nor 2")
	_, _, err = MapLabels([]float64{1, 1})
	wantError(t, err, "only the value 1")
	_, _, err = MapLabels([]float64{1, 2, 3, 4})
	wantError(t, err, "1, 2, 3, ...")
	_, _, err = MapLabels(nil)
	wantError(t, err, "none")
}
