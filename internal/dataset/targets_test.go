package dataset

import (
	"strings"
	"testing"
)

// TestSeveralTargets: a comma separates targets, in the order in which they are asked for, unless it is part
// of a column's name; rows that lack any of them are left out; texts and constants are refused.
func TestSeveralTargets(t *testing.T) {
	const text = "a;x;b;\"c,d\";s;k\n1;7;2;5;u;1\n2;9;;6;v;1\n4;8;3;9;u;1\n5;1;7;9;w;1\n"
	load := func(target string) (*Set, error) {
		drop := []string{"k"}
		if strings.Contains(target, "k") {
			drop = nil
		}
		return Load("-", Options{Stdin: strings.NewReader(text), Target: target, Missing: MissingDrop, Drop: drop})
	}
	s, err := load("b, a")
	if err != nil {
		t.Fatal(err)
	}
	if s.N() != 3 || s.Target != "b" || len(s.Further) != 1 || s.Further[0].Name != "a" ||
		s.Further[0].Y[1] != 4 ||
		s.Y[2] != 7 || strings.Contains(strings.Join(s.Features, " "), "a") {
		t.Errorf("%d rows, targets %s and %v, features %v", s.N(), s.Target, s.Further, s.Features)
	}
	if last := s.Subset([]int{2, 0}); last.Further[0].Y[0] != 5 || s.Further[0].Y[0] != 1 {
		t.Errorf("a part of the rows has %v, all %v", last.Further, s.Further)
	}
	if s, err = load("c,d"); err != nil || s.Target != "c,d" || s.Further != nil {
		t.Errorf("a name with a comma: %v", err)
	}
	for target, want := range map[string]string{"a,s": "holds texts", "a,k": "targets that differ",
		"a,a": "another role", "a,zz": "no column", "a,": "no column"} {
		if _, err := load(target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--target %s: %v", target, err)
		}
	}
}
