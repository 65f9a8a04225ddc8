package dataset

import (
	"slices"
	"strings"
	"testing"
)

// withTargets is a small set with these targets.
func withTargets(y ...float64) *Set {
	s := small()
	s.Y = y
	return s
}

// TestCheck: a task, targets, and words of the error if they do not suit it.
func TestCheck(t *testing.T) {
	const table = `
classification | 1 -1 1
regression | 1 1 1.5
classification |  | no targets
classification | 1 1 | all 2 targets are 1; that differ
regression | 2 2 2 | all 3 targets are 2; that differ
classification | 1 0 1 | not 0 and 1; --positive 1
classification | 1 -1 0 | -1 and +1; found "-1", "0", "1"
classification | 9 8 7 6 5 4 3 2 | "2", "3", "4", "5", "6", "7", ...`
	for c := range cases(t, table, 7) {
		err := withTargets(numbersOf(t, c[1])...).Check(Task(c[0]))
		if c[2] != "" {
			wantError(t, err, append(strings.Split(c[2], "; "), "small: ", `column "t"`)...)
		} else if err != nil {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// TestClassify: targets, the positive one, what they become, and the negative and the positive label if they
// get names.
func TestClassify(t *testing.T) {
	const table = `
2 1 1 2 |  | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 2 | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 1.0 | -1 1 1 -1 | 2 | 1
0.5 0.5 -7 0.5 |  | 1 1 -1 1 | -7 | 0.5
1 -1 1 1 |  | 1 -1 1 1
1 -1 1 1 | -1 | -1 1 -1 -1 | 1 | -1`
	for c := range cases(t, table, 7) {
		y, want := numbersOf(t, c[0]), numbersOf(t, c[2])
		s := withTargets(y...)
		err := s.Classify(c[1])
		if err != nil || !slices.Equal(s.Y, want) || s.Task != Classification || s.Check(Classification) != nil {
			t.Errorf("%q became %v: %v", c, s.Y, err)
		}
		l := s.Labels
		if l == nil {
			l = &Labels{}
		}
		if l.Negative != c[3] || l.Positive != c[4] || (s.Labels == nil) != (len(s.Notes) == 0) {
			t.Errorf("%q: labels %+v", c, s.Labels)
		}
		if s.Labels == nil {
			continue
		}
		again, err := l.apply(y, labelName) // new targets go the same way
		if err != nil || !slices.Equal(again, want) {
			t.Errorf("%q became %v, %v", c, again, err)
		}
		_, err = l.apply([]float64{y[0], 3}, labelName)
		wantError(t, err, "row 2", "3 is neither")
	}
	wantError(t, withTargets(1, 1).Classify(""), `holds 1 values ("1")`)
	wantError(t, withTargets(1, 2, 3, 4.5).Classify(""), "two classes", `4 values ("1", "2", "3", "4.5")`)
	wantError(t, withTargets(1, 2, 1).Classify("3"), `"3" is none of the 2 values of the target ("1", "2")`)
}
