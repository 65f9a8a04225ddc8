package dataset

import (
	"slices"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// withTargets is a small set with these targets.
func withTargets(y ...float64) *Set {
	s := small()
	s.Columns[0].Y = y
	return s
}

// TestCheck: whether labels are needed, targets, and words of the error if they do not suit.
func TestCheck(t *testing.T) {
	const table = `
labels | 1 -1 1
numbers | 1 1 1.5
labels |  | no targets
labels | 1 1 | all 2 targets are 1; that differ
numbers | 2 2 2 | all 3 targets are 2; that differ
labels | 1 0 1 | not 0 and 1; ReadOptions.Positive 1
labels | 1 -1 0 | -1 and +1; found "-1", "0", "1"
labels | 9 8 7 6 5 4 3 2 | "2", "3", "4", "5", "6", "7", ...`
	for c := range cases(t, table, 7) {
		s := withTargets(numbersOf(t, c[1])...)
		s.Columns[0] = s.Columns[0].guessed()
		err := s.Check(c[0] == "labels")
		if c[2] != "" {
			wantError(t, err, append(strings.Split(c[2], "; "), "small: ", `column "t"`)...)
		} else if err != nil {
			t.Errorf("%q: %v", c, err)
		}
	}
}

// TestClassify: targets, the positive one, what they become, and the levels, without a note of -1 and +1.
func TestClassify(t *testing.T) {
	const table = `
2 1 1 2 |  | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 2 | 1 -1 -1 1 | 1 | 2
2 1 1 2 | 1.0 | -1 1 1 -1 | 2 | 1
0.5 0.5 -7 0.5 |  | 1 1 -1 1 | -7 | 0.5
1 -1 1 1 |  | 1 -1 1 1 | -1 | 1
1 -1 1 1 | -1 | -1 1 -1 -1 | 1 | -1`
	for c := range cases(t, table, 6) {
		y, want := numbersOf(t, c[0]), numbersOf(t, c[2])
		s := withTargets(y...)
		if err := s.Classify(c[1]); err != nil || !slices.Equal(s.Targets(0), want) || s.Check(true) != nil {
			t.Errorf("%q became %v: %v", c, s.Columns, err)
		}
		if !slices.Equal(s.Levels(), c[3:5]) || (c[3] == "-1") != (len(s.Notes) == 0) {
			t.Errorf("%q: levels %q, notes %q", c, s.Levels(), s.Notes)
		}
		again, err := s.Columns[0].encode(y, labelName) // new targets go the same way
		if err != nil || !slices.Equal(again, s.Columns[0].Y) {
			t.Errorf("%q became %v, %v", c, again, err)
		}
		_, err = s.Columns[0].encode([]float64{y[0], 3}, labelName)
		wantError(t, err, "row 2", "3 is neither")
	}
	wantError(t, withTargets(1, 1).Classify(""), `holds 1 values ("1")`)
	wantError(t, withTargets(1, 2, 3, 4.5).Classify(""), "two classes", `4 values ("1", "2", "3", "4.5")`)
	wantError(t, withTargets(1, 2, 1).Classify("3"), `"3" is none of the 2 values of the target ("1", "2")`)
}

// TestCaseOfClasses: classes that differ only in case stay two, and a doubt names them.
func TestCaseOfClasses(t *testing.T) {
	for text, said := range map[string]bool{"x,y\n1,Yes\n2,no\n3,yes\n4,no\n5,Yes\n6,yes\n": true,
		"x,y\n1,yes\n2,no\n3,yes\n4,no\n": false} {
		s := testutil.Must(Load("-", Options{Stdin: strings.NewReader(text)}))(t)
		if notes := told(s); strings.Contains(notes, `"Yes" and "yes"`) != said {
			t.Errorf("%q: %s", text, notes)
		}
	}
}
